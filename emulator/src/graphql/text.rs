//! Formats of texts and timestamps in the API.

use chrono::{DateTime, SecondsFormat, Utc};

/// Converts a timestamp to UTC in whole seconds. A text that is no timestamp stays unchanged.
pub(super) fn utc(moment: &str) -> String {
    match DateTime::parse_from_rfc3339(moment) {
        Ok(moment) => moment.with_timezone(&Utc).to_rfc3339_opts(SecondsFormat::Secs, true),
        Err(_) => moment.to_owned(),
    }
}

pub(super) fn moment(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Returns markup without its tags, and with single spaces.
pub(super) fn plain(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        text.push(' ');
        rest = rest[open..].find('>').map_or("", |close| &rest[open + close + 1..]);
    }
    text.push_str(rest);
    for (code, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
    ] {
        text = text.replace(code, character);
    }
    let text = text.replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Truncates a text to a number of characters. A truncated text ends in three dots.
pub(super) fn truncated(text: &str, at: Option<i64>) -> String {
    let Some(most) = at.and_then(|at| usize::try_from(at).ok()) else {
        return text.to_owned();
    };
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{kept}...")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_are_told_in_utc() {
        assert_eq!(utc("2025-12-20T15:40:44+05:30"), "2025-12-20T10:10:44Z");
        assert_eq!(utc("2026-01-01T00:00:00Z"), "2026-01-01T00:00:00Z");
        assert_eq!(utc("soon"), "soon");
    }

    #[test]
    fn a_description_is_the_text_of_its_markup() {
        assert_eq!(
            plain("<p>Tea &amp; <b>more</b></p>\n<ul><li>a &lt; b"),
            "Tea & more a < b"
        );
        assert_eq!(truncated("Storefront collection", Some(12)), "Storefron...");
        assert_eq!(truncated("Tea", Some(3)), "Tea");
        assert_eq!(truncated("Tea", None), "Tea");
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in ".*", at in -5i64..50) {
            prop_assert!(!plain(&text).contains('\n'));
            truncated(&text, Some(at));
            utc(&text);
        }
    }
}
