//! The letters of a body, where its store writes them otherwise than the web does by now.

use bytes::{BufMut, Bytes, BytesMut};

/// What the bytes from 0x80 to 0x9f stand for in windows-1252, which is what browsers read `iso-8859-1` as; the five
/// that stand for nothing are controls, as there.
const SPECIAL: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The body in UTF-8, where its label says that it is in one of the single-byte alphabets of western Europe; `None` if
/// it would be longer than `bytes_max` then. A body that is UTF-8 in spite of its label stays as it is.
pub(crate) fn in_utf8(body: Bytes, content_type: Option<&str>, bytes_max: u64) -> Option<Bytes> {
    if !content_type.is_some_and(is_western) || std::str::from_utf8(&body).is_ok() {
        return Some(body);
    }
    let letter = |byte: u8| match byte {
        0x80..=0x9f => SPECIAL[usize::from(byte - 0x80)],
        _ => char::from(byte),
    };
    let length: usize = body.iter().map(|byte| letter(*byte).len_utf8()).sum();
    if length as u64 > bytes_max {
        return None;
    }
    let mut text = BytesMut::with_capacity(length);
    for byte in &body {
        text.put_slice(letter(*byte).encode_utf8(&mut [0; 4]).as_bytes());
    }
    // The body goes with its text: what is reserved for it is for both.
    let body = Bytes::from_owner(Spelt {
        text: text.freeze(),
        _body: body,
    });
    Some(body)
}

struct Spelt {
    text: Bytes,
    _body: Bytes,
}

impl AsRef<[u8]> for Spelt {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// Whether a `Content-Type` states such an alphabet.
fn is_western(content_type: &str) -> bool {
    let parameter = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    };
    content_type
        .split(';')
        .skip(1)
        .find_map(parameter)
        .is_some_and(|charset| {
            matches!(
                charset.as_str(),
                "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" | "l1" | "windows-1252" | "cp1252"
            )
        })
}
