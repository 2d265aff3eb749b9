use std::borrow::Cow;

use data_text::{Analysis, analyse, plain_words};

use super::tuning;
use crate::lexical::{Correction, Synonym};

/// Returns the text that is embedded for a query. Corrections replace words that no product has. The completion
/// replaces the last word, unless that is a common word. The first synonym replaces words that the embedder does not
/// know, such as Hindi words.
pub(super) fn text<'a>(
    text: &'a str,
    corrections: &[Correction],
    synonyms: &[Synonym],
    completed: Option<&Correction>,
) -> Cow<'a, str> {
    let completed = completed.filter(|completed| !data_embedding::is_word(&completed.from));
    let strange = |synonym: &&Synonym| !synonym.of.split(' ').all(data_embedding::is_word);
    let translated: Vec<&Synonym> = synonyms.iter().filter(strange).collect();
    if corrections.is_empty() && completed.is_none() && translated.is_empty() {
        return text.into();
    }
    // Only whole words are replaced, because one word may be a substring of another.
    let mut words: Vec<String> = plain_words(text);
    let mended = corrections
        .iter()
        .chain(completed)
        .map(|mended| (&mended.from, &mended.to));
    let translated = translated.into_iter().map(|synonym| (&synonym.of, &synonym.to));
    for (from, to) in mended.chain(translated) {
        let from: Vec<&str> = from.split(' ').collect();
        let found = words.windows(from.len()).position(|words| words == from);
        if let Some(at) = found {
            words.splice(at..at + from.len(), [to.clone()]);
        }
    }
    words.join(" ").into()
}

/// A shorter word looks like random letters.
const WRITTEN_CHARS_MIN: usize = 3;

/// Returns the minimum similarity of a product found only by meaning. It is lower for a text with a meaning, of which
/// at least half of the relevant words are known. Words for people, occasions and grammar are not relevant. A text with
/// only such words also gets the lower minimum.
pub(super) fn alone_min(text: &str) -> f32 {
    let is_written = |word: &str| word.chars().count() >= WRITTEN_CHARS_MIN && data_embedding::is_word(word);
    let (plain, stems) = (analyse(Analysis::Plain, text), analyse(Analysis::Stemmed, text));
    let stem_at = |position| stems.iter().find(|stem| stem.position == position);
    let (mut names, mut written) = (0, 0);
    for word in plain.iter().filter(|word| !data_understanding::is_kept(&word.text)) {
        let stem = stem_at(word.position);
        names += 1;
        written += usize::from(is_written(&word.text) || stem.is_some_and(|stem| is_written(&stem.text)));
    }
    if !plain.is_empty() && 2 * written >= names {
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
            text(query, &corrections, &[], None).into_owned()
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
        let synonyms = [("neela", "blue"), ("red", "burgundy")].map(|(of, to)| Synonym {
            of: of.to_owned(),
            to: to.to_owned(),
        });
        // Only words without a meaning for the embedder are translated.
        assert_eq!(text("neela dress", &[], &synonyms, None), "blue dress");
        assert_eq!(text("Red dress", &[], &synonyms, None), "red dress");
        assert_eq!(text("Red dress", &[], &synonyms[1..], None), "Red dress");
        let completed = |from: &str, to: &str| Correction {
            from: from.to_owned(),
            to: to.to_owned(),
        };
        assert_eq!(
            text("Red dres", &[], &[], Some(&completed("dres", "dress"))),
            "red dress"
        );
        assert_eq!(
            text("buy online", &[], &[], Some(&completed("online", "onlineshop"))),
            "buy online"
        );
    }
}
