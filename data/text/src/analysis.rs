use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::fold::without_accents;
use super::words::{self, Mode, Token};

/// Terms of this many bytes or more are not indexed, because no user types them.
const TERM_BYTES_MAX: usize = 64;
/// Codes of this many bytes or more are not indexed. A handle has up to 255 letters on the platform, each of at most
/// four bytes.
const CODE_BYTES_MAX: usize = 1_024;

/// Methods to turn the text of a field into terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Analysis {
    /// Folded words, stemmed as English.
    Stemmed,
    /// Folded words, not stemmed.
    Plain,
    /// The whole value as one folded term of letters and digits: see [`code_of`].
    Code,
}

/// Term of a query, in the form that the index contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Text of the term.
    pub text: String,
    /// Position among the terms of the query.
    pub position: u32,
    /// Byte range of the term in the query.
    pub offsets: std::ops::Range<usize>,
}

impl Analysis {
    fn tokens(self, mode: Mode, text: &str) -> Vec<Token> {
        let (mut tokens, bytes_max) = match self {
            Self::Stemmed | Self::Plain => (words::tokens(mode, text), TERM_BYTES_MAX),
            Self::Code => (code(text).into_iter().collect(), CODE_BYTES_MAX),
        };
        tokens.retain(|token| token.text.len() < bytes_max);
        for token in &mut tokens {
            if let Cow::Owned(plain) = without_accents(&token.text) {
                token.text = plain;
            }
            if self == Self::Stemmed {
                token.text = stem(&token.text);
            }
        }
        tokens
    }
}

/// Returns `None` if the value has no letters or digits.
fn code(text: &str) -> Option<Token> {
    // Longer codes are dropped, so that this limits the work.
    let letters = text.chars().take(CODE_BYTES_MAX).nfkc().flat_map(char::to_lowercase);
    let code: String = letters.filter(|char| char.is_alphanumeric()).collect();
    (!code.is_empty()).then_some(Token {
        text: code,
        position: 0,
        offsets: 0..text.len(),
        is_main: true,
    })
}

/// Returns the terms of a query text in text order, one per position. Reads at most 64 words.
#[must_use]
pub fn analyse(analysis: Analysis, text: &str) -> Vec<Term> {
    let tokens = analysis.tokens(Mode::Query, text).into_iter();
    let terms = tokens.map(|token| Term {
        text: token.text,
        position: u32::try_from(token.position).unwrap_or(u32::MAX),
        offsets: token.offsets,
    });
    terms.collect()
}

/// Returns the stems of a query text, as in [`analyse`].
#[must_use]
pub fn stems(text: &str) -> Vec<String> {
    terms(Analysis::Stemmed, text)
}

/// Returns the folded words of a query text, as in [`analyse`].
#[must_use]
pub fn plain_words(text: &str) -> Vec<String> {
    terms(Analysis::Plain, text)
}

fn terms(analysis: Analysis, text: &str) -> Vec<String> {
    let tokens = analysis.tokens(Mode::Query, text).into_iter();
    tokens.map(|token| token.text).collect()
}

/// Returns the folded words of a text to be indexed, in all forms that a query may look up.
#[must_use]
pub fn indexed_words(text: &str) -> Vec<Token> {
    Analysis::Plain.tokens(Mode::Index, text)
}

/// Returns the stem of a folded English word.
#[must_use]
pub fn stem(word: &str) -> String {
    Stemmer::new(Algorithm::English).stem(word).into_owned()
}

/// Returns the code of a whole value: its letters and digits, lowercase, without accents and separators (`AB-12/34` →
/// `ab1234`). Returns `None` if the code is empty or too long to be indexed.
#[must_use]
pub fn code_of(value: &str) -> Option<String> {
    analyse(Analysis::Code, value).pop().map(|term| term.text)
}

/// Returns the letters and digits of a text, lowercase and without Latin accents. Whole texts, titles and names are
/// compared in this form.
#[must_use]
pub fn letters_of(text: &str) -> Cow<'_, str> {
    if !text.is_ascii()
        && let Some(code) = code_of(text)
    {
        return code.into();
    }
    let letters = text.chars().filter(|char| char.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(analysis: Analysis, text: &str) -> String {
        terms(analysis, text).join(" ")
    }

    fn indexed(text: &str) -> String {
        let tokens = indexed_words(text);
        let words: Vec<_> = tokens
            .iter()
            .map(|token| format!("{}@{}", token.text, token.position))
            .collect();
        words.join(" ")
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        assert_eq!(joined(Analysis::Plain, "Crème BRÛLÉE Café"), "creme brulee cafe");
        assert_eq!(joined(Analysis::Plain, "cafe\u{301} ＡＢＣ"), "cafe abc");
        assert_eq!(joined(Analysis::Stemmed, "Men’s running SHOES"), "men run shoe");
        assert_eq!(joined(Analysis::Stemmed, "mens runs shoe"), "men run shoe");
        assert_eq!(joined(Analysis::Plain, "कॉटन कुर्ता"), "कॉटन कुर्ता");
        assert_eq!(joined(Analysis::Plain, "H&M  --  (new!)"), "h m new");
        // The variation selector for coloured symbols is not a word.
        assert_eq!(joined(Analysis::Plain, "mug ☕\u{fe0f} ❤\u{fe0f}"), "mug");
    }

    #[test]
    fn a_number_with_its_unit_is_one_term_however_written() {
        for text in ["3 m", "3m", "3-metre", "3 meters", "3 Mtrs", "3.0 m"] {
            assert_eq!(joined(Analysis::Plain, text), "3m", "{text}");
        }
        assert_eq!(
            joined(Analysis::Plain, "0.5 kg, 1,000 ml and 12V"),
            "0.5kg 1000ml and 12v"
        );
        assert_eq!(joined(Analysis::Plain, "2 in 1"), "2 in 1");
        assert_eq!(joined(Analysis::Plain, "15in 15 inches"), "15in 15in");
        assert_eq!(
            joined(Analysis::Plain, "15 in. deep, 15\" 15'' 6' 6 ft"),
            "15in deep 15in 15in 6ft 6ft"
        );
        assert_eq!(joined(Analysis::Plain, "8 in x 10 in"), "8in x 10in");
        assert_eq!(joined(Analysis::Plain, "men's 5 in 1, 7 in.5"), "mens 5 in 1 7 in 5");
        assert_eq!(joined(Analysis::Plain, "iphone15 v2"), "iphone15 v2");
    }

    #[test]
    fn a_decimal_comma_is_a_decimal_point() {
        for text in ["0,75 l", "0.75 l", "0,75l", "0,750 L"] {
            assert_eq!(joined(Analysis::Plain, text), "0.75l", "{text}");
        }
        assert_eq!(
            joined(Analysis::Plain, "1,5L 1.234,50 g 1,234 ml"),
            "1.5l 1234.5g 1234ml"
        );
    }

    #[test]
    fn a_fraction_is_the_number_that_it_is() {
        assert_eq!(
            joined(Analysis::Plain, "1/4 in. 0.25 inch 1/4\""),
            "0.25in 0.25in 0.25in"
        );
        assert_eq!(joined(Analysis::Plain, "1-1/2 in. 1 1/2 1.5"), "1.5in 1.5 1.5");
        assert_eq!(joined(Analysis::Plain, "3/32 24/7 50/50 7/2"), "0.0938 24 7 50 50 7 2");
        assert_eq!(
            joined(Analysis::Plain, "12/2024 1/2/3 x3/4 1//2"),
            "12 2024 0.5 3 x3 4 1 2"
        );
    }

    #[test]
    fn the_index_holds_pieces_too() {
        assert_eq!(indexed("3 meters cable"), "3m@0 3@0 meters@0 cable@1");
        assert_eq!(indexed("12x24 tile"), "12x24@0 12@0 24@0 tile@1");
        assert_eq!(
            indexed("12 in. x 24 in. tile"),
            "12in@0 12@0 in@0 12x24@0 x@1 24in@2 24@2 in@2 tile@3"
        );
        assert_eq!(indexed("1-1/2 in. pipe"), "1.5in@0 1.5@0 1@0 in@0 pipe@1");
        assert_eq!(indexed("15in"), "15in@0 15@0");
        assert_eq!(indexed("8000btu"), "8000btu@0 8000@0");
        assert_eq!(indexed("8000 BTU"), "8000btu@0 8000@0 btu@0");
        assert_eq!(indexed("T-Shirt red"), "tshirt@0 t@0 shirt@1 red@2");
        assert_eq!(joined(Analysis::Plain, "t-shirt"), "t shirt");
    }

    #[test]
    fn a_code_is_one_piece() {
        assert_eq!(code_of("AB-12/34 é").as_deref(), Some("ab1234e"));
        assert_eq!(code_of("--"), None);
        // A product handle has at most 255 letters.
        assert_eq!(code_of(&"x".repeat(255)).map(|code| code.len()), Some(255));
        assert_eq!(code_of(&"x".repeat(5_000)), None);
    }

    #[test]
    fn whole_texts_are_compared_by_letters_and_digits() {
        assert_eq!(letters_of("ASICS GEL-NYC"), letters_of("asics gel nyc"));
        assert_eq!(letters_of("Café Apron"), letters_of("cafe  apron!"));
        assert_ne!(letters_of("Face Mask"), letters_of("Face Masks"));
        assert_eq!(letters_of(" !? "), "");
        let long = "word ".repeat(40);
        assert_eq!(letters_of(&long), long.replace(' ', ""));
    }

    #[test]
    fn offsets_point_into_the_query() {
        let query = "Blue 500 grams été";
        let found: Vec<_> = analyse(Analysis::Plain, query)
            .iter()
            .map(|term| &query[term.offsets.clone()])
            .collect();
        assert_eq!(found, ["Blue", "500 grams", "été"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_terms_that_stand_in_it(text in ".{0,200}") {
            for analysis in [Analysis::Stemmed, Analysis::Plain, Analysis::Code] {
                let mut before = None;
                for term in analyse(analysis, &text) {
                    prop_assert!(text.get(term.offsets.clone()).is_some());
                    prop_assert!(before < Some(term.position));
                    before = Some(term.position);
                }
            }
        }

        #[test]
        fn what_is_indexed_is_found_by_the_same_text(text in "[a-zA-Z0-9 .,'éñ-]{0,80}") {
            let held = Analysis::Stemmed.tokens(Mode::Index, &text);
            let held: std::collections::BTreeSet<_> = held.into_iter().map(|token| token.text).collect();
            for term in analyse(Analysis::Stemmed, &text) {
                prop_assert!(held.contains(&term.text), "{:?} of {:?} not in {:?}", term.text, text, held);
            }
        }
    }
}
