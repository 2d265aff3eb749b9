//! Converts texts of stores to single lines, and addresses to URLs.

use url::Url;

const URL_CHARS_MAX: usize = 2000;

/// Converts a text to one line with single spaces between words and without control characters. Returns `None` if
/// nothing is left.
pub(crate) fn line(text: &str) -> Option<String> {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|char: char| char.is_whitespace() || char.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    (!line.is_empty()).then_some(line)
}

/// Truncates a line after a whole word and with an ellipsis.
pub(crate) fn cut(line: String, chars_max: usize) -> String {
    let Some((at, _)) = line.char_indices().nth(chars_max) else {
        return line;
    };
    // The ellipsis needs space.
    let before = line[..at].char_indices().next_back().map_or(0, |(last, _)| last);
    let head = &line[..before];
    // Texts without spaces, such as Japanese, are truncated within a word.
    let end = head.rfind(' ').filter(|end| *end * 2 > head.len()).unwrap_or(before);
    format!("{}…", head[..end].trim_end())
}

pub(crate) fn short(text: &str, chars_max: usize) -> Option<String> {
    line(text).filter(|line| line.chars().count() <= chars_max)
}

/// Returns `None` if the text is not a web URL or is too long.
pub(crate) fn web(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    let address = String::from(url);
    (is_web && address.chars().count() <= URL_CHARS_MAX).then_some(address)
}

/// Returns the URL of a product's page in its store, or of a variant if one is given.
pub(crate) fn page(base_url: &str, handle: &str, variant: Option<u64>) -> Option<String> {
    let mut url = Url::parse(base_url).ok()?;
    url.path_segments_mut()
        .ok()?
        .pop_if_empty()
        .extend(["products", handle]);
    if let Some(variant) = variant {
        url.query_pairs_mut().append_pair("variant", &variant.to_string());
    }
    web(url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_cut_after_a_word() {
        assert_eq!(cut("Linen shirt in navy".into(), 14), "Linen shirt…");
        assert_eq!(cut("Linen shirt".into(), 11), "Linen shirt");
        assert_eq!(cut("麻のシャツ紺色".into(), 4), "麻のシ…");
    }

    #[test]
    fn pages_are_addresses_whatever_the_handle() {
        let page = |handle| page("https://kith.example", handle, Some(7));
        assert_eq!(
            page("shirt").as_deref(),
            Some("https://kith.example/products/shirt?variant=7")
        );
        assert_eq!(
            page("चाय a/b?c").as_deref(),
            Some("https://kith.example/products/%E0%A4%9A%E0%A4%BE%E0%A4%AF%20a%2Fb%3Fc?variant=7")
        );
        assert_eq!(page(&"x".repeat(3000)), None);
    }

    #[test]
    fn only_addresses_of_the_web_are_given() {
        assert_eq!(
            web(" https://a.example/ä b.jpg ").as_deref(),
            Some("https://a.example/%C3%A4%20b.jpg")
        );
        for other in [
            "javascript:alert(1)",
            "data:image/png,x",
            "/a.jpg",
            "ftp://a.example/b",
            "",
        ] {
            assert_eq!(web(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_text_is_never_longer_and_begins_as_it_did(text in ".{0,200}", most in 1_usize..60) {
            if let Some(line) = line(&text) {
                prop_assert!(!line.chars().any(char::is_control));
                let cut = cut(line.clone(), most);
                prop_assert!(cut.chars().count() <= most);
                prop_assert!(line.starts_with(cut.trim_end_matches('…')));
            }
        }
    }
}
