use std::borrow::Cow;

use data_index::text::{Analysis, analyse};

use super::tuning;
use crate::lexical::Correction;

/// The text that a query's meaning is read from: its mended words stand in place of those that no product holds, and so
/// does what its last word was completed to, unless people write that word as it is.
pub(super) fn text<'a>(text: &'a str, corrections: &[Correction], completed: Option<&Correction>) -> Cow<'a, str> {
    let completed = completed.filter(|completed| !data_embedding::is_word(&completed.from));
    if corrections.is_empty() && completed.is_none() {
        return text.into();
    }
    // Word by word: letters of one word may well stand within another.
    let mut words: Vec<String> = analyse(Analysis::Plain, text)
        .into_iter()
        .map(|word| word.text)
        .collect();
    for correction in corrections.iter().chain(completed) {
        let from: Vec<&str> = correction.from.split(' ').collect();
        let found = words.windows(from.len()).position(|words| words == from);
        if let Some(at) = found {
            words.splice(at..at + from.len(), [correction.to.clone()]);
        }
    }
    words.join(" ").into()
}

/// Fewest letters of a word that is not written by chance.
const WRITTEN_CHARS_MIN: usize = 3;

/// How near a product must be that its meaning alone speaks for, where words find none: where at least half of the query's
/// words are words, it means something.
pub(super) fn alone_min(text: &str) -> f32 {
    let is_written = |word: &str| {
        word.chars().count() >= WRITTEN_CHARS_MIN
            && (data_embedding::is_word(word) || data_understanding::is_kept(word))
    };
    let (plain, stems) = (analyse(Analysis::Plain, text), analyse(Analysis::Stemmed, text));
    let stem_at = |position| stems.iter().find(|stem| stem.position == position);
    let written = plain
        .iter()
        .filter(|word| is_written(&word.text) || stem_at(word.position).is_some_and(|stem| is_written(&stem.text)));
    if !plain.is_empty() && 2 * written.count() >= plain.len() {
        tuning::COSINE_MIN
    } else {
        tuning::COSINE_ALONE_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_mended_where_they_stand_and_not_within_others() {
        let mended = |query: &str, corrections: &[(&str, &str)]| {
            let corrections: Vec<_> = corrections
                .iter()
                .map(|(from, to)| Correction {
                    from: (*from).to_owned(),
                    to: (*to).to_owned(),
                })
                .collect();
            text(query, &corrections, None).into_owned()
        };
        assert_eq!(
            mended("Candel candelabra", &[("candel", "candle")]),
            "candle candelabra"
        );
        assert_eq!(
            mended("choco-late  gift", &[("choco late", "chocolate")]),
            "chocolate gift"
        );
        assert_eq!(mended("Crème brûllée", &[("brullee", "brulee")]), "creme brulee");
        assert_eq!(mended("As It  Is!", &[]), "As It  Is!");
        let completed = |from: &str, to: &str| Correction {
            from: from.to_owned(),
            to: to.to_owned(),
        };
        assert_eq!(text("Red dres", &[], Some(&completed("dres", "dress"))), "red dress");
        assert_eq!(
            text("buy online", &[], Some(&completed("online", "onlineshop"))),
            "buy online"
        );
    }
}
