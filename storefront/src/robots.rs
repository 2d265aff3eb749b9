//! Parser for `robots.txt` according to RFC 9309. The module does no I/O.
//!
//! The parser `texting_robots` 0.2 is not used, because it departs from the RFC in ways that affect stores. There,
//! `User-agent: name/1.0` does not match a crawler called `name`, and `%62` in a rule does not equal `b` in a path. An
//! empty `Disallow:` becomes `Allow: /` and cancels a `Disallow: /` next to it. One unreadable rule makes it refuse the
//! whole file.

use std::borrow::Cow;
use std::time::Duration;

use memchr::memmem;

/// Maximum number of bytes read of a file (RFC 9309, 2.5). The remaining bytes are ignored.
pub(crate) const BYTES_MAX: usize = 500 * 1024;

/// Rules of one `robots.txt` for one crawler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Robots {
    /// Rules, most specific first. Among equals, the allowing rule comes first.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allow: bool,
    pattern: Box<[u8]>,
    /// The pattern with the delimiters of its query percent-encoded, if that makes a difference.
    encoded: Option<Box<[u8]>>,
}

#[derive(Debug, Default)]
struct Group {
    named: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl Robots {
    /// Parses a file for the crawler with this product token. Lines in another format are ignored, so that parsing
    /// never fails.
    #[must_use]
    pub fn parse(file: &[u8], product_token: &str) -> Self {
        let mut ours = Group::default();
        let mut all = Group::default();
        let (mut for_us, mut for_all, mut in_heading) = (false, false, false);
        for (key, value) in whole_lines(file).filter_map(field) {
            match key {
                Key::UserAgent => {
                    if !in_heading {
                        (for_us, for_all, in_heading) = (false, false, true);
                    }
                    for_all |= value.first() == Some(&b'*');
                    for_us |= token(value).eq_ignore_ascii_case(product_token.as_bytes());
                    ours.named |= for_us;
                }
                Key::Allow | Key::Disallow => {
                    in_heading = false;
                    if let Some(rule) = Rule::new(value, key == Key::Allow) {
                        [(for_us, &mut ours), (for_all, &mut all)]
                            .into_iter()
                            .filter(|(applies, _)| *applies)
                            .for_each(|(_, group)| group.rules.push(rule.clone()));
                    }
                }
                Key::CrawlDelay => {
                    for (_, group) in [(for_us, &mut ours), (for_all, &mut all)]
                        .into_iter()
                        .filter(|entry| entry.0)
                    {
                        group.crawl_delay = seconds(value).or(group.crawl_delay);
                    }
                }
            }
        }
        let Group {
            mut rules, crawl_delay, ..
        } = if ours.named { ours } else { all };
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.len()), !rule.allow));
        Self { rules, crawl_delay }
    }

    /// Returns true if the crawler may fetch this path, which begins with `/` and includes any query.
    #[must_use]
    pub fn allows(&self, path_and_query: &str) -> bool {
        let path = path_and_query.split('#').next().unwrap_or_default().as_bytes();
        if path == b"/robots.txt" {
            return true;
        }
        let plain = normalise(path, Side::Path);
        let encoded = encode_query(&plain);
        let hit = |rule: &&Rule| {
            let in_query = || matches(rule.encoded.as_ref().unwrap_or(&rule.pattern), &encoded);
            matches(&rule.pattern, &plain) || in_query()
        };
        self.rules.iter().find(hit).is_none_or(|rule| rule.allow)
    }

    /// Returns the pause between requests that the file requests (`Crawl-delay`). The directive is widely used, but not
    /// part of the RFC.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }
}

impl Rule {
    fn new(value: &[u8], allow: bool) -> Option<Self> {
        if value.is_empty() {
            return None;
        }
        let pattern = normalise(value, Side::Pattern);
        let encoded = encode_query(&pattern);
        let encoded = (encoded != pattern).then(|| encoded.as_ref().into());
        Some(Self {
            allow,
            pattern: pattern.as_ref().into(),
            encoded,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
}

/// Returns the lines within the size limit. The line at the limit is dropped, because half a rule has another meaning.
fn whole_lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    // Some servers send only the first one or two of the three bytes of a byte order mark.
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"];
    let file = marks.iter().find_map(|mark| file.strip_prefix(*mark)).unwrap_or(file);
    let end = if file.len() <= BYTES_MAX {
        file.len()
    } else {
        memchr::memrchr2(b'\n', b'\r', &file[..BYTES_MAX]).unwrap_or(0)
    };
    file[..end].split(|byte| matches!(byte, b'\n' | b'\r' | 0))
}

/// Returns a line's key and value. Common misspellings are accepted, as Google does.
fn field(line: &[u8]) -> Option<(Key, &[u8])> {
    let line = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
    let split = memchr::memchr(b':', line).or_else(|| line.iter().position(u8::is_ascii_whitespace))?;
    let (name, value) = (line[..split].trim_ascii(), line[split + 1..].trim_ascii());
    let is = |spelling: &&str| name.eq_ignore_ascii_case(spelling.as_bytes());
    let key = if ["user-agent", "useragent", "user agent"].iter().any(is) {
        Key::UserAgent
    } else if is(&"allow") {
        Key::Allow
    } else if ["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]
        .iter()
        .any(is)
    {
        Key::Disallow
    } else if ["crawl-delay", "crawldelay", "crawl delay"].iter().any(is) {
        Key::CrawlDelay
    } else {
        return None;
    };
    Some((key, value))
}

/// Returns the product token at the start of a user-agent value: `haat` for `haat/1.0`.
fn token(value: &[u8]) -> &[u8] {
    let end = value
        .iter()
        .position(|byte| !(byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-')));
    &value[..end.unwrap_or(value.len())]
}

fn seconds(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// In a rule's pattern, `*` and a final `$` are operators.
    Pattern,
    /// In a path, every byte is literal.
    Path,
}

/// Normalises bytes for comparison: unreserved characters are decoded, everything outside ASCII is encoded, hex digits
/// are in uppercase, and literal `*` and `$` are encoded.
fn normalise(octets: &[u8], side: Side) -> Cow<'_, [u8]> {
    if octets
        .iter()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'%' | b'*' | b'$'))
    {
        return Cow::Borrowed(octets);
    }
    let mut out = Vec::with_capacity(octets.len() + 8);
    let mut rest = octets;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match (byte, tail) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                rest = after;
                let value = hex(*high) << 4 | hex(*low);
                if value.is_ascii_alphanumeric() || matches!(value, b'-' | b'.' | b'_' | b'~') {
                    out.push(value);
                } else {
                    push_encoded(&mut out, value);
                }
            }
            (b'*', _) if side == Side::Pattern => out.push(byte),
            (b'$', []) if side == Side::Pattern => out.push(byte),
            (b'*' | b'$', _) => push_encoded(&mut out, byte),
            _ if byte.is_ascii_graphic() => out.push(byte),
            _ => push_encoded(&mut out, byte),
        }
    }
    Cow::Owned(out)
}

/// Encodes the delimiters after the first `?`, so that `?u=https://a.b` and `?u=https%3A%2F%2Fa.b` are equal (the RFC's
/// own example, 2.2.2).
fn encode_query(octets: &[u8]) -> Cow<'_, [u8]> {
    let Some(mark) = memchr::memchr(b'?', octets) else {
        return Cow::Borrowed(octets);
    };
    let (path, query) = octets.split_at(mark + 1);
    let is_delimiter = |byte: &u8| matches!(byte, b':' | b'/' | b'?' | b'@' | b'[' | b']');
    if !query.iter().any(is_delimiter) {
        return Cow::Borrowed(octets);
    }
    let mut out = path.to_vec();
    for byte in query {
        if is_delimiter(byte) {
            push_encoded(&mut out, *byte)
        } else {
            out.push(*byte)
        }
    }
    Cow::Owned(out)
}

fn push_encoded(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.wrapping_sub(b'A').wrapping_add(10),
    }
}

/// Returns true if the pattern matches a prefix of the path, or the whole path if the pattern ends with `$`. Each text
/// between stars is matched at its leftmost position, so that the time depends on the path and not on the number of
/// stars.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = pieces.next().and_then(|head| path.strip_prefix(head)) else {
        return false;
    };
    let mut last: Option<&[u8]> = None;
    for piece in pieces {
        if let Some(middle) = last.replace(piece) {
            let Some(at) = memmem::find(rest, middle) else {
                return false;
            };
            rest = &rest[at + middle.len()..];
        }
    }
    match (last, anchored) {
        (None, anchored) => !anchored || rest.is_empty(),
        (Some(piece), true) => rest.ends_with(piece),
        (Some(piece), false) => memmem::find(rest, piece).is_some(),
    }
}
