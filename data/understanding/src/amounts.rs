use std::ops::Range;

use data_model::CurrencyCode;

use super::numerals;
use super::tables::{self, TABLES};
use super::tokens::Token;

/// An amount of money, or a number that may be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amount {
    /// Tokens of the number and of the words for its currency.
    pub(super) tokens: Range<usize>,
    pub(super) thousandths: u64,
    pub(super) currency: Option<CurrencyCode>,
    /// True if the word for the currency is also a unit of weight.
    pub(super) is_weight: bool,
}

/// Lower numbers without a currency are counts.
const PLAIN_MIN: u64 = 10_000;

/// With `in` and a word after it, a number of at least this many thousandths is not a length in inches.
const INCHES_MIN: u64 = 100_000;

/// Before these words and before colours, `in` is a preposition and not the unit inch.
const IN_WHAT: [&str; 13] = [
    "stock", "size", "cotton", "leather", "linen", "silk", "wool", "steel", "wood", "my", "the", "india", "any",
];

const WEIGHTS: [&str; 2] = ["pound", "pounds"];

/// Amounts may be in digits or spelled out.
pub(super) fn of(tokens: &[Token]) -> Vec<Amount> {
    let (mut amounts, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let found = number(tokens, at).map(|(thousandths, end)| (end, amount(tokens, at..end, thousandths)));
        at = found.as_ref().map_or(at + 1, |(end, _)| *end);
        amounts.extend(found.and_then(|(_, amount)| amount));
    }
    amounts
}

/// Returns a number in thousandths and the index of its end. Reads `500`, `2 hazar`, `do hazar` and the first number of
/// `2-3 hazar`.
fn number(tokens: &[Token], at: usize) -> Option<(u64, usize)> {
    let rest = tokens.get(at..)?;
    let free = rest.iter().take_while(|token| token.is_free()).count();
    if let Some((taken, Some(spelled))) = numerals::amount(rest.get(..free)?) {
        return Some((spelled, at + taken));
    }
    if let Some(tens) = numerals::tens(rest.get(..free)?) {
        return Some((tens.thousandths, at + tens.tokens));
    }
    let thousandths = rest.first().filter(|token| token.is_free())?.number?;
    if let Some(times) = numerals::range(tokens, at) {
        return Some((thousandths.saturating_mul(times), at + 1));
    }
    match rest.get(1).and_then(|token| tables::multiplier(&token.word)) {
        Some(times) => Some((thousandths.saturating_mul(times), at + 2)),
        None => Some((thousandths, at + 1)),
    }
}

/// Returns true if an `in` after a number is not the unit inch, as in `under 3000 in red`, which is too large for
/// inches, and `under 40 in black`.
fn is_preposition(tokens: &[Token], at: usize, thousandths: u64) -> bool {
    let is_in = tokens.get(at).is_some_and(|token| token.word == "in");
    let follows = tokens.get(at + 1).filter(|token| token.is_word());
    is_in
        && follows.is_some_and(|token| {
            let word = token.word.as_str();
            thousandths >= INCHES_MIN || IN_WHAT.contains(&word) || TABLES.colours.contains(word)
        })
}

fn amount(tokens: &[Token], number: Range<usize>, thousandths: u64) -> Option<Amount> {
    let Range { mut start, mut end } = number;
    let of = |token: Option<&Token>| token.and_then(|token| tables::currency(&token.word));
    let mut currency = of(tokens.get(end));
    if currency.is_some() {
        end += 1;
    }
    let before = start.checked_sub(1).and_then(|before| tokens.get(before));
    if let Some(named) = of(before) {
        currency = currency.or(Some(named));
        start -= 1;
    }
    let amount = Amount {
        tokens: start..end,
        thousandths,
        currency,
        is_weight: end
            .checked_sub(1)
            .and_then(|last| tokens.get(last))
            .is_some_and(|last| WEIGHTS.contains(&last.word.as_str())),
    };
    let is_count = || {
        let unit = tokens
            .get(end)
            .is_some_and(|token| TABLES.units.contains(token.word.as_str()));
        let unit = unit && !is_preposition(tokens, end, thousandths);
        let other = before.is_some_and(|token| TABLES.before_counts.contains(token.word.as_str()));
        // In `between 2 and 3 kwd`, the currency is that of both numbers.
        let joins = |token: &Token| matches!(token.word.as_str(), "and" | "to" | "-" | "&");
        let is_shared = tokens.get(end).is_some_and(joins)
            && tokens.get(end + 1).is_some_and(|next| next.number.is_some())
            && of(tokens.get(end + 2)).is_some();
        unit || other || thousandths < PLAIN_MIN && !is_shared
    };
    (currency.is_some() || !is_count()).then_some(amount)
}
