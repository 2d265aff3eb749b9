use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum number of characters read from a text. They always suffice to identify a product.
const CHARS_MAX: usize = 300;
const PIECES_MAX: usize = 64;

/// A run of letters or a number in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) number: Option<f64>,
    /// `true` if nothing separates the piece from the previous one.
    pub(crate) is_glued: bool,
    /// `true` if only a hyphen separates the piece from the previous one.
    pub(crate) is_hyphened: bool,
}

/// Splits a text into lowercase words and numbers, and removes accents from Latin letters. `t20` becomes `t` and `20`,
/// `%` becomes a word, and `"` after a number becomes `in`. A `+` at the end of a word or before a number becomes
/// `plus`. Apostrophes within words are removed.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    pieces_until(text, |_| false)
}

/// Returns the first pieces of a text, until `is_enough` returns `true`.
pub(crate) fn pieces_until(text: &str, is_enough: impl Fn(&[Piece]) -> bool) -> Vec<Piece> {
    let folded = folded(text);
    let mut found: Vec<Piece> = Vec::new();
    let (mut at, mut end) = (0, 0);
    while let Some(char) = folded.get(at).copied() {
        if found.len() >= PIECES_MAX || is_enough(&found) {
            break;
        }
        let start = at;
        let between = folded.get(end..start).unwrap_or_default();
        let (is_glued, is_hyphened) = (
            between.is_empty() && !found.is_empty(),
            matches!(between, ['-' | '\u{2010}' | '\u{2011}' | '\u{2013}']),
        );
        let after_number = is_glued && found.last().is_some_and(|piece| piece.number.is_some());
        let mut push = |text: String, number| {
            found.push(Piece {
                text,
                number,
                is_glued,
                is_hyphened,
            });
        };
        if char.is_ascii_digit() {
            let text = number_at(&folded, &mut at);
            let number = text.parse().ok();
            push(text, number);
        } else if is_letter(char) {
            push(word_at(&folded, &mut at), None);
        } else {
            at += 1;
            match char {
                '%' => push("%".to_owned(), None),
                '"' | '\u{201d}' | '\u{2033}' if after_number => push("in".to_owned(), None),
                '\u{2032}' if after_number => push("ft".to_owned(), None),
                '\u{d7}' => push("x".to_owned(), None),
                '+' => {
                    let run = 1 + folded.iter().skip(at).take_while(|char| **char == '+').count();
                    at += run - 1;
                    let next = folded.get(at);
                    let says_plus = if is_glued {
                        !next.is_some_and(|next| is_letter(*next) || next.is_ascii_digit())
                    } else {
                        next.is_some_and(char::is_ascii_digit)
                    };
                    // Any other `+` means `and`.
                    if !says_plus {
                        continue;
                    }
                    push("plus".repeat(run), None);
                }
                _ => continue,
            }
        }
        end = at;
    }
    found
}

fn folded(text: &str) -> Vec<char> {
    // Most titles are ASCII, and the steps below would not change them.
    if text.is_ascii() {
        let small = text.bytes().map(|byte| char::from(byte.to_ascii_lowercase()));
        return small.take(CHARS_MAX).collect();
    }
    text.nfkd()
        .filter(|char| !('\u{300}'..='\u{36f}').contains(char))
        .flat_map(char::to_lowercase)
        .take(CHARS_MAX)
        .collect()
}

fn is_letter(char: char) -> bool {
    char.is_alphabetic() || is_combining_mark(char)
}

/// Parses a number such as `1,000` or `2.5`, with a point between digits and commas before three digits.
fn number_at(text: &[char], at: &mut usize) -> String {
    let digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    let (mut number, mut has_point) = (String::new(), false);
    while let Some(char) = text.get(*at).copied() {
        let three = || (1..=3).all(|ahead| digit(*at + ahead)) && !digit(*at + 4);
        match char {
            '0'..='9' => number.push(char),
            '.' if !has_point && digit(*at + 1) => {
                has_point = true;
                number.push('.');
            }
            ',' if !has_point && three() => {}
            _ => break,
        }
        *at += 1;
    }
    number
}

/// Apostrophes between letters are dropped.
fn word_at(text: &[char], at: &mut usize) -> String {
    let mut word = String::new();
    while let Some(char) = text.get(*at).copied() {
        let is_apostrophe = matches!(char, '\'' | '\u{2019}' | '\u{b4}' | '`');
        let within = is_apostrophe && text.get(*at + 1).is_some_and(|next| is_letter(*next));
        if is_letter(char) {
            word.push(char);
        } else if !within {
            break;
        }
        *at += 1;
    }
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<String> {
        pieces(text).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn letters_and_digits_are_apart() {
        assert_eq!(texts("Nova T20 Pro"), ["nova", "t", "20", "pro"]);
        assert_eq!(
            texts("Men's Café-Tee 10\" 2.5L 5%"),
            ["mens", "cafe", "tee", "10", "in", "2.5", "l", "5", "%"]
        );
        assert_eq!(texts("10,000mAh, 16×16"), ["10000", "mah", "16", "x", "16"]);
        assert_eq!(texts("हल्दी पाउडर 50 g"), ["हल्दी", "पाउडर", "50", "g"]);
    }

    #[test]
    fn a_plus_sign_is_a_word_where_it_is_part_of_a_name_and_else_joins() {
        assert_eq!(texts("Nova T20+ Earbuds"), ["nova", "t", "20", "plus", "earbuds"]);
        assert_eq!(texts("SPF50+ (PA+++)"), ["spf", "50", "plus", "pa", "plusplusplus"]);
        assert_eq!(texts("Glasses +1.5"), ["glasses", "plus", "1.5"]);
        for joined in ["Kurta + Dupatta", "Kurta+Dupatta", "Kurta +Dupatta"] {
            assert_eq!(texts(joined), ["kurta", "dupatta"], "{joined}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_divided(text in any::<String>()) {
            prop_assert!(pieces(&text).len() <= PIECES_MAX);
        }

        #[test]
        fn what_is_enough_is_a_beginning_of_the_whole(text in "\\PC{0,20}( (and|[a-zA-Z0-9.,'%+-]{1,9})){0,8}", enough in 0..6_usize) {
            let (begun, whole) = (pieces_until(&text, |found| found.len() >= enough), pieces(&text));
            prop_assert_eq!(&begun[..], &whole[..enough.min(whole.len())]);
        }
    }
}
