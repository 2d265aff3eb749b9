use std::ops::ControlFlow;

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

/// Maximum length of a word, in characters. Longer words are ignored.
const WORD_CHARS_MAX: usize = 100;

/// Splits texts into word pieces of a vocabulary, like BERT's uncased tokeniser. Accents are removed, letters are
/// lowercased, and each punctuation mark is a separate word. A word is split into the longest pieces from left to
/// right. Words that cannot be split completely are ignored.
#[derive(Debug)]
pub struct WordPieces {
    beginnings: FxHashMap<&'static str, u32>,
    continuations: FxHashMap<&'static str, u32>,
    /// For each piece: `true` if it is a single character.
    letters: Vec<bool>,
    piece_bytes_max: usize,
}

/// Class of a character, by which the tokeniser splits texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Space,
    /// A character that forms a separate word.
    Alone,
    Dropped,
}

impl WordPieces {
    /// Parses a vocabulary with one piece per line. The line number is the id of the piece, and `##` marks pieces that
    /// continue a word.
    #[must_use]
    pub fn new(vocabulary: &'static str) -> Self {
        let mut pieces = Self {
            beginnings: FxHashMap::default(),
            continuations: FxHashMap::default(),
            letters: Vec::new(),
            piece_bytes_max: 0,
        };
        for (piece, at) in vocabulary.lines().zip(0_u32..) {
            let (text, known) = match piece.strip_prefix("##") {
                Some(text) if !text.is_empty() => (text, &mut pieces.continuations),
                _ => (piece, &mut pieces.beginnings),
            };
            pieces.letters.push(text.chars().nth(1).is_none());
            pieces.piece_bytes_max = pieces.piece_bytes_max.max(text.len());
            known.entry(text).or_insert(at);
        }
        pieces
    }

    /// Returns `true` if the vocabulary contains a lowercase word as a single piece.
    #[must_use]
    pub fn is_whole(&self, word: &str) -> bool {
        self.beginnings.contains_key(word)
    }

    /// Returns `true` if a piece is a single letter, digit or symbol.
    #[must_use]
    pub fn is_letter(&self, piece: u32) -> bool {
        self.letters.get(piece as usize).copied().unwrap_or_default()
    }

    /// Calls `tell` with the ids of a text's first pieces in order, for at most `limit` pieces.
    pub fn each(&self, text: &str, limit: usize, mut tell: impl FnMut(u32)) {
        let mut left = limit;
        let mut word = Word::default();
        let mut word_ends = |word: &mut Word| {
            let told = self.cut(word, &mut left, &mut tell);
            word.clear();
            told
        };
        let mut each_char = |char: char| {
            match kind(char) {
                Kind::Letter => word.push(char),
                Kind::Space => return word_ends(&mut word),
                Kind::Alone => {
                    word_ends(&mut word)?;
                    word.push(char);
                    return word_ends(&mut word);
                }
                Kind::Dropped => {}
            }
            ControlFlow::Continue(())
        };
        let told = if text.is_ascii() {
            text.chars()
                .map(|char| char.to_ascii_lowercase())
                .try_for_each(&mut each_char)
        } else {
            let kept = text.chars().filter(|char| kind(*char) != Kind::Dropped);
            let bare = kept.nfd().filter(|char| !is_accent(*char));
            bare.flat_map(char::to_lowercase).try_for_each(&mut each_char)
        };
        if told.is_continue() {
            let _ = word_ends(&mut word);
        }
    }

    /// Calls `tell` with the pieces of one word, and breaks at the limit.
    fn cut(&self, word: &mut Word, left: &mut usize, tell: &mut impl FnMut(u32)) -> ControlFlow<()> {
        if word.text.is_empty() || word.chars > WORD_CHARS_MAX {
            return ControlFlow::Continue(());
        }
        let Word { text, pieces, .. } = word;
        let (mut rest, mut known) = (text.as_str(), &self.beginnings);
        while !rest.is_empty() {
            let Some((length, piece)) = self.longest(rest, known) else {
                return ControlFlow::Continue(());
            };
            pieces.push(piece);
            rest = rest.get(length..).unwrap_or_default();
            known = &self.continuations;
        }
        for piece in pieces.iter() {
            if *left == 0 {
                return ControlFlow::Break(());
            }
            *left -= 1;
            tell(*piece);
        }
        ControlFlow::Continue(())
    }

    fn longest(&self, text: &str, known: &FxHashMap<&'static str, u32>) -> Option<(usize, u32)> {
        let longest = text.len().min(self.piece_bytes_max);
        (1..=longest).rev().find_map(|length| {
            let piece = known.get(text.get(..length)?)?;
            Some((length, *piece))
        })
    }
}

#[derive(Debug, Default)]
struct Word {
    text: String,
    chars: usize,
    pieces: Vec<u32>,
}

impl Word {
    fn push(&mut self, char: char) {
        self.chars += 1;
        // Letters beyond the limit are only counted.
        if self.chars <= WORD_CHARS_MAX {
            self.text.push(char);
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.chars = 0;
        self.pieces.clear();
    }
}

fn kind(char: char) -> Kind {
    if char.is_ascii() {
        return match char {
            '\t' | '\n' | '\r' | ' ' => Kind::Space,
            _ if char.is_ascii_control() => Kind::Dropped,
            _ if char.is_ascii_punctuation() => Kind::Alone,
            _ => Kind::Letter,
        };
    }
    if char.is_whitespace() {
        return Kind::Space;
    }
    if is_ideograph(char) {
        return Kind::Alone;
    }
    match category(char) {
        GeneralCategory::Control
        | GeneralCategory::Format
        | GeneralCategory::PrivateUse
        | GeneralCategory::Surrogate
        | GeneralCategory::Unassigned => Kind::Dropped,
        GeneralCategory::ConnectorPunctuation
        | GeneralCategory::DashPunctuation
        | GeneralCategory::OpenPunctuation
        | GeneralCategory::ClosePunctuation
        | GeneralCategory::InitialPunctuation
        | GeneralCategory::FinalPunctuation
        | GeneralCategory::OtherPunctuation
        | GeneralCategory::MathSymbol
        | GeneralCategory::CurrencySymbol
        | GeneralCategory::ModifierSymbol
        | GeneralCategory::OtherSymbol => Kind::Alone,
        _ => Kind::Letter,
    }
}

fn category(char: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(char)
}

fn is_accent(char: char) -> bool {
    !char.is_ascii() && category(char) == GeneralCategory::NonspacingMark
}

/// Ideographs of Chinese origin are written without spaces.
const fn is_ideograph(char: char) -> bool {
    matches!(char,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2ebef}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VOCABULARY: &str =
        "[PAD]\n[UNK]\nun\n##aff\n##able\naffable\n##s\ncafe\n!\n$\n水\n火\nred\nb\n##b\na\nकुरत\n##ा\n'";

    fn pieces(text: &str) -> Vec<&'static str> {
        let (pieces, lines) = (WordPieces::new(VOCABULARY), VOCABULARY.lines().collect::<Vec<_>>());
        let mut found = Vec::new();
        pieces.each(text, 64, |piece| found.push(lines[piece as usize]));
        found
    }

    #[test]
    fn words_are_the_longest_pieces_from_left_to_right() {
        assert_eq!(pieces("unaffable"), ["un", "##aff", "##able"]);
        assert_eq!(pieces("affable affables"), ["affable", "affable", "##s"]);
        assert_eq!(pieces("UNAFFABLE\tRed\n"), ["un", "##aff", "##able", "red"]);
        // A piece that starts a word cannot continue a word, and a `##` piece cannot start one.
        assert_eq!(pieces("unred able"), [""; 0]);
    }

    #[test]
    fn a_word_with_an_unknown_piece_or_too_many_letters_gives_nothing() {
        assert_eq!(pieces("affablez red"), ["red"]);
        assert_eq!(pieces(&format!("{} red", "b".repeat(100))).len(), 64);
        assert_eq!(pieces(&format!("{} red", "b".repeat(101))), ["red"]);
    }

    #[test]
    fn accents_case_controls_and_punctuation_are_bert_s() {
        assert_eq!(pieces("Café CAFE\u{301}"), ["cafe", "cafe"]);
        assert_eq!(
            pieces("red!$unaffable's"),
            ["red", "!", "$", "un", "##aff", "##able", "'"]
        );
        assert_eq!(pieces("r\u{0}e\u{200b}d\u{7f}"), ["red"]);
        assert_eq!(pieces("red\u{a0}red\u{2003}red"), ["red", "red", "red"]);
        assert_eq!(pieces("水火red"), ["水", "火", "red"]);
        // An unknown punctuation mark does not affect the word before it.
        assert_eq!(pieces("red™ red\u{2014}red"), ["red", "red", "red"]);
        assert_eq!(pieces("[PAD] [UNK]"), [""; 0]);
        assert_eq!(pieces(""), [""; 0]);
    }

    #[test]
    fn no_more_pieces_are_told_than_wanted() {
        let (pieces, mut count) = (WordPieces::new(VOCABULARY), 0);
        pieces.each(&"red ".repeat(1000), 64, |_| count += 1);
        assert_eq!(count, 64);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_within_the_limit(text in any::<String>(), limit in 0_usize..9) {
            let (pieces, mut count) = (WordPieces::new(VOCABULARY), 0);
            pieces.each(&text, limit, |_| count += 1);
            prop_assert!(count <= limit);
        }
    }
}
