//! Fast path for common HTML: tags with quoted attributes, and the usual entities.
//!
//! For the HTML that this module accepts, it gives the same result as the standard tokenizer. That tokenizer processes
//! HTML with comments, scripts, stray quotes or rare entities.

use memchr::{memchr, memchr2};

use super::is_skipped;
use super::lines::Lines;

const NAME_BYTES_MAX: usize = 16;

/// Returns `None` if the HTML contains anything unusual.
pub(super) fn to_text(html: &str, keep_lines: bool) -> Option<String> {
    let mut lines = Lines::with_capacity(html.len());
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(next) = memchr2(b'<', b'&', bytes.get(at..)?) {
        let special = at + next;
        lines.push(&html[at..special], keep_lines);
        at = if bytes[special] == b'&' {
            let (character, behind) = reference(html, special)?;
            lines.push(character.encode_utf8(&mut [0; 4]), keep_lines);
            behind
        } else {
            tag(bytes, special, &mut lines)?
        };
    }
    lines.push(&html[at..], keep_lines);
    Some(lines.finish())
}

/// Returns the character that the reference at `start` (an ampersand) encodes, and the position after the reference.
fn reference(html: &str, start: usize) -> Option<(char, usize)> {
    let bytes = html.as_bytes();
    match bytes.get(start + 1) {
        Some(b'#') => {}
        Some(byte) if byte.is_ascii_alphanumeric() => {}
        // The ampersand does not begin a reference.
        _ => return Some(('&', start + 1)),
    }
    let rest = &bytes[start + 1..bytes.len().min(start + 12)];
    let length = memchr(b';', rest)?;
    let behind = start + 1 + length + 1;
    let character = match &rest[..length] {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        b"nbsp" => '\u{a0}',
        b"ndash" => '–',
        b"mdash" => '—',
        b"rsquo" => '’',
        b"lsquo" => '‘',
        b"rdquo" => '”',
        b"ldquo" => '“',
        b"hellip" => '…',
        b"bull" => '•',
        [b'#', b'x' | b'X', digits @ ..] => numeric(digits, 16)?,
        [b'#', digits @ ..] => numeric(digits, 10)?,
        _ => return None,
    };
    Some((character, behind))
}

/// Returns the character with this number, unless the standard has a special rule for the number.
fn numeric(digits: &[u8], radix: u32) -> Option<char> {
    if !(1..=6).contains(&digits.len()) {
        return None;
    }
    let number = digits.iter().try_fold(0, |number, digit| {
        Some(number * radix + char::from(*digit).to_digit(radix)?)
    })?;
    let usual = (0x20..0x7f).contains(&number) || (0xa0..0xd800).contains(&number);
    usual.then(|| char::from_u32(number)).flatten()
}

/// Reads the tag that begins with the `<` at `start` and returns the position after it.
fn tag(bytes: &[u8], start: usize, lines: &mut Lines) -> Option<usize> {
    let (ends, mut at) = match bytes.get(start + 1) {
        Some(b'/') => (true, start + 2),
        Some(b'!' | b'?') => return None,
        _ => (false, start + 1),
    };
    if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
        if ends {
            return None;
        }
        lines.push("<", false);
        return Some(start + 1);
    }
    let mut name = [0; NAME_BYTES_MAX];
    let mut length = 0;
    while let Some(letter) = bytes.get(at).filter(|byte| byte.is_ascii_alphanumeric()) {
        *name.get_mut(length)? = letter.to_ascii_lowercase();
        (length, at) = (length + 1, at + 1);
    }
    let name = &name[..length];
    if !matches!(bytes.get(at)?, b' ' | b'\n' | b'\t' | b'/' | b'>') {
        return None;
    }
    let behind = attributes(bytes, at)?;
    if !ends && (is_skipped(name) || matches!(name, b"plaintext" | b"xmp" | b"noframe" | b"noscript")) {
        return None;
    }
    super::tag(name, ends, lines);
    Some(behind)
}

fn attributes(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let byte = *bytes.get(at)?;
        let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'@');
        match byte {
            b'>' => return Some(at + 1),
            b' ' | b'\n' | b'\t' | b'/' => at += 1,
            _ if named(byte) => {
                while named(*bytes.get(at)?) {
                    at += 1;
                }
                let spaces = |from: usize| from + bytes[from..].iter().take_while(|byte| **byte == b' ').count();
                let equals = spaces(at);
                if *bytes.get(equals)? == b'=' {
                    at = value(bytes, spaces(equals + 1))?;
                }
            }
            _ => return None,
        }
    }
}

fn value(bytes: &[u8], at: usize) -> Option<usize> {
    match *bytes.get(at)? {
        quote @ (b'"' | b'\'') => {
            let behind = at + 1 + memchr(quote, &bytes[at + 1..])? + 1;
            // Text directly after a closing quote is a parse error in the standard, which its tokenizer handles.
            matches!(bytes.get(behind)?, b' ' | b'\n' | b'\t' | b'/' | b'>').then_some(behind)
        }
        _ => {
            let plain =
                |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'#' | b'%' | b':');
            let length = bytes[at..].iter().take_while(|byte| plain(byte)).count();
            let ends = matches!(bytes.get(at + length)?, b' ' | b'\n' | b'\t' | b'>');
            (length > 0 && ends).then_some(at + length)
        }
    }
}
