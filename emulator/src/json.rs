//! Writer of JSON with the platform's escapes: `/` as `\/`, and `<`, `>`, `&` as `\u003c` and so on.

/// Appends `text` as a JSON string with the platform's escapes.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_inner(out, text.as_bytes());
    out.push(b'"');
}

/// Appends a JSON string, or `null` for `None`.
pub(crate) fn push_optional(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => push_text(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// Appends the escaped content of a JSON string, without quotes.
pub(crate) fn push_inner(out: &mut Vec<u8>, text: &[u8]) {
    let mut done = 0;
    for (at, byte) in text.iter().enumerate() {
        if !SPECIAL[usize::from(*byte)] {
            continue;
        }
        out.extend_from_slice(&text[done..at]);
        done = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'/' => out.extend_from_slice(b"\\/"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            other => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(other >> 4)]);
                out.push(HEX[usize::from(other & 15)]);
            }
        }
    }
    out.extend_from_slice(&text[done..]);
}

const HEX: &[u8; 16] = b"0123456789abcdef";

const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte < 0x20 || matches!(byte as u8, b'"' | b'\\' | b'/' | b'<' | b'>' | b'&');
        byte += 1;
    }
    table
};

pub(crate) fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

pub(crate) fn push_bool(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Appends an amount with its decimals and without quotes: `499.00`.
pub(crate) fn push_amount(out: &mut Vec<u8>, minor: u64, decimals: u32) {
    let unit = 10_u64.pow(decimals.min(4));
    push_number(out, minor / unit);
    if decimals > 0 {
        out.push(b'.');
        let mut rest = minor % unit;
        let mut place = unit / 10;
        while place > 0 {
            out.push(b'0' + (rest / place) as u8);
            rest %= place;
            place /= 10;
        }
    }
}

/// Rewrites JSON from serde with the platform's escapes: `/`, `<`, `>` and `&` are escaped within strings.
pub(crate) fn platform_bytes(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() + json.len() / 8);
    let mut slash = false;
    for byte in json {
        match byte {
            b'/' if !slash => out.extend_from_slice(b"\\/"),
            b'<' => out.extend_from_slice(b"\\u003c"),
            b'>' => out.extend_from_slice(b"\\u003e"),
            b'&' => out.extend_from_slice(b"\\u0026"),
            other => out.push(*other),
        }
        slash = *byte == b'\\' && !slash;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_reads_back(text in ".*") {
            let mut out = Vec::new();
            push_text(&mut out, &text);
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text.clone());
            let served = platform_bytes(&serde_json::to_vec(&text).unwrap());
            prop_assert_eq!(serde_json::from_slice::<String>(&served).unwrap(), text);
        }

        #[test]
        fn amounts_have_their_decimals(minor in 0u64..1_000_000_000, decimals in 0u32..4) {
            let mut out = Vec::new();
            push_amount(&mut out, minor, decimals);
            let text = String::from_utf8(out).unwrap();
            prop_assert_eq!(text.split_once('.').map_or(0, |(_, rest)| rest.len()), decimals as usize);
            prop_assert_eq!(text.replace('.', "").parse::<u64>().unwrap(), minor);
        }
    }

    #[test]
    fn markup_is_escaped_as_the_platform_does() {
        let mut out = Vec::new();
        push_text(&mut out, "<p>a/b & \"c\"\n");
        assert_eq!(String::from_utf8(out).unwrap(), r#""\u003cp\u003ea\/b \u0026 \"c\"\n""#);
    }
}
