use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Latin letters that are no letter of ASCII with a mark, small ones.
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

/// A small text without the accents of its Latin letters: `crème` → `creme`, `straße` → `strasse`. Other scripts stay.
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
