use super::DESCRIPTION_CHARS_MAX;
use crate::line::is_hidden;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// Marker at the start of a list item.
const BULLET: &str = "• ";
/// Maximum number of characters before a visible one: the line ends and a bullet.
const LEAD_CHARS_MAX: usize = 3;

/// Text under construction. Gaps and bullets are appended only before visible characters.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    chars: usize,
    gap: Gap,
    item: bool,
}

impl Lines {
    /// The maximum size of a description limits the buffer.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes.min(DESCRIPTION_CHARS_MAX)),
            ..Self::default()
        }
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    pub(super) fn begin_item(&mut self) {
        self.gap(Gap::Line);
        self.item = true;
    }

    /// An item without visible content leaves no bullet.
    pub(super) fn end_item(&mut self) {
        self.gap(Gap::Line);
        self.item = false;
    }

    /// Returns the gap and bullet for `next`, the next visible character.
    fn lead(&self, next: char) -> Lead {
        let gap = if self.text.is_empty() { Gap::None } else { self.gap };
        let is_marked = !self.item || is_bullet(next);
        let bullet = if is_marked { "" } else { BULLET };
        Lead { gap, bullet }
    }

    fn push_lead(&mut self, lead: Lead) {
        match lead.gap {
            Gap::None => {}
            Gap::Space => self.text.push(' '),
            Gap::Line => self.text.push('\n'),
        }
        self.text.push_str(lead.bullet);
        self.gap = Gap::None;
        self.item = false;
    }

    pub(super) fn push(&mut self, text: &str, keep_lines: bool) {
        let mut rest = text;
        loop {
            let plain = plain_prefix(rest.as_bytes());
            if plain > 0 {
                if !self.push_plain(&rest[..plain]) {
                    return;
                }
                rest = &rest[plain..];
            }
            let Some(character) = rest.chars().next() else { return };
            if character.is_whitespace() {
                let line = keep_lines && matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}');
                self.gap(if line { Gap::Line } else { Gap::Space });
            } else if !is_hidden(character) && !self.push_char(character) {
                return;
            }
            rest = &rest[character.len_utf8()..];
        }
    }

    /// Appends ASCII words with single spaces between them. Returns `false` if the text is full.
    fn push_plain(&mut self, words: &str) -> bool {
        if self.chars + words.len() + LEAD_CHARS_MAX > DESCRIPTION_CHARS_MAX {
            return words.chars().all(|character| {
                if character == ' ' {
                    self.gap(Gap::Space);
                    true
                } else {
                    self.push_char(character)
                }
            });
        }
        let lead = self.lead(words.chars().next().unwrap_or_default());
        self.push_lead(lead);
        self.text.push_str(words);
        self.chars += words.len() + lead.chars();
        true
    }

    /// Returns `false` if the text is full.
    fn push_char(&mut self, character: char) -> bool {
        let lead = self.lead(character);
        let needed = 1 + lead.chars();
        if self.chars + needed > DESCRIPTION_CHARS_MAX {
            // The full text must not grow after the truncation.
            self.chars = DESCRIPTION_CHARS_MAX;
            return false;
        }
        self.push_lead(lead);
        self.text.push(character);
        self.chars += needed;
        true
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[derive(Debug, Clone, Copy)]
struct Lead {
    gap: Gap,
    bullet: &'static str,
}

impl Lead {
    fn chars(self) -> usize {
        usize::from(self.gap != Gap::None) + self.bullet.chars().count()
    }
}

/// Returns true for a character that stores use as their own bullet.
const fn is_bullet(character: char) -> bool {
    matches!(
        character,
        '•' | '·' | '▪' | '●' | '◦' | '‣' | '✓' | '✔' | '✅' | '➤' | '*' | '-' | '–' | '—'
    )
}

fn plain_prefix(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let next_is_plain = || bytes.get(at + 1).is_some_and(u8::is_ascii_graphic);
        if !(byte.is_ascii_graphic() || *byte == b' ' && at > 0 && next_is_plain()) {
            break;
        }
        at += 1;
    }
    at
}
