use super::group::{GroupWord, TermGroup, TermVariant};
use super::index::TextIndex;
use super::synonyms::Synonym;
use super::term::QueryTerm;
use super::terms::QueryTerms;

/// The worth of a match of the other spelling, beside one of the query's own.
const FACTOR: f32 = 0.8;
/// Fewest letters of a word that may be two, and of each of the two.
const WORD_CHARS_MIN: usize = 6;
const HALF_CHARS_MIN: usize = 3;
/// Fewest letters and digits of a code that is written apart.
const CODE_CHARS_MIN: usize = 4;
/// Pieces that a code is cut into at most, where letters meet digits.
const PIECES_MAX: usize = 4;

/// Adds the spellings in one word and in two: `lightbulb` for `light bulb`, and `light bulb` for `lightbulb`, `cr2032`
/// for `cr 2032`, and `3 light` for `3light`; answers those that it added. `is_held` is true for the words that
/// products have.
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

/// True where letters meet digits between the two words, and together they are long enough for a code.
fn is_code(one: &QueryTerm, other: &QueryTerm) -> bool {
    let ends = one.plain.chars().next_back().map(|char| char.is_ascii_digit());
    let begins = other.plain.chars().next().map(|char| char.is_ascii_digit());
    let plain = |term: &QueryTerm| term.plain.chars().all(char::is_alphanumeric);
    let chars = one.plain.chars().count() + other.plain.chars().count();
    ends != begins && plain(one) && plain(other) && chars >= CODE_CHARS_MIN
}

/// The two words that a long one is made of. One that products have is one word, unless people write both of the two.
fn halves<'a>(index: &TextIndex, term: &'a QueryTerm, is_held: &impl Fn(&str) -> bool) -> Option<Vec<&'a str>> {
    if term.plain.chars().count() < WORD_CHARS_MIN {
        return None;
    }
    let held = is_held(&term.stemmed);
    let is_half = |half: &str| !held || data_embedding::is_word(half);
    let (one, other) = index.vocabulary.split(&term.plain, HALF_CHARS_MIN, is_half)?;
    Some(vec![one, other])
}

/// The pieces of a code that no product has, cut where letters meet digits, where products have each: in two if that is
/// enough.
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
            // Its short form is hardly ever written apart from the number.
            Some(if piece == "pk" { "pack" } else { piece })
        };
        let pieces: Option<Vec<&str>> = bounds.zip(ends).map(piece).collect();
        let known = |piece: &&str| is_held(&QueryTerm::of_word(piece, term.position).stemmed);
        pieces.filter(|pieces| pieces.iter().all(known))
    };
    places.iter().find_map(|at| cut(&[*at])).or_else(|| cut(&places))
}

/// Takes note of a spelling once, however often the query has it.
pub(super) fn tell(added: &mut Vec<Synonym>, spelling: Synonym) {
    if !added.contains(&spelling) {
        added.push(spelling);
    }
}
