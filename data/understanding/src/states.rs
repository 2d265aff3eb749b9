use super::Meaning;
use super::sentence::Sentence;
use super::tables::TABLES;

/// How far behind a negation a state may begin: `not in stock`, `but not on sale`.
const NEGATED_MAX: usize = 2;

/// Reads in which state a thing should be: `shirts on sale`. What is negated is left to the rules of negation.
pub(super) fn read(sentence: &mut Sentence<'_>) {
    let mut at = 0;
    while let Some(rest) = sentence.tokens.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((words, state)) = TABLES.states.at(rest) else {
            at += 1;
            continue;
        };
        let (end, meaning) = (at + words, state.clone());
        let is_negated = (1..=NEGATED_MAX).any(|back| {
            let before = at.checked_sub(back).and_then(|from| sentence.tokens.get(from..at));
            before.is_some_and(|before| TABLES.is_negation(before))
        });
        if !is_negated {
            sentence.read(at..end, meaning);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::NoBrands;

    fn states(text: &str) -> (String, Vec<(String, Meaning)>) {
        let understood = crate::read(text, &NoBrands);
        let parts = understood.parts.into_iter().map(|part| (part.text, part.meaning));
        (understood.text, parts.collect())
    }

    fn state(text: &str) -> (String, Option<Meaning>) {
        let (left, parts) = states(text);
        let mut read = parts.into_iter().map(|(_, meaning)| meaning);
        (
            left,
            read.find(|meaning| matches!(meaning, Meaning::OnSale | Meaning::InStock)),
        )
    }

    #[test]
    fn what_is_on_sale_or_in_stock_is_read_and_taken_out_of_the_text() {
        for (text, left, meaning) in [
            ("shirts on sale", "shirts", Meaning::OnSale),
            ("On-Sale shirts", "shirts", Meaning::OnSale),
            ("discounted running shoes", "running shoes", Meaning::OnSale),
            ("deals on headphones", "headphones", Meaning::OnSale),
            ("discount wali saree", "saree", Meaning::OnSale),
            ("coffee in stock", "coffee", Meaning::InStock),
            ("mugs back in stock", "mugs", Meaning::InStock),
            ("on sale", "", Meaning::OnSale),
        ] {
            assert_eq!(state(text), (left.to_owned(), Some(meaning)), "{text}");
        }
    }

    #[test]
    fn a_state_stands_beside_what_else_is_asked_for() {
        let (left, parts) = states("red kurta on sale under 1000 not black");
        assert_eq!(left, "red kurta");
        let texts: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["on sale", "under 1000", "not black"]);
    }

    #[test]
    fn what_is_negated_quoted_or_means_something_else_is_no_state() {
        for text in [
            "kurta not on sale",
            "sign \"on sale\"",
            "vegetable stock",
            "sale sign",
            "kurta not in stock",
        ] {
            assert_eq!(state(text).1, None, "{text}");
        }
    }
}
