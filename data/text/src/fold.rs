use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Lowercase Latin letters that do not decompose into an ASCII letter and a mark.
const LETTERS: &[(char, &str)] = &[
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ł', "l"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ŋ', "n"),
    ('ŧ', "t"),
    ('ə', "a"),
    ('ƒ', "f"),
];

/// Removes the accents of Latin letters from a lowercase text: `crème` → `creme`, `straße` → `strasse`. Characters of
/// other scripts are unchanged.
pub(super) fn without_accents(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        let letter = std::iter::once(char).nfd().next().unwrap_or(char);
        match LETTERS.iter().find(|(from, _)| *from == letter) {
            Some((_, to)) => plain.push_str(to),
            None if letter.is_ascii() => plain.push(letter),
            None => plain.push(char),
        }
    }
    plain.into()
}

/// Returns the form in which values are compared: compatibility-normalised, lowercase, with white space folded.
#[must_use]
pub fn fold_value(value: &str) -> String {
    if !value.is_ascii() {
        // Some characters decompose to a space and another character. The second normalisation makes the folding
        // idempotent.
        let plain: String = value.nfkc().flat_map(char::to_lowercase).nfkc().collect();
        return plain.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let mut folded = String::with_capacity(value.len());
    for word in value.split_ascii_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().map(|char| char.to_ascii_lowercase()));
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_folded_value_finds_what_was_folded() {
        for (value, folded) in [
            (" Navy  Blue ", "navy blue"),
            ("\u{b4}47 Brand", "\u{301}47 brand"),
            ("ＸＬ", "xl"),
            ("Größe\u{a0}M", "größe m"),
        ] {
            assert_eq!(fold_value(value), folded, "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(value in "\\PC{0,12}") {
            let folded = fold_value(&value);
            prop_assert_eq!(fold_value(&folded), folded);
        }
    }
}
