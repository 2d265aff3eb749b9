//! Tolerant parsing of JSON from stores and their apps.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::de::DeserializeOwned;

/// Parses a JSON document of a store and tolerates invalid characters: see [`mended`].
///
/// # Errors
/// The document is not valid JSON even after repair, has a different structure, or is nested more than 128 levels deep.
pub fn read_store_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_str(&mended(bytes))
}

/// Repairs strings of a JSON document that contain characters JSON does not allow. Lone surrogates and invalid UTF-8
/// become U+FFFD, control characters are escaped, and a byte order mark is removed. Text outside of strings stays
/// unchanged.
#[must_use]
pub fn mended(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    match written_out(&text) {
        Some(mended) => Cow::Owned(mended),
        None => text,
    }
}

/// Returns the text with invalid characters escaped, or `None` if it has none.
fn written_out(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut out, mut taken) = (String::new(), 0);
    let (mut at, mut is_in_text) = (0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => (is_in_text, at) = (!is_in_text, at + 1),
            b'\\' if is_in_text => {
                let escape = escape(bytes.get(at..).unwrap_or_default());
                if escape.is_half {
                    out.push_str(text.get(taken..at)?);
                    out.push(char::REPLACEMENT_CHARACTER);
                    taken = at + escape.length;
                }
                at += escape.length;
            }
            0..0x20 if is_in_text => {
                out.push_str(text.get(taken..at)?);
                let _ = write!(out, "\\u{byte:04x}");
                at += 1;
                taken = at;
            }
            _ => at += 1,
        }
    }
    (taken > 0).then(|| {
        out.push_str(text.get(taken..).unwrap_or_default());
        out
    })
}

struct Escape {
    length: usize,
    /// True for a lone surrogate.
    is_half: bool,
}

fn escape(bytes: &[u8]) -> Escape {
    let (length, is_half) = match unit(bytes) {
        None => (2, false),
        Some(0xd800..0xdc00) => match bytes.get(6..).and_then(unit) {
            Some(0xdc00..0xe000) => (12, false),
            _ => (6, true),
        },
        Some(0xdc00..0xe000) => (6, true),
        Some(_) => (6, false),
    };
    Escape { length, is_half }
}

/// Parses the number of a `\u` escape with four hex digits.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_flaw_costs_its_character_and_nothing_else() {
        for (document, value) in [
            (&br#"{"a":"x\ud83d","b":1}"#[..], json!({ "a": "x\u{fffd}", "b": 1 })),
            (
                br#"["\ude00\ud83d\ude00\ud83d\ud83d"]"#,
                json!(["\u{fffd}\u{1f600}\u{fffd}\u{fffd}"]),
            ),
            (b"[\"caf\xe9\ttea\n\"]", json!(["caf\u{fffd}\ttea\n"])),
            (b"\xef\xbb\xbf [1]", json!([1])),
            (br#"["\\ud83d", "\"\ud83d"]"#, json!(["\\ud83d", "\"\u{fffd}"])),
        ] {
            assert_eq!(read_store_json::<Value>(document).unwrap(), value);
        }
        for document in [&br#"{"a":"x\ud83d"#[..], br#"["\uZZZZ"]"#, br#"["\ud83"#, b"\"\\", b""] {
            assert!(read_store_json::<Value>(document).is_err());
        }
    }

    proptest! {
        #[test]
        fn what_is_json_is_read_as_it_is(text in any::<String>(), number in any::<i64>()) {
            let value = json!({ "text": text, "list": [number, null, true] });
            let document = value.to_string();
            prop_assert!(matches!(mended(document.as_bytes()), Cow::Borrowed(_)));
            prop_assert_eq!(read_store_json::<Value>(document.as_bytes()).unwrap(), value);
        }

        #[test]
        fn any_units_and_bytes_in_a_text_are_read(
            parts in proptest::collection::vec(prop_oneof![
                any::<u16>().prop_map(|unit| format!("\\u{unit:04x}").into_bytes()),
                any::<u8>().prop_filter("ends the text", |byte| !matches!(byte, b'"' | b'\\')).prop_map(|byte| vec![byte]),
            ], 0..20),
        ) {
            let document = [b"[\"", &parts.concat()[..], b"\", 7]"].concat();
            let value: Value = read_store_json(&document).unwrap();
            prop_assert_eq!(&value[1], 7);
        }
    }
}
