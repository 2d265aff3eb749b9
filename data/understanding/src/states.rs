use super::Meaning;
use super::sentence::Sentence;
use super::tables::{State, TABLES};
use super::tokens::Token;

/// Maximum number of words of a negator, such as `other than` or `any colour but`.
const NEGATOR_MAX: usize = 5;

/// Reads the required state of the product, as in `shirts on sale`. The negation rules handle a negated state.
pub(super) fn read(sentence: &mut Sentence<'_>) {
    let mut at = 0;
    while let Some(rest) = sentence.tokens.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((words, state)) = TABLES.states.at(rest) else {
            at += 1;
            continue;
        };
        let end = at + words;
        // In `slip-on sale`, `on` is half of another word.
        let is_half = rest.first().is_some_and(|token| token.is_joined);
        let meaning = match state {
            State::Is(meaning) => Some(meaning.clone()),
            State::Last if ends_text(sentence, at, end) => Some(Meaning::OnSale),
            State::Last | State::Name => None,
        };
        if let Some(meaning) = meaning.filter(|_| !is_half && !is_negated(&sentence.tokens, at, end)) {
            sentence.read(at..end, meaning);
        }
        at = end;
    }
}

/// Returns true if the tokens are the last meaningful words, with others before them.
fn ends_text(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    let is_open = |at: &usize| sentence.is_content(*at);
    (0..at).any(|at| is_open(&at)) && !(end..sentence.tokens.len()).any(|at| is_open(&at))
}

/// Returns true if a negation ends where these tokens begin, or begins where they end, as in `not in stock` and `sale
/// mein nahi`.
fn is_negated(tokens: &[Token], at: usize, end: usize) -> bool {
    let ends = |back: usize| {
        let before = at.checked_sub(back).and_then(|from| tokens.get(from..at));
        before.is_some_and(|before| TABLES.negators.at(before).is_some_and(|(words, _)| words == back))
    };
    let follows = || {
        tokens
            .get(end..)
            .is_some_and(|behind| TABLES.negators_behind.at(behind).is_some())
    };
    let is_minus = tokens.get(at).is_some_and(|token| token.is_minus);
    is_minus || (1..=NEGATOR_MAX).any(ends) || follows()
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
            ("shoes at a discounted price", "shoes", Meaning::OnSale),
            ("deals on headphones", "headphones", Meaning::OnSale),
            ("ugmonk sale", "ugmonk", Meaning::OnSale),
            ("air fryer deals under 5000", "air fryer", Meaning::OnSale),
            ("discount wali saree", "saree", Meaning::OnSale),
            ("sugar free chocolate on sale", "sugar free chocolate", Meaning::OnSale),
            ("coffee in stock", "coffee", Meaning::InStock),
            ("mugs back in stock", "mugs", Meaning::InStock),
            ("on sale", "", Meaning::OnSale),
        ] {
            assert_eq!(state(text), (left.to_owned(), Some(meaning)), "{text}");
        }
    }

    #[test]
    fn a_state_stands_beside_what_else_is_asked_for() {
        for text in [
            "red kurta on sale under 1000 not black",
            "red kurta not black on sale under 1000",
        ] {
            let (left, parts) = states(text);
            assert_eq!(left, "red kurta", "{text}");
            let mut texts: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
            texts.sort_unstable();
            assert_eq!(texts, ["not black", "on sale", "under 1000"], "{text}");
        }
    }

    #[test]
    fn what_is_negated_quoted_or_means_something_else_is_no_state() {
        for text in [
            "kurta not on sale",
            "kurta not in stock",
            "kurta sale mein nahi chahiye",
            "shoes -discounted",
            "sign \"on sale\"",
            "vegetable stock",
            "sale",
            "sale tags",
            "yard sale",
            "slip-on sale",
            "shoes with a discount code",
            "bikes for sale on emi",
        ] {
            assert_eq!(state(text).1, None, "{text}");
        }
    }

    #[test]
    fn what_is_only_to_be_bought_is_left_out_and_a_sign_is_not() {
        assert_eq!(states("bikes for sale").0, "bikes");
        assert_eq!(states("for sale sign").0, "for sale sign");
    }
}
