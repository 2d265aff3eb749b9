//! The letters of a body, where its store writes them otherwise than the web does by now.

use bytes::{BufMut, Bytes, BytesMut};

/// The characters of the bytes from 0x80 to 0x9f in windows-1252, which is what browsers read `iso-8859-1` as; the five that
/// stand for nothing are controls, as there.
const SPECIAL: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The body in UTF-8, where it is in UTF-16, or in one of the single-byte alphabets of western Europe; `None` if it would be
/// longer than `bytes_max` then. A body that is UTF-8 in spite of its label stays as it is.
pub(crate) fn in_utf8(body: Bytes, content_type: Option<&str>, bytes_max: u64) -> Option<Bytes> {
    let label = content_type.and_then(label);
    if let Some((order, mark_len)) = order(&body, label.as_deref()) {
        let letters = || units(body.get(mark_len..).unwrap_or_default(), order);
        return spelt(&body, letters, bytes_max);
    }
    let is_western = match label.as_deref() {
        None => !has_letters(&body),
        Some(label) => is_western(label),
    };
    if std::str::from_utf8(&body).is_ok() || !is_western {
        return Some(body);
    }
    let letter = |byte: u8| match byte {
        0x80..=0x9f => SPECIAL[usize::from(byte - 0x80)],
        _ => char::from(byte),
    };
    spelt(&body, || body.iter().map(|byte| letter(*byte)), bytes_max)
}

/// True of a body that has a letter that UTF-8 alone writes so. One without any whose bytes beyond ASCII are no UTF-8 either is
/// of an older alphabet; one with some is UTF-8 that was damaged.
fn has_letters(body: &[u8]) -> bool {
    body.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
}

/// The letters of a body in UTF-8.
fn spelt<I: Iterator<Item = char>>(body: &Bytes, letters: impl Fn() -> I, bytes_max: u64) -> Option<Bytes> {
    let length: usize = letters().map(char::len_utf8).sum();
    if length as u64 > bytes_max {
        return None;
    }
    let mut text = BytesMut::with_capacity(length);
    for letter in letters() {
        text.put_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
    // The body goes with its text: what is reserved for it is for both.
    let body = Bytes::from_owner(DecodedText {
        text: text.freeze(),
        _body: body.clone(),
    });
    Some(body)
}

/// The byte of a unit of UTF-16 that comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Low,
    High,
}

/// The order of a body in UTF-16 and the length of its mark; `None` for any other. Its mark decides, which no text in
/// UTF-8 begins with. Where there is none, its label does, if the body has the zeros that UTF-16 has and no page in
/// UTF-8: which of the first two bytes is one says more than the label.
fn order(body: &[u8], label: Option<&str>) -> Option<(Order, usize)> {
    match body {
        [0xff, 0xfe, ..] => return Some((Order::Low, 2)),
        [0xfe, 0xff, ..] => return Some((Order::High, 2)),
        _ => {}
    }
    let said = match label? {
        "utf-16" | "utf16" | "utf-16le" | "utf16le" | "ucs-2" | "unicode" => Order::Low,
        "utf-16be" | "utf16be" => Order::High,
        _ => return None,
    };
    match body {
        [0, second, ..] if *second != 0 => Some((Order::High, 0)),
        [first, 0, ..] if *first != 0 => Some((Order::Low, 0)),
        _ => body.contains(&0).then_some((said, 0)),
    }
}

/// The letters of UTF-16; what is none stands for itself as U+FFFD, a byte too many at the end too.
fn units(body: &[u8], order: Order) -> impl Iterator<Item = char> {
    let pairs = body.chunks_exact(2);
    let rest = pairs.remainder().iter().map(|_| char::REPLACEMENT_CHARACTER);
    let unit = move |pair: &[u8]| match (pair, order) {
        ([low, high], Order::Low) | ([high, low], Order::High) => u16::from_be_bytes([*high, *low]),
        _ => 0,
    };
    let letters = char::decode_utf16(pairs.map(unit));
    letters
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
        .chain(rest)
}

struct DecodedText {
    text: Bytes,
    _body: Bytes,
}

impl AsRef<[u8]> for DecodedText {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// The alphabet that a `Content-Type` states, in small letters.
fn label(content_type: &str) -> Option<String> {
    let parameter = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    };
    content_type.split(';').skip(1).find_map(parameter)
}

fn is_western(label: &str) -> bool {
    matches!(
        label,
        "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" | "l1" | "windows-1252" | "cp1252"
    )
}
