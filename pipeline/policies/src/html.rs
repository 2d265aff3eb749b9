//! Converts HTML to lines of text in linear time.

use crate::words::Words;

/// Marker before each table cell and row. It does not occur in text.
pub(crate) const CELL: char = '\u{1f}';
pub(crate) const ROW: char = '\u{1e}';
/// Markers before headings, one for each of the six levels.
const HEADINGS: [char; 6] = ['\u{11}', '\u{12}', '\u{13}', '\u{14}', '\u{15}', '\u{16}'];

const INLINE: Words = Words("a, abbr, b, bdi, code, em, font, i, ins, mark, q, s, small, span, strong, sup, u");
/// Elements whose content is not displayed.
const HIDDEN: Words = Words("script, style, noscript, template, svg, head, nav, footer, header");

/// Returns the heading level of a line and its text.
pub(crate) fn heading(line: &str) -> (Option<u8>, &str) {
    let line = line.trim_start();
    let Some(first) = line.chars().next() else {
        return (None, line);
    };
    match HEADINGS.iter().position(|sign| *sign == first) {
        Some(at) => (u8::try_from(at + 1).ok(), &line[first.len_utf8()..]),
        None => (None, line),
    }
}

/// Returns the text of HTML, with one line for each block and each table.
pub(crate) fn shown(source: &str) -> String {
    let mut page = Page {
        source,
        lower: source.to_ascii_lowercase(),
        last_close: source.rfind('>'),
        in_table: false,
        in_heading: false,
        out: String::with_capacity(source.len()),
    };
    let mut at = 0;
    while let Some(found) = source[at..].find(['<', '&']) {
        page.text(&source[at..at + found]);
        at += found;
        at = if source[at..].starts_with('<') {
            page.tag(at)
        } else {
            at + entity(&source[at..], &mut page.out)
        };
    }
    page.text(&source[at..]);
    page.out
}

#[derive(Debug)]
struct Page<'a> {
    source: &'a str,
    /// The source in lowercase, with the same byte positions.
    lower: String,
    last_close: Option<usize>,
    in_table: bool,
    in_heading: bool,
    out: String,
}

impl Page<'_> {
    /// Within a table or heading, line breaks of the source become spaces.
    fn text(&mut self, text: &str) {
        if self.in_table || self.in_heading {
            self.out
                .extend(text.chars().map(|char| if char == '\n' { ' ' } else { char }));
        } else {
            self.out.push_str(text);
        }
    }

    /// Reads a tag, or a `<` that starts no tag. Returns the position after it.
    fn tag(&mut self, at: usize) -> usize {
        let from = at + 1;
        let inner = &self.source[from..];
        if let Some(comment) = inner.strip_prefix("!--") {
            return comment.find("-->").map_or(self.source.len(), |end| from + 3 + end + 3);
        }
        let is_tag = inner.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/' || first == '!');
        let can_end = self.last_close.is_some_and(|last| last >= from);
        let Some(end) = (is_tag && can_end).then(|| inner.find('>')).flatten() else {
            self.out.push('<');
            return from;
        };
        let name = inner[..end].trim_start_matches('/');
        let name = name
            .split(|char: char| !char.is_ascii_alphanumeric())
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
        let (after, opens) = (from + end + 1, !inner.starts_with('/'));
        if opens && HIDDEN.has(name.as_str()) {
            return self.past(after, &name);
        }
        self.mark(&name, opens);
        after
    }

    fn mark(&mut self, name: &str, opens: bool) {
        let level = name.strip_prefix('h').and_then(|level| level.parse::<usize>().ok());
        let sign = level.and_then(|level| HEADINGS.get(level.checked_sub(1)?));
        if let Some(sign) = sign.filter(|_| !self.in_table) {
            self.out.push('\n');
            self.in_heading = opens;
            if opens {
                self.out.push('\n');
                self.out.push(*sign);
            }
            return;
        }
        self.out.push(match name {
            "table" => {
                self.in_table = opens;
                self.in_heading = false;
                '\n'
            }
            "td" | "th" if self.in_table && opens => CELL,
            "tr" if self.in_table && opens => ROW,
            _ if self.in_table || INLINE.has(name) => ' ',
            // An unclosed heading ends at the next block.
            "p" | "div" | "ul" | "ol" | "section" => {
                self.in_heading = false;
                '\n'
            }
            _ if self.in_heading => ' ',
            _ => '\n',
        });
    }

    fn past(&self, from: usize, name: &str) -> usize {
        let end = format!("</{name}");
        let len = self.source.len();
        self.lower[from..].find(&end).map_or(len, |at| {
            let rest = from + at + end.len();
            self.lower[rest..].find('>').map_or(len, |at| rest + at + 1)
        })
    }
}

/// Returns the number of bytes of the character entity.
fn entity(source: &str, out: &mut String) -> usize {
    let inner = &source[1..];
    let end = inner.bytes().take(10).position(|byte| byte == b';');
    let Some(end) = end else {
        out.push('&');
        return 1;
    };
    let name = &inner[..end];
    let decoded = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" | "rsquo" | "lsquo" => Some('\''),
        "nbsp" | "ensp" | "emsp" | "thinsp" => Some(' '),
        "ndash" | "mdash" => Some('–'),
        "euro" => Some('€'),
        "pound" => Some('£'),
        "eacute" => Some('é'),
        "egrave" => Some('è'),
        "agrave" => Some('à'),
        "uuml" => Some('ü'),
        "auml" => Some('ä'),
        "ouml" => Some('ö'),
        "szlig" => Some('ß'),
        "ntilde" => Some('ñ'),
        "iacute" => Some('í'),
        _ => numeric(name),
    };
    match decoded {
        Some(char) => {
            out.push(char);
            end + 2
        }
        None => {
            out.push('&');
            1
        }
    }
}

fn numeric(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(code).filter(|char| !char.is_control())
}
