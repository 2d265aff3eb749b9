//! Parses amounts, durations, percentages, weights and times of day.

use data_model::CurrencyCode;

use crate::item::{Amount, Days, Item, Sense};
use crate::lexicon::{Concept, meanings};
use crate::numbers::{in_words, multiplier};
use crate::token::{Token, mark};
use crate::words::Words;

/// Maximum plausible duration in days. Longer ones are not about shipping.
const DAYS_MAX: i64 = 180;

#[derive(Debug, Clone, Copy)]
enum Unit {
    Hours,
    Days,
    WorkingDays,
    Weeks,
}

/// Words that may follow a duration whose unit is in the singular: `1-3 day to process`.
const LEADS: Words =
    Words("to, from, for, and, or, in, on, of, at, with, after, by, time, window, max, only, turnaround");

/// Words between two numbers with the same unit.
const OR: [&str; 4] = ["or", "oder", "ou", "o"];

/// Parses an amount, duration, percentage, weight, time of day or number range at the start of the tokens.
pub(crate) fn quantity(tokens: &[Token], before: Option<&Item>, currency: CurrencyCode) -> Option<(Sense, usize)> {
    if let [Token::Clock(minutes), Token::Word(half), ..] = tokens
        && let Some(hour) = clock(i64::from(minutes / 60) * 1_000, half)
    {
        return Some((Sense::Clock(hour + minutes % 60), 2));
    }
    let mut at = 0;
    let mut mark = mark(&tokens[0]);
    if mark.is_some() {
        at += 1;
        while tokens.get(at).is_some_and(|token| token.is('.') || token.is(':')) {
            at += 1;
        }
        if tokens.get(at).and_then(self::mark).is_some() {
            at += 1;
        }
    }
    let (min, mut at) = number(tokens, at).or_else(|| single(tokens, before))?;
    let mut marked = |at: &mut usize| {
        if let Some(behind) = tokens.get(*at).and_then(self::mark) {
            mark = mark.or(Some(behind));
            *at += 1;
        }
    };
    marked(&mut at);
    let mut max = None;
    let is_between = before.is_some_and(|item| item.means(Concept::Between));
    if let Some((highest, marked, next)) = upper(&tokens[at..], min, mark.is_some(), is_between) {
        mark = mark.or(marked);
        (max, at) = (Some(highest), at + next);
    }
    let of = Range { min, max, before };
    if mark.is_none()
        && let Some(found) = measured(&of, tokens, at)
    {
        return Some(found);
    }
    // `40 + 50` is a sum.
    let adds = tokens
        .get(at + 1)
        .is_some_and(|token| crate::token::mark(token).is_some() || matches!(token, Token::Number(_)));
    let is_open = tokens.get(at).is_some_and(|token| token.is('+')) && !adds;
    let at = at + usize::from(is_open);
    if let Some(mark) = mark {
        let (min, max) = (minor(min, currency)?, minor(max.unwrap_or(min), currency)?);
        let is_foreign = !is_of(mark, currency);
        let amount = Amount {
            min,
            max,
            is_foreign,
            is_open,
        };
        return Some((Sense::Money(amount), at));
    }
    tokens[0]
        .word()
        .is_none()
        .then_some((Sense::Bare(min, max.unwrap_or(min)), at))
}

/// Parses the upper end of a range at these tokens. Returns its value, its currency mark and the number of tokens.
fn upper(tokens: &[Token], min: i64, is_marked: bool, is_between: bool) -> Option<(i64, Option<&'static str>, usize)> {
    let first = tokens.first()?;
    // `2/3 days` is a range.
    let is_slash = !is_marked && first.is('/');
    if !is_slash && !joins(first, is_between) {
        return None;
    }
    let mut next = 1;
    let mut behind = tokens.get(next).and_then(self::mark);
    if behind.is_some() {
        next += 1;
        next += usize::from(tokens.get(next).is_some_and(|token| token.is('.')));
    }
    let is_or = is_slash || first.word().is_some_and(|word| OR.contains(&word));
    // In `499 – 59`, the second amount is the price for orders of 499, so that this is not a range.
    let is_money = is_marked || behind.is_some();
    let (highest, mut next) = number(tokens, next)?;
    // `2 or 3 days` is a range, but `Rs 500 or Rs 600` is not.
    let counts = !is_or || (behind.is_none() && unit(tokens, next).is_some());
    if !counts || (is_money && highest < min) {
        return None;
    }
    if let Some(mark) = tokens.get(next).and_then(self::mark) {
        behind = Some(mark);
        next += 1;
    }
    Some((highest, behind, next))
}

/// A range of numbers, in thousandths.
#[derive(Debug, Clone, Copy)]
struct Range<'a> {
    min: i64,
    max: Option<i64>,
    before: Option<&'a Item>,
}

/// Interprets a number with the unit that follows it.
fn measured(of: &Range<'_>, tokens: &[Token], at: usize) -> Option<(Sense, usize)> {
    let token = tokens.get(at)?;
    let highest = of.max.unwrap_or(of.min);
    if token.is('%') || token.word().is_some_and(|word| matches!(word, "percent" | "prozent")) {
        let percent = u16::try_from(highest / 1_000).ok().filter(|percent| *percent <= 100)?;
        return Some((Sense::Percent(percent), at + 1));
    }
    let word = token.word();
    if let Some(word) = word {
        let grams = match word {
            "g" | "gm" | "gms" | "gram" | "grams" | "gramm" | "grammes" | "gramos" => Some(highest / 1_000),
            "kg" | "kgs" | "kilo" | "kilos" | "kilogram" => Some(highest),
            _ => None,
        };
        if let Some(grams) = grams {
            return Some((Sense::Grams(u32::try_from(grams).ok()?), at + 1));
        }
        if let Some(found) = clock(highest, word) {
            // `14h30` is a time of day.
            let minutes = match tokens.get(at + 1) {
                Some(Token::Number(number)) if word == "h" && number % 1_000 == 0 && *number < 60_000 => {
                    u16::try_from(number / 1_000).ok()
                }
                _ => None,
            };
            if let Some(minutes) = minutes {
                return of.max.is_none().then_some((Sense::Clock(found + minutes), at + 2));
            }
            return of.max.is_none().then_some((Sense::Clock(found), at + 1));
        }
    }
    let is_singular = matches!(word, Some("day" | "hour" | "week"));
    let (unit, at) = unit(tokens, at)?;
    // `a 40-hour fermentation` is not about shipping.
    let names = tokens
        .get(at)
        .is_some_and(|next| next.word().is_some_and(|word| !LEADS.has(word)) && meanings(&tokens[at..]).is_empty());
    if is_singular && highest > 1_000 && names {
        return None;
    }
    Some((Sense::Days(days(of, unit)?), at))
}

fn clock(thousandths: i64, word: &str) -> Option<u16> {
    let hour = u16::try_from(thousandths / 1_000).ok()?;
    let minutes = u16::try_from(thousandths % 1_000 / 10)
        .ok()
        .filter(|minutes| *minutes < 60)?;
    let hour = match word {
        "pm" if hour < 12 => hour + 12,
        "noon" | "pm" if hour == 12 => 12,
        "am" if hour == 12 => 0,
        "am" | "uhr" | "h" if hour < 24 => hour,
        _ => return None,
    };
    (hour < 24).then_some(hour * 60 + minutes)
}

fn unit(tokens: &[Token], from: usize) -> Option<(Unit, usize)> {
    const WORKING: Words =
        Words("working, business, ouvres, ouvrables, ouvre, habiles, laborables, habil, laborable, laborales, laboral");
    let word = |at: usize| tokens.get(at).and_then(Token::word);
    let (mut at, mut is_working) = (from, false);
    // Words such as `business` in `5 (five) business days` do not end the duration.
    while let Some(ahead) = word(at) {
        match ahead {
            _ if WORKING.has(ahead) => is_working = true,
            "full" | "calendar" | "natural" | "volle" | "weitere" | "ganze" => {}
            _ => break,
        }
        at += 1;
    }
    let unit = match word(at)? {
        "day" | "days" | "tag" | "tage" | "tagen" | "tages" | "jour" | "jours" | "jrs" | "j" | "dia" | "dias"
        | "din" | "dino" | "dinon" => Unit::Days,
        "weekdays" | "werktag" | "werktage" | "werktagen" | "werktags" | "werktages" | "arbeitstag" | "arbeitstage"
        | "arbeitstagen" | "arbeitstages" | "geschaftstage" | "geschaftstagen" | "bankarbeitstage" => Unit::WorkingDays,
        "week" | "weeks" | "woche" | "wochen" | "semaine" | "semaines" | "semana" | "semanas" | "hafte" | "hafton" => {
            Unit::Weeks
        }
        "hour" | "hours" | "hr" | "hrs" | "stunde" | "stunden" | "heure" | "heures" | "hora" | "horas" | "ghante"
        | "ghanton" | "h" | "std" => Unit::Hours,
        _ => return None,
    };
    at += 1;
    if word(at).is_some_and(|word| WORKING.has(word)) {
        is_working = true;
        at += 1;
    }
    let unit = if is_working && matches!(unit, Unit::Days) {
        Unit::WorkingDays
    } else {
        unit
    };
    Some((unit, at))
}

fn days(of: &Range<'_>, unit: Unit) -> Option<Days> {
    let whole = |thousandths: i64, rounded_up: i64| match unit {
        Unit::Hours => (thousandths / 1_000 + rounded_up) / 24,
        Unit::Weeks => thousandths.saturating_mul(7) / 1_000,
        Unit::Days | Unit::WorkingDays => thousandths / 1_000,
    };
    let narrow = |days: i64| u16::try_from(days).ok().filter(|days| i64::from(*days) <= DAYS_MAX);
    // `In 3 hours` is too short to be a delivery time.
    let longest = of.max.unwrap_or(of.min);
    if matches!(unit, Unit::Hours) && longest < 12_000 {
        return None;
    }
    let highest = narrow(whole(longest, 23))?;
    let lowest = narrow(whole(of.min, 0))?;
    let is_single = of.max.is_none();
    let is = |concept| of.before.is_some_and(|item| item.means(concept));
    let (min, max) = if !is_single {
        (Some(lowest), Some(highest))
    } else if is(Concept::Within) || is(Concept::Most) || matches!(unit, Unit::Hours) {
        (None, Some(highest))
    } else if is(Concept::Least) {
        (Some(lowest), None)
    } else {
        (Some(lowest), Some(highest))
    };
    let in_working_days = matches!(unit, Unit::WorkingDays);
    // `0-0 days` is a template without values.
    let is_blank = max == Some(0) && !matches!(unit, Unit::Hours);
    let is_range = min.zip(max).is_none_or(|(min, max)| min <= max) && !is_blank;
    is_range.then_some(Days {
        min,
        max,
        in_working_days,
    })
}

/// Returns the duration in `within a week`, but not in `twice a week`.
fn single(tokens: &[Token], before: Option<&Item>) -> Option<(i64, usize)> {
    let is_one = tokens[0].word().is_some_and(|word| matches!(word, "a" | "an"));
    let is_within = before.is_some_and(|item| item.means(Concept::Within));
    (is_one && is_within && unit(tokens, 1).is_some()).then_some((1_000, 1))
}

/// Parses a number at a position and returns the position after it.
fn number(tokens: &[Token], at: usize) -> Option<(i64, usize)> {
    let (number, mut at) = match tokens.get(at)? {
        Token::Number(number) => (*number, at + 1),
        // `Two business days` starts with a number, but `one of` does not.
        Token::Word(word) => {
            let number = in_words(word)? * 1_000;
            let is_counted =
                unit(tokens, at + 1).is_some() || tokens.get(at + 1).is_some_and(|token| joins(token, false));
            (is_counted.then_some(number)?, at + 1)
        }
        _ => return None,
    };
    let times = tokens.get(at).and_then(Token::word).and_then(multiplier);
    at += usize::from(times.is_some());
    at += usize::from(tokens.get(at).is_some_and(|token| token.is('¤')) && times.is_some());
    Some((number.checked_mul(times.unwrap_or(1))?, at))
}

fn joins(token: &Token, is_between: bool) -> bool {
    token.is('-')
        || token.word().is_some_and(|word| match word {
            "to" | "bis" | "a" | "se" => true,
            word if OR.contains(&word) => true,
            "and" | "und" | "et" | "y" => is_between,
            _ => false,
        })
}

fn is_of(mark: &str, currency: CurrencyCode) -> bool {
    let code = currency.as_str();
    match mark {
        "" => true,
        "Rs" => matches!(code, "INR" | "PKR" | "LKR" | "NPR" | "MUR"),
        "¥" => matches!(code, "JPY" | "CNY"),
        "$" => matches!(code, "USD" | "AUD" | "CAD" | "NZD" | "SGD" | "HKD" | "MXN"),
        mark => mark == code,
    }
}

/// Converts thousandths of the main currency unit to minor units. `None` for an amount that is finer than the currency.
pub(crate) fn minor(thousandths: i64, currency: CurrencyCode) -> Option<i64> {
    let unit = 10_i64.pow(3_u32.checked_sub(currency.exponent())?);
    (thousandths % unit == 0).then_some(thousandths / unit)
}
