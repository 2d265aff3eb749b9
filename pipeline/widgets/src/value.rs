//! Parses values in answers: numbers as text, ids, texts with markup, timestamps.

use data_model::{Review, Timestamp};
use data_text::{escaped_line, html_to_text, stated_line};
use serde_json::Value;

use crate::answer::RejectedRecord;

const NAME_CHARS_MAX: usize = 255;
const BODY_CHARS_MAX: usize = 4_000;
const ID_CHARS_MAX: usize = 128;
const SUBJECT_CHARS_MAX: usize = 80;

/// The number may be a text.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// The number may be a text.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Parses an id that is safe as part of a URL and of a key.
pub(crate) fn id(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => number.as_u64()?.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    is_token(&text).then_some(text)
}

/// Returns true if a text contains only letters, digits and a few punctuation characters.
pub(crate) fn is_token(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_plain) && !text.starts_with('.')
}

/// Returns a text as one line without markup and control characters, or `None` if nothing is left.
pub(crate) fn line(text: Option<&str>) -> Option<String> {
    stated_line(Some(&html_to_text(text?)), NAME_CHARS_MAX)
}

/// Returns a text of several lines without markup and control characters.
pub(crate) fn lines(text: &str) -> String {
    let text: String = html_to_text(text).chars().take(BODY_CHARS_MAX).collect();
    text.trim().to_owned()
}

/// Parses a timestamp of an app: `2026-06-01T10:00:00Z`, without a zone (UTC), with a space, or a date alone.
pub(crate) fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.len() > 40 || !text.is_ascii() {
        return None;
    }
    let spaced = text.replacen(' ', "T", 1).replace(" UTC", "Z");
    let forms = [
        text.to_owned(),
        spaced.clone(),
        format!("{spaced}Z"),
        format!("{text}T00:00:00Z"),
    ];
    forms.iter().find_map(|form| form.parse().ok())
}

#[derive(Debug, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) stars: Option<f64>,
    pub(crate) author: Option<&'a str>,
    pub(crate) title: Option<&'a str>,
    pub(crate) body: Option<&'a str>,
    pub(crate) created_at: Option<&'a str>,
}

impl Parts<'_> {
    /// Returns an error with the reason if the review is refused.
    pub(crate) fn review(self) -> Result<Review, String> {
        let stars = self.stars.ok_or("the review has no number of stars")?;
        let rating = stars as f32;
        if !(rating > 0.0 && stars <= 5.0) {
            return Err(format!("the review has {stars:?} stars, not 1 to 5"));
        }
        Ok(Review {
            rating,
            author: line(self.author),
            title: line(self.title),
            body: lines(self.body.unwrap_or_default()),
            created_at: self.created_at.and_then(moment),
        })
    }
}

pub(crate) fn refused(subject: &str, reason: impl AsRef<str>) -> RejectedRecord {
    RejectedRecord {
        subject: escaped_line(subject, SUBJECT_CHARS_MAX),
        reason: escaped_line(reason.as_ref(), SUBJECT_CHARS_MAX),
        excerpt: String::new(),
    }
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}
