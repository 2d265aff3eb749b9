use super::DESCRIPTION_CHARS_MAX;
use crate::text::is_hidden;

/// What stands between two visible characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// Text as it grows: gaps are written only between two visible characters.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    chars: usize,
    gap: Gap,
}

impl Lines {
    /// Room for so many bytes, of which a description takes no more than it may have.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes.min(DESCRIPTION_CHARS_MAX)),
            ..Self::default()
        }
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
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

    /// Pushes words of ASCII, divided by single spaces; `false` when the text is full.
    fn push_plain(&mut self, words: &str) -> bool {
        if self.chars + words.len() + 1 > DESCRIPTION_CHARS_MAX {
            return words.chars().all(|character| {
                if character == ' ' {
                    self.gap(Gap::Space);
                    true
                } else {
                    self.push_char(character)
                }
            });
        }
        let gap = if self.text.is_empty() { Gap::None } else { self.gap };
        match gap {
            Gap::None => {}
            Gap::Space => self.text.push(' '),
            Gap::Line => self.text.push('\n'),
        }
        self.text.push_str(words);
        self.chars += words.len() + usize::from(gap != Gap::None);
        self.gap = Gap::None;
        true
    }

    /// `false` when the text is full.
    fn push_char(&mut self, character: char) -> bool {
        let gap = if self.text.is_empty() { Gap::None } else { self.gap };
        let needed = 1 + usize::from(gap != Gap::None);
        if self.chars + needed > DESCRIPTION_CHARS_MAX {
            // Nothing that comes later may slip in behind the cut.
            self.chars = DESCRIPTION_CHARS_MAX;
            return false;
        }
        match gap {
            Gap::None => {}
            Gap::Space => self.text.push(' '),
            Gap::Line => self.text.push('\n'),
        }
        self.text.push(character);
        self.chars += needed;
        self.gap = Gap::None;
        true
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// How many bytes at the beginning are visible ASCII with at most single spaces in between.
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
