use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

/// Maximum length of a line in bytes. The remainder becomes another line.
const LINE_BYTES_MAX: usize = 2_000;
const HREF_BYTES_MAX: usize = 512;
/// Maximum number of texts, copyable values and links read from one page.
const PIECES_MAX: usize = 20_000;

/// Text, copyable value or link on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Line of text.
    Line(String),
    /// Text that a button copies, or that is stored in an attribute whose name refers to codes.
    Copied(String),
    /// Link, which comes after the text that contains it.
    Link(PageLink),
}

/// Link of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageLink {
    /// URL as written in the page: absolute, or relative to the page.
    pub href: String,
    /// Text that a shopper sees.
    pub text: String,
}

/// Elements whose content is not shown as text.
const HIDDEN: [&[u8]; 7] = [
    b"script",
    b"style",
    b"noscript",
    b"template",
    b"svg",
    b"textarea",
    b"title",
];
/// Inline elements, which do not end a line.
const INLINE: [&[u8]; 20] = [
    b"a", b"abbr", b"b", b"bdi", b"code", b"del", b"em", b"font", b"i", b"ins", b"kbd", b"label", b"mark", b"q", b"s",
    b"small", b"span", b"strong", b"sup", b"u",
];
/// Attributes whose names refer to codes.
const COPIED: [&[u8]; 6] = [
    b"data-clipboard-text",
    b"data-code",
    b"data-coupon",
    b"data-coupon-code",
    b"data-discount-code",
    b"data-promo-code",
];

pub(crate) fn pieces(html: &str) -> Vec<Piece> {
    let mut reader = Reader::default();
    let callback = move |event: CallbackEvent<'_>, _: Span<()>| reader.see(&event);
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(true);
    // The added element ends the last line.
    let ended = format!("{html}<p>");
    // The error of tokenizing a text is `Infallible`.
    let shown = Tokenizer::new_with_emitter(ended.as_str(), emitter).filter_map(Result::ok);
    joined(shown.take(PIECES_MAX)).collect()
}

/// Joins a line that ends with "code:" with the next line, if that is a single word. Banners often split the two into
/// separate boxes.
fn joined(pieces: impl Iterator<Item = Piece>) -> impl Iterator<Item = Piece> {
    let mut before: Option<String> = None;
    pieces.map(move |piece| {
        let Piece::Line(line) = piece else { return piece };
        let led = before.take().filter(|_| !line.contains(char::is_whitespace));
        let joined = led.map_or_else(|| line.clone(), |lead| format!("{lead} {line}"));
        let end = line.trim_end_matches(|char: char| !char.is_alphanumeric());
        let leads = ["code", "coupon", "कोड"]
            .iter()
            .any(|cue| end.to_lowercase().ends_with(cue));
        before = leads.then_some(line);
        Piece::Line(joined)
    })
}

#[derive(Debug, Default)]
struct Reader {
    line: String,
    /// Open element that hides its content.
    hidden: Option<&'static [u8]>,
    copies: bool,
    link: Option<PageLink>,
    is_link: bool,
    is_href: bool,
}

impl Reader {
    fn see(&mut self, event: &CallbackEvent<'_>) -> Option<Piece> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                (self.copies, self.is_href) = (false, false);
                self.is_link = *name == b"a";
                if self.is_link {
                    self.link = Some(PageLink::default());
                }
                if self.hidden.is_none() {
                    self.hidden = HIDDEN.into_iter().find(|hidden| hidden == name);
                }
                self.at_tag(name)
            }
            CallbackEvent::EndTag { name: b"a" } => {
                self.line.push(' ');
                let link = self.link.take().filter(|link| !link.href.is_empty());
                link.map(Piece::Link)
            }
            CallbackEvent::EndTag { name } => {
                self.hidden = self.hidden.filter(|hidden| hidden != name);
                self.at_tag(name)
            }
            CallbackEvent::AttributeName { name } => {
                self.is_href = self.is_link && *name == b"href";
                self.copies = COPIED.iter().any(|copied| copied == name);
                None
            }
            CallbackEvent::AttributeValue { value } if self.copies && value.len() <= 64 => {
                Some(Piece::Copied(String::from_utf8_lossy(value).into_owned()))
            }
            CallbackEvent::AttributeValue { value } if self.is_href && value.len() <= HREF_BYTES_MAX => {
                if let Some(link) = &mut self.link {
                    link.href = String::from_utf8_lossy(value).into_owned();
                }
                None
            }
            CallbackEvent::String { value } if self.hidden.is_none() => self.take(value),
            _ => None,
        }
    }

    fn at_tag(&mut self, name: &[u8]) -> Option<Piece> {
        if INLINE.contains(&name) {
            self.line.push(' ');
            return None;
        }
        self.flush()
    }

    fn take(&mut self, value: &[u8]) -> Option<Piece> {
        let text = String::from_utf8_lossy(value);
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        let text = &text[..text.floor_char_boundary(room)];
        self.line.push_str(text);
        if let Some(link) = self.link.as_mut().filter(|link| link.text.len() < LINE_BYTES_MAX) {
            link.text.push_str(text);
        }
        if self.line.len() + 4 > LINE_BYTES_MAX {
            return self.flush();
        }
        None
    }

    fn flush(&mut self) -> Option<Piece> {
        let line = std::mem::take(&mut self.line);
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        (!line.is_empty()).then_some(Piece::Line(line))
    }
}
