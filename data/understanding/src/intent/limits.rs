use std::borrow::Cow;

use crate::tokenizer;
use crate::tokens::Token;

/// Words that reverse a bound, directly or with words of `SPENT` in between, as in `can't spend more than`.
const NEVER: [&str; 16] = [
    "never",
    "cant",
    "can't",
    "cannot",
    "dont",
    "don't",
    "wont",
    "won't",
    "shouldn't",
    "shouldnt",
    "nothing",
    "not",
    "no",
    "must",
    "doesn't",
    "isn't",
];
const SPENT: [&str; 14] = [
    "spend", "spending", "pay", "paying", "cost", "costing", "costs", "go", "going", "be", "want", "to", "not",
    "afford",
];
/// Maximum number of words between a bound and the word that reverses it.
const BETWEEN_MAX: usize = 4;

/// Rewrites bounds as price phrases state them. `can't spend more than 500` becomes `not more than 500`, `above 500 and
/// under 900` loses its `and`, and `neither` becomes `not`.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let tokens = tokenizer::cut(text);
    let mut plain = String::new();
    let mut from = 0;
    for at in 0..tokens.len() {
        let Some((start, end, words)) = turned(&tokens, at).or_else(|| joined(&tokens, at)) else {
            continue;
        };
        let place = |at: usize| tokens.get(at).map_or(text.len(), |token| token.at.start);
        if place(start) < from {
            continue;
        }
        plain.push_str(text.get(from..place(start)).unwrap_or_default());
        plain.push_str(words);
        from = place(end);
    }
    if from == 0 {
        return text.into();
    }
    plain.push_str(text.get(from..).unwrap_or_default());
    plain.into()
}

fn is(tokens: &[Token], at: usize, words: &[&str]) -> bool {
    tokens.get(at).is_some_and(|token| words.contains(&token.word.as_str()))
}

/// Returns a minimum that a negation turns into a maximum, as its token range and its new text.
fn turned(tokens: &[Token], at: usize) -> Option<(usize, usize, &'static str)> {
    if is(tokens, at, &["neither"]) {
        return Some((at, at + 1, "not "));
    }
    let words = if is(tokens, at, &["more", "higher", "greater", "costlier"]) && is(tokens, at + 1, &["than"]) {
        2
    } else if is(
        tokens,
        at,
        &["above", "over", "beyond", "exceed", "exceeding", "exceeds"],
    ) {
        1
    } else {
        return None;
    };
    let before = (1..=BETWEEN_MAX).map_while(|back| at.checked_sub(back));
    let never = before
        .take_while(|at| is(tokens, *at, &NEVER) || is(tokens, *at, &SPENT))
        .last()?;
    let is_never = (never..at).any(|at| is(tokens, at, &NEVER) && !is(tokens, at, &["must"]));
    let bound = at + words + usize::from(is(tokens, at + words, &["rs", "rs.", "inr", "₹", "$", "usd", "rupees"]));
    let is_amount = tokens.get(bound).is_some_and(|token| token.number.is_some());
    // `no more than` becomes `not more than` too.
    (is_never && is_amount).then_some((never, at + words, "not more than "))
}

/// Returns the `and` between two bounds, which would otherwise be read as `500 and under`.
fn joined(tokens: &[Token], at: usize) -> Option<(usize, usize, &'static str)> {
    let least = ["above", "over", "than", "least", "minimum", "min", "from", "beyond"];
    let most = [
        "under", "below", "less", "within", "upto", "max", "maximum", "at", "not",
    ];
    let before = tokens.get(at.checked_sub(1)?)?;
    let is_bound = (2..=3).any(|back| at.checked_sub(back).is_some_and(|at| is(tokens, at, &least)));
    let is_joined = is(tokens, at, &["and", "but"]) && before.number.is_some() && is_bound;
    let amount = (at + 2..=at + 4).any(|at| tokens.get(at).is_some_and(|token| token.number.is_some()));
    (is_joined && is(tokens, at + 1, &most) && amount).then_some((at, at + 1, ", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_are_turned_around_or_joined_stand_as_price_phrases_say_them() {
        for (text, said) in [
            ("I can't spend more than 2000", "I not more than 2000"),
            ("never above ₹500 please", "not more than ₹500 please"),
            ("it should not cost more than 900", "it should not more than 900"),
            ("must not exceed 700", "not more than 700"),
            ("above 1000 and under 3000", "above 1000 , under 3000"),
            ("at least 500 but not more than 900", "at least 500 , not more than 900"),
            ("neither black nor grey", "not black nor grey"),
            ("more than 500", "more than 500"),
            ("no more than 500", "not more than 500"),
            ("nothing over the top", "nothing over the top"),
            ("500 and under", "500 and under"),
        ] {
            assert_eq!(plain(text), said, "{text}");
        }
    }
}
