use std::ops::Range;

use super::amounts::{self, Amount};
use super::sentence::Sentence;
use super::tables::{Piece, PricePattern, PriceRule, TABLES};
use super::{Meaning, Price};

/// A number of at least this many thousandths is a price even with ambiguous words around it.
const CERTAIN_MIN: u64 = 100_000;
/// Without a word for a price, the greater number of a range must have at least this many thousandths.
const ROUND_MIN: u64 = 500_000;
/// Percentage on each side of an approximate amount.
const ABOUT_PERCENT: u64 = 25;
/// A number in this range, in thousandths, is more likely a year than a price: 1900 to 2100.
const YEARS: std::ops::RangeInclusive<u64> = 1_900_000..=2_100_000;
/// A number in the range of years is a price if it is a multiple of this, in thousandths.
const ROUND_YEAR: u64 = 50_000;
/// Maximum age of a child in thousandths of a year, as in `kids under 5`.
const CHILD_YEARS_MAX: u64 = 18_000;

/// Each price narrows the range of the earlier ones. Numbers that may be names are prices only if `unsure` is true.
pub(super) fn read(sentence: &mut Sentence<'_>, unsure: bool) {
    let amounts = amounts::of(&sentence.tokens);
    if amounts.is_empty() {
        return;
    }
    // The amount of a voucher is its value and not a price limit.
    if sentence
        .tokens
        .iter()
        .any(|token| matches!(token.word.as_str(), "voucher" | "vouchers" | "coupon" | "giftcard"))
    {
        return;
    }
    let mut first = 0;
    while first < amounts.len() {
        let from = amounts.get(first..).unwrap_or_default();
        let Some(found) = longest(sentence, from) else {
            first += 1;
            continue;
        };
        if unsure || !found.price.is_unsure {
            let tokens = widened(sentence, found.tokens);
            sentence.read(tokens, Meaning::Price(found.price));
        }
        first += found.amounts;
    }
}

struct PriceMatch {
    tokens: Range<usize>,
    price: Price,
    amounts: usize,
}

/// Returns the price of the longest pattern that matches at the first amount. An amount with only a currency is a
/// maximum price.
fn longest(sentence: &Sentence<'_>, amounts: &[Amount]) -> Option<PriceMatch> {
    let one = amounts.first()?;
    let matching = TABLES.prices.iter().filter_map(|pattern| {
        let tokens = stands(pattern, sentence, amounts)?;
        let price = price(pattern, amounts)?;
        Some((tokens, price, pattern.amounts()))
    });
    // The patterns are sorted by length.
    let found = matching
        .into_iter()
        .find(|(tokens, ..)| !is_of_child(sentence, tokens.start, one));
    if let Some((tokens, price, amounts)) = found {
        return Some(PriceMatch { tokens, price, amounts });
    }
    // A weight in pounds is a price only if the words around it say so.
    let currency = one.currency.filter(|_| !one.is_weight)?;
    let price = Price {
        max: Some(one.thousandths),
        currency: Some(currency),
        ..Price::default()
    };
    Some(PriceMatch {
        tokens: one.tokens.clone(),
        price,
        amounts: 1,
    })
}

/// Returns the tokens of a pattern that matches around the first amount.
fn stands(pattern: &PricePattern, sentence: &Sentence<'_>, amounts: &[Amount]) -> Option<Range<usize>> {
    let before = pattern.pieces.iter().position(|piece| *piece == Piece::Amount)?;
    let (head, tail) = pattern.pieces.split_at(before);
    let start = amounts.first()?.tokens.start.checked_sub(head.len())?;
    let mut at = start;
    let mut left = amounts.iter();
    for piece in head.iter().chain(tail) {
        match piece {
            Piece::Word(word) => {
                let token = sentence.tokens.get(at)?;
                if !token.is_free() || token.word != *word {
                    return None;
                }
                at += 1;
            }
            Piece::Amount => {
                let amount = left.next().filter(|amount| amount.tokens.start == at)?;
                at = amount.tokens.end;
            }
        }
    }
    Some(start..at)
}

fn price(pattern: &PricePattern, amounts: &[Amount]) -> Option<Price> {
    let one = amounts.first()?;
    let other = amounts.get(1).filter(|_| pattern.amounts() == 2);
    let currency = one.currency.or_else(|| other?.currency);
    let is_certain = |amount: &Amount| currency.is_some() || amount.thousandths >= CERTAIN_MIN;
    if pattern.certain && !(is_certain(one) && other.is_none_or(is_certain)) {
        return None;
    }
    let is_unsure = pattern.unsure && currency.is_none();
    let of = |min, max| {
        Some(Price {
            min,
            max,
            currency,
            is_unsure,
        })
    };
    let first = one.thousandths;
    let is_year = YEARS.contains(&first) && !is_round(first) && first % ROUND_YEAR != 0;
    if is_unsure && is_year && other.is_none() {
        return None;
    }
    match pattern.rule {
        PriceRule::Most => of(None, Some(first)),
        PriceRule::Least => of(Some(first), None),
        PriceRule::About => {
            let off = first / 100 * ABOUT_PERCENT;
            of(Some(first - off), Some(first + off))
        }
        PriceRule::Between => {
            let second = other?.thousandths;
            let are_years = currency.is_none() && YEARS.contains(&first) && YEARS.contains(&second);
            // In `between 1 and 2k`, the factor applies to both amounts.
            let first = if second >= 1_000_000 && first < 100_000 {
                first * 1_000
            } else {
                first
            };
            // Without a word for a price, the amounts must be round. `part 237-752` is not a price.
            let are_round = currency.is_some() || is_round(first) && is_round(second) && second >= ROUND_MIN;
            if pattern.certain && (are_years || !are_round) || first > second {
                return None;
            }
            of(Some(first), Some(second))
        }
    }
}

/// Returns true for typical shop prices, which are whole hundreds or one less.
const fn is_round(thousandths: u64) -> bool {
    matches!(thousandths % 100_000, 0 | 99_000)
}

fn is_of_child(sentence: &Sentence<'_>, start: usize, amount: &Amount) -> bool {
    let before = start.checked_sub(1).and_then(|before| sentence.tokens.get(before));
    amount.currency.is_none()
        && amount.thousandths <= CHILD_YEARS_MAX
        && before.is_some_and(|token| TABLES.before_counts.contains(token.word.as_str()))
}

/// Extends the range by adjacent words of a price, such as `budget` and `rate`.
fn widened(sentence: &Sentence<'_>, tokens: Range<usize>) -> Range<usize> {
    let goes_along = |at: usize| {
        let token = sentence.tokens.get(at);
        token.is_some_and(|token| token.is_free() && TABLES.price_words.contains(token.word.as_str()))
    };
    let (mut start, mut end) = (tokens.start, tokens.end);
    loop {
        // A small word may be in between, as in `price range of 1000 to 2000`.
        let between = |at: usize| {
            let token = sentence.tokens.get(at);
            token.is_some_and(|token| {
                matches!(
                    token.word.as_str(),
                    "of" | "is" | "the" | "a" | "my" | "in" | "ki" | "ka"
                )
            })
        };
        if start >= 1 && goes_along(start - 1) {
            start -= 1;
        } else if start >= 2 && between(start - 1) && goes_along(start - 2) {
            start -= 2;
        } else {
            break;
        }
    }
    while goes_along(end) {
        end += 1;
    }
    start..end
}
