use std::borrow::Cow;

use data_index::text::{Analysis, analyse};

use crate::lexical::Correction;

/// The text that a query's meaning is read from: its mended words stand in place of those that no product holds.
pub(super) fn text<'a>(text: &'a str, corrections: &[Correction]) -> Cow<'a, str> {
    if corrections.is_empty() {
        return text.into();
    }
    // Word by word: letters of one word may well stand within another.
    let mut words: Vec<String> = analyse(Analysis::Plain, text)
        .into_iter()
        .map(|word| word.text)
        .collect();
    for correction in corrections {
        let from: Vec<&str> = correction.from.split(' ').collect();
        let found = words.windows(from.len()).position(|words| words == from);
        if let Some(at) = found {
            words.splice(at..at + from.len(), [correction.to.clone()]);
        }
    }
    words.join(" ").into()
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
            text(query, &corrections).into_owned()
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
    }
}
