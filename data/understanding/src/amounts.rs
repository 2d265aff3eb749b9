use std::ops::Range;

use data_model::CurrencyCode;

use super::tables::{self, TABLES};
use super::tokens::Token;

/// An amount of money, or a number that may be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amount {
    /// Its tokens: the number, and what says its currency.
    pub(super) tokens: Range<usize>,
    pub(super) hundredths: u64,
    pub(super) currency: Option<CurrencyCode>,
}

/// Below this, in hundredths, a number without a currency is a count of something.
const PLAIN_MIN: u64 = 1_000;

/// From here on, in hundredths, a number before `in` and a word is no length.
const INCHES_MIN: u64 = 10_000;

/// The amounts of a query, in order.
pub(super) fn of(tokens: &[Token]) -> Vec<Amount> {
    let numbers = (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|token| token.number.is_some()));
    numbers.filter_map(|at| amount(tokens, at)).collect()
}

fn amount(tokens: &[Token], at: usize) -> Option<Amount> {
    let token = tokens.get(at).filter(|token| token.is_free())?;
    let mut hundredths = token.number?;
    let (mut start, mut end) = (at, at + 1);
    if let Some(times) = tokens.get(end).and_then(|token| tables::multiplier(&token.word)) {
        hundredths = hundredths.saturating_mul(times);
        end += 1;
    }
    let of = |token: Option<&Token>| token.and_then(|token| tables::currency(&token.word));
    let mut currency = of(tokens.get(end));
    if currency.is_some() {
        end += 1;
    }
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    if let Some(named) = of(before) {
        currency = currency.or(Some(named));
        start -= 1;
    }
    let amount = Amount {
        tokens: start..end,
        hundredths,
        currency,
    };
    let is_count = || {
        let unit = tokens
            .get(end)
            .is_some_and(|token| TABLES.units.contains(token.word.as_str()));
        // `under 3000 in red`: nobody sells by so many inches.
        let is_preposition = hundredths >= INCHES_MIN && tokens.get(end).is_some_and(|token| token.word == "in");
        let unit = unit && !(is_preposition && tokens.get(end + 1).is_some_and(Token::is_word));
        let other = before.is_some_and(|token| TABLES.before_counts.contains(token.word.as_str()));
        unit || other || hundredths < PLAIN_MIN
    };
    (currency.is_some() || !is_count()).then_some(amount)
}
