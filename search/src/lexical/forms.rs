use super::group::{GroupWord, TermGroup, TermVariant};
use super::index::TextIndex;
use super::synonyms::Synonym;
use super::term::QueryTerm;
use super::terms::QueryTerms;

/// Weight of a match of another spelling, relative to the query's own.
const FACTOR: f32 = 0.8;
/// Minimum number of letters of a word that may be split in two, and of each half.
const WORD_CHARS_MIN: usize = 6;
const HALF_CHARS_MIN: usize = 3;
/// Minimum number of letters and digits of a code that is written with spaces.
const CODE_CHARS_MIN: usize = 4;
/// Maximum number of pieces of a code that is split between letters and digits.
const PIECES_MAX: usize = 4;

/// Adds spellings in one word and in two: `lightbulb` for `light bulb` and the reverse, `cr2032` for `cr 2032`, and `3
/// light` for `3light`. Returns the added spellings. `is_held` is true for words that products have.
pub(super) fn add(
    index: &TextIndex,
    terms: &QueryTerms,
    groups: &mut [TermGroup],
    is_held: impl Fn(&str) -> bool,
) -> Vec<Synonym> {
    let mut added = Vec::new();
    let terms: Vec<&QueryTerm> = terms.iter().collect();
    for (at, pair) in terms.windows(2).enumerate() {
        let [one, other] = pair else { continue };
        let joined = format!("{}{}", one.plain, other.plain);
        let is_known = if is_letters(one) && is_letters(other) {
            index.vocabulary.count(&joined) > 0
        } else {
            is_code(one, other) && is_held(&QueryTerm::of_word(&joined, one.position).stemmed)
        };
        if one.position + 1 != other.position || !is_known {
            continue;
        }
        let word = GroupWord::of(&QueryTerm::of_word(&joined, one.position));
        let of = format!("{} {}", one.plain, other.plain);
        tell(&mut added, Synonym { of, to: joined });
        for group in groups.iter_mut().skip(at).take(2) {
            group.variants.push(TermVariant {
                words: vec![word.clone()],
                factor: FACTOR,
                is_apart: false,
            });
        }
    }
    for (term, group) in terms.iter().zip(groups) {
        let words = if is_letters(term) {
            halves(index, term, &is_held)
        } else {
            pieces(term, &is_held)
        };
        let Some(words) = words else { continue };
        let (of, to) = (term.plain.clone(), words.join(" "));
        tell(&mut added, Synonym { of, to });
        let words = words
            .iter()
            .map(|word| GroupWord::of(&QueryTerm::of_word(word, term.position)));
        group.variants.push(TermVariant {
            words: words.collect(),
            factor: FACTOR,
            is_apart: false,
        });
    }
    added
}

fn is_letters(term: &QueryTerm) -> bool {
    term.plain.chars().all(char::is_alphabetic)
}

/// Returns true if letters and digits meet between the two words, and both together are long enough for a code.
fn is_code(one: &QueryTerm, other: &QueryTerm) -> bool {
    let ends = one.plain.chars().next_back().map(|char| char.is_ascii_digit());
    let begins = other.plain.chars().next().map(|char| char.is_ascii_digit());
    let plain = |term: &QueryTerm| term.plain.chars().all(char::is_alphanumeric);
    let chars = one.plain.chars().count() + other.plain.chars().count();
    ends != begins && plain(one) && plain(other) && chars >= CODE_CHARS_MIN
}

/// A word that products have is split only if both halves are common words.
fn halves<'a>(index: &TextIndex, term: &'a QueryTerm, is_held: &impl Fn(&str) -> bool) -> Option<Vec<&'a str>> {
    if term.plain.chars().count() < WORD_CHARS_MIN {
        return None;
    }
    let held = is_held(&term.stemmed);
    let is_half = |half: &str| !held || data_embedding::is_word(half);
    let (one, other) = index.vocabulary.split(&term.plain, HALF_CHARS_MIN, is_half)?;
    Some(vec![one, other])
}

/// Splits a code that no product has, between letters and digits, into shorter codes that products have. A split into
/// two codes is preferred.
fn pieces<'a>(term: &'a QueryTerm, is_held: &impl Fn(&str) -> bool) -> Option<Vec<&'a str>> {
    let word = &*term.plain;
    if !word.chars().all(char::is_alphanumeric) || is_held(&term.stemmed) {
        return None;
    }
    let places: Vec<usize> = word
        .char_indices()
        .zip(word.chars().skip(1))
        .filter(|((_, one), other)| one.is_ascii_digit() != other.is_ascii_digit())
        .map(|((at, one), _)| at + one.len_utf8())
        .collect();
    if places.is_empty() || places.len() >= PIECES_MAX {
        return None;
    }
    let cut = |places: &[usize]| {
        let bounds = std::iter::once(0).chain(places.iter().copied());
        let ends = places.iter().copied().chain([word.len()]);
        let piece = |(from, to)| {
            let piece = word.get(from..to)?;
            // The short form is rarely written separately from the number.
            Some(if piece == "pk" { "pack" } else { piece })
        };
        let pieces: Option<Vec<&str>> = bounds.zip(ends).map(piece).collect();
        let known = |piece: &&str| is_held(&QueryTerm::of_word(piece, term.position).stemmed);
        pieces.filter(|pieces| pieces.iter().all(known))
    };
    places.iter().find_map(|at| cut(&[*at])).or_else(|| cut(&places))
}

/// Records a spelling once, even if the query has it several times.
pub(super) fn tell(added: &mut Vec<Synonym>, spelling: Synonym) {
    if !added.contains(&spelling) {
        added.push(spelling);
    }
}
