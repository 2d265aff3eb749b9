use std::borrow::Cow;
use std::fmt;

use memchr::memchr2;

/// Reads JSON from left to right, value by value, as its caller requests them.
///
/// The cursor is made for responses of stores, which a general parser does not suit. Numbers keep all their digits. A
/// value that is not requested is skipped without growing the stack, however deep it is. After a fault, the rest of the
/// text can still be read. Harmless errors are accepted: extra commas, raw control characters in strings and unpaired
/// surrogates. In skipped values, only quotes and the number of brackets are checked.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    weight: usize,
}

/// Maximum memory in bytes for the lists of one record. A product with 2,048 variants, each with its own image, needs
/// half of it. A short text of long lists must not become a large structure.
pub const RECORD_BYTES_MAX: usize = 2 << 20;

/// Maximum length in bytes of a fault's path, because stores choose the key names.
const PATH_BYTES_MAX: usize = 300;

#[cold]
fn too_heavy() -> Fault {
    Fault::new(format!("its lists need more than {RECORD_BYTES_MAX} bytes of memory"))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(Box<(String, String)>);

pub(crate) type CursorResult<T> = Result<T, Fault>;

impl Fault {
    #[cold]
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self(Box::new((String::new(), problem.into())))
    }

    /// `place` is a key or an item's `[index]` of the enclosing value.
    #[cold]
    pub(crate) fn under(mut self, place: impl fmt::Display) -> Self {
        let joint = if self.0.0.is_empty() || self.0.0.starts_with('[') {
            ""
        } else {
            "."
        };
        let mut path = format!("{place}{joint}{}", self.0.0);
        path.truncate(path.floor_char_boundary(PATH_BYTES_MAX));
        self.0.0 = path;
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, problem) = &*self.0;
        if path.is_empty() {
            f.write_str(problem)
        } else {
            write!(f, "{path}: {problem}")
        }
    }
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0, weight: 0 }
    }

    pub(crate) const fn weigh_anew(&mut self) {
        self.weight = 0;
    }

    /// Adds to the memory count of the record. Fails beyond the maximum for any legitimate record.
    #[inline]
    pub(crate) fn weigh(&mut self, bytes: usize) -> CursorResult<()> {
        self.weight = self.weight.saturating_add(bytes);
        if self.weight > RECORD_BYTES_MAX {
            return Err(too_heavy());
        }
        Ok(())
    }

    /// Moves to the position of another cursor on the same text. The memory count stays.
    pub(crate) const fn go_to(&mut self, other: &Self) {
        self.at = other.at;
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Consumes `byte` if it comes next.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    /// Creates a fault that shows the text found instead of the expected one.
    #[cold]
    pub(crate) fn unexpected(&mut self, expected: &str) -> Fault {
        let found = match self.peek() {
            Some(b'{') => "object",
            Some(b'[') => "list",
            Some(b'"') => "text",
            Some(b't' | b'f') if self.literal("true") || self.literal("false") => "true or false",
            Some(b'n') if self.literal("null") => "null",
            Some(b'-' | b'0'..=b'9') => "number",
            Some(_) => "invalid JSON",
            None => "the end",
        };
        Fault::new(format!("expected {expected}, found {found}"))
    }

    fn literal(&mut self, word: &str) -> bool {
        self.peek();
        let next = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        if next {
            self.at += word.len();
        }
        next
    }

    #[inline]
    pub(crate) fn null(&mut self) -> bool {
        self.peek() == Some(b'n') && self.literal("null")
    }

    /// The string is borrowed if it contains no escapes. Returns `None` for null.
    #[inline]
    pub(crate) fn text(&mut self) -> CursorResult<Option<Cow<'a, str>>> {
        match self.peek() {
            Some(b'"') => self.string().map(Some),
            _ if self.null() => Ok(None),
            _ => Err(self.unexpected("text")),
        }
    }

    /// A number keeps its original digits. Returns `None` for null.
    #[inline]
    pub(crate) fn text_or_number(&mut self) -> CursorResult<Option<Cow<'a, str>>> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => Ok(Some(Cow::Borrowed(self.number()))),
            _ => self.text(),
        }
    }

    /// Reads a boolean, also in the form of text or of 1 or 0. Returns `None` for null.
    pub(crate) fn flag(&mut self) -> CursorResult<Option<bool>> {
        let stated = match self.peek() {
            Some(b't') if self.literal("true") => return Ok(Some(true)),
            Some(b'f') if self.literal("false") => return Ok(Some(false)),
            _ => self.text_or_number()?,
        };
        match stated.as_deref().map(str::trim) {
            None | Some("") => Ok(None),
            Some("1" | "true") => Ok(Some(true)),
            Some("0" | "false") => Ok(Some(false)),
            Some(_) => Err(Fault::new("expected true or false, found something else")),
        }
    }

    /// Reads an id: an integer as number or as text.
    pub(crate) fn id(&mut self) -> CursorResult<u64> {
        let digits = match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => Cow::Borrowed(self.number()),
            _ => return Err(self.unexpected("id")),
        };
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        let id = if whole { digits.parse().ok() } else { None };
        // Shopify's ids fit into 63 bits, and so do the lake's columns.
        let id = id.filter(|id| i64::try_from(*id).is_ok());
        id.ok_or_else(|| Fault::new(format!("no id: {:?}", &digits[..digits.floor_char_boundary(40)])))
    }

    /// Reads a non-negative integer as number or as text. Returns `None` for null, fractions and negative numbers.
    pub(crate) fn count(&mut self) -> CursorResult<Option<u64>> {
        let Some(text) = self.text_or_number()? else {
            return Ok(None);
        };
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        let integral = decimals.bytes().all(|digit| digit == b'0');
        Ok(if integral { whole.parse().ok() } else { None })
    }

    /// The caller must check if the characters form a valid number.
    fn number(&mut self) -> &'a str {
        let rest = &self.text.as_bytes()[self.at..];
        let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
        let length = rest.iter().position(|byte| !digit(byte)).unwrap_or(rest.len());
        self.at += length;
        &self.text[self.at - length..self.at]
    }

    #[inline]
    fn string(&mut self) -> CursorResult<Cow<'a, str>> {
        let start = self.at + 1;
        match quote_or_backslash(self.text.as_bytes(), start) {
            Some((end, b'"')) => {
                self.at = end + 1;
                Ok(Cow::Borrowed(&self.text[start..end]))
            }
            Some((first_escape, _)) => self.escaped_string(start, first_escape).map(Cow::Owned),
            None => Err(self.endless_string()),
        }
    }

    #[cold]
    fn endless_string(&mut self) -> Fault {
        self.at = self.text.len();
        Fault::new("invalid JSON: unterminated string")
    }

    fn escaped_string(&mut self, start: usize, first_escape: usize) -> CursorResult<String> {
        let Some(end) = string_end(self.text.as_bytes(), first_escape) else {
            return Err(self.endless_string());
        };
        self.at = end + 1;
        let raw = &self.text[start..end];
        let mut decoded = String::with_capacity(raw.len());
        let mut at = 0;
        let mut next = first_escape - start;
        loop {
            decoded.push_str(&raw[at..next]);
            let (char, length) = escape(&raw.as_bytes()[next..])?;
            decoded.push(char);
            at = next + length;
            match memchr::memchr(b'\\', &raw.as_bytes()[at..]) {
                Some(offset) => next = at + offset,
                None => break,
            }
        }
        decoded.push_str(&raw[at..]);
        Ok(decoded)
    }

    /// Calls `member` with each key of the object at the cursor. At each call, the cursor is before the key's value,
    /// which `member` must read or skip. A fault contains the key.
    #[inline]
    pub(crate) fn members(&mut self, mut member: impl FnMut(&mut Self, &str) -> CursorResult<()>) -> CursorResult<()> {
        if !self.take(b'{') {
            return Err(self.unexpected("object"));
        }
        loop {
            match self.peek() {
                Some(b'"') => {}
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Fault::new("invalid JSON: object member without a key")),
            }
            let name = self.string()?;
            if !self.take(b':') {
                return Err(Fault::new("invalid JSON: key without a value").under(name));
            }
            member(self, &name).map_err(|fault| fault.under(name))?;
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(Fault::new("invalid JSON: unterminated object"));
            }
        }
    }

    /// Calls `item` with the index of each item of the list at the cursor, as [`Cursor::members`] does. Null counts as
    /// an empty list. Returns the number of items.
    #[inline]
    pub(crate) fn items(&mut self, mut item: impl FnMut(&mut Self, usize) -> CursorResult<()>) -> CursorResult<usize> {
        if !self.take(b'[') {
            return if self.null() {
                Ok(0)
            } else {
                Err(self.unexpected("list"))
            };
        }
        let mut count = 0;
        while !self.take(b']') {
            item(self, count).map_err(|fault| fault.under(format_args!("[{count}]")))?;
            count += 1;
            if !self.take(b',') && self.peek() != Some(b']') {
                return Err(Fault::new("invalid JSON: unterminated array"));
            }
        }
        Ok(count)
    }

    /// Skips any value and returns its text. Only the number of brackets must match, not their kind.
    #[inline]
    pub(crate) fn skip(&mut self) -> CursorResult<&'a str> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'"') => match string_end(self.text.as_bytes(), start + 1) {
                Some(end) => self.at = end + 1,
                None => return Err(self.endless_string()),
            },
            Some(b'{' | b'[') => self.skip_brackets()?,
            _ => {
                let rest = &self.text.as_bytes()[start..];
                // A bracket inside a bare word must end it, so that skipping a record and reading it give the same end.
                let delimiter = |byte: &u8| {
                    let is_bracket = matches!(byte, b'{' | b'}' | b'[' | b']');
                    is_bracket || matches!(byte, b',' | b':' | b'"' | b' ' | b'\t' | b'\n' | b'\r')
                };
                self.at += rest.iter().position(delimiter).unwrap_or(rest.len());
                if self.at == start {
                    return Err(self.unexpected("a value"));
                }
            }
        }
        Ok(&self.text[start..self.at])
    }

    fn skip_brackets(&mut self) -> CursorResult<()> {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                b'"' => match string_end(bytes, self.at + 1) {
                    Some(end) => self.at = end,
                    None => return Err(self.endless_string()),
                },
                _ => {}
            }
            self.at += 1;
        }
        Err(Fault::new("invalid JSON: unclosed bracket"))
    }
}

/// Returns the position of a string's closing quote, searching from `at`.
#[inline]
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match quote_or_backslash(bytes, at)? {
            (end, b'"') => return Some(end),
            (escape, _) => at = escape + 2,
        }
    }
}

/// Returns the position of the next quote or backslash from `at`, and the byte found. Most strings are short, so that
/// checking eight bytes at a time finishes before a call of `memchr2` would have started.
#[inline]
fn quote_or_backslash(bytes: &[u8], mut at: usize) -> Option<(usize, u8)> {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    for _ in 0..4 {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            at += (found.trailing_zeros() / 8) as usize;
            return Some((at, bytes[at]));
        }
        at += 8;
    }
    let found = at + memchr2(b'"', b'\\', bytes.get(at..)?)?;
    Some((found, bytes[found]))
}

/// Returns the character and its length. An unpaired surrogate becomes the replacement character.
fn escape(bytes: &[u8]) -> CursorResult<(char, usize)> {
    let char = match bytes.get(1) {
        Some(plain @ (b'"' | b'\\' | b'/')) => char::from(*plain),
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => {
            let first = code_unit(bytes).ok_or_else(|| Fault::new("invalid JSON: broken escape sequence"))?;
            if let Some(char) = char::from_u32(first) {
                return Ok((char, 6));
            }
            let low = (first < 0xDC00).then(|| code_unit(&bytes[6..])).flatten();
            let pair = low.filter(|low| (0xDC00..0xE000).contains(low));
            let pair = pair.and_then(|low| char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00)));
            return Ok(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |char| (char, 12)));
        }
        _ => return Err(Fault::new("invalid JSON: unknown escape sequence")),
    };
    Ok((char, 2))
}

/// Returns the code unit of the escape `\uXXXX` at the start of `bytes`, if there is one.
fn code_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits
        .iter()
        .try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}
