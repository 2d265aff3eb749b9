//! Exchange rates as operators maintain them: a table of dates and currency pairs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;

use chrono::{Days, NaiveDate};

use crate::ids::excerpt;
use crate::{CurrencyCode, Timestamp};

/// A calendar day, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i32);

/// Error: a text is not a date in the years 1970 to 9999.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a date of the form YYYY-MM-DD: {0:?}")]
pub struct NotADay(String);

impl Day {
    /// Builds a day from the number of days since 1970-01-01.
    #[must_use]
    pub const fn from_days(days: i32) -> Self {
        Self(days)
    }

    /// Returns the number of days since 1970-01-01.
    #[must_use]
    pub const fn days(self) -> i32 {
        self.0
    }

    /// Returns the latest calendar day that has begun in any time zone at this time.
    #[must_use]
    pub fn newest_at(moment: Timestamp) -> Self {
        const DAY_MICROS: i64 = 86_400_000_000;
        // Local time is at most 14 hours ahead of UTC.
        let ahead = moment.plus_millis(14 * 3_600_000);
        Self(i32::try_from(ahead.micros().div_euclid(DAY_MICROS)).unwrap_or(i32::MAX))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = u64::try_from(self.0).unwrap_or(0);
        let date = NaiveDate::default().checked_add_days(Days::new(days));
        write!(f, "{}", date.unwrap_or(NaiveDate::MAX))
    }
}

impl FromStr for Day {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, NotADay> {
        let is_form = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let date = is_form
            .then(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok())
            .flatten();
        let days = date.and_then(|date| i32::try_from((date - NaiveDate::default()).num_days()).ok());
        days.filter(|days| *days >= 0)
            .map(Self)
            .ok_or_else(|| NotADay(excerpt(text)))
    }
}

/// Price of one unit of a currency in another currency on a specific day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExchangeRate {
    /// Day of the rate.
    pub date: Day,
    /// Currency of which one unit is priced.
    pub base: CurrencyCode,
    /// Currency in which the price is stated.
    pub quote: CurrencyCode,
    /// Units of `quote` for one unit of `base`, exact for up to 15 digits.
    pub rate: f64,
}

/// Error: a row is not a valid exchange rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadRate {
    /// Line number, from 1. Line 1 contains the column names.
    pub line: usize,
    /// Invalid column and the reason.
    pub reason: String,
}

/// Maximum number of rows in one text.
pub const RATES_MAX: usize = 1_000_000;
/// Maximum number of invalid rows in the result.
pub const BAD_RATES_MAX: usize = 100;
/// An `f64` always represents this many decimal digits exactly.
const DIGITS_MAX: usize = 15;

const COLUMNS: [&[&str]; 4] = [
    &["date", "day"],
    &["base", "base_currency", "from"],
    &["quote", "quote_currency", "to"],
    &["rate"],
];

/// Parses a CSV text whose first line names the columns `date`, `base`, `quote` and `rate` in any order. Other columns
/// are ignored. `newest` is the last accepted day.
///
/// # Errors
/// All invalid rows, up to [`BAD_RATES_MAX`]. After an error, the caller must not use any row.
pub fn read_rates(text: &str, newest: Day) -> Result<Vec<ExchangeRate>, Vec<BadRate>> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let bad = |line: usize, reason: String| BadRate { line: line + 1, reason };
    let Some((_, header)) = lines.next().filter(|(_, header)| !header.trim().is_empty()) else {
        return Err(vec![bad(
            0,
            "the header with the column names date,base,quote,rate is missing".to_owned(),
        )]);
    };
    let places = places(header).map_err(|reason| vec![bad(0, reason)])?;
    let (mut rates, mut wrong) = (Vec::new(), Vec::new());
    let mut known: HashMap<(Day, CurrencyCode, CurrencyCode), (usize, f64)> = HashMap::new();
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        if wrong.len() >= BAD_RATES_MAX {
            break;
        }
        if rates.len() >= RATES_MAX {
            wrong.push(bad(line, format!("more than {RATES_MAX} rows")));
            break;
        }
        match rate(text, &places, newest) {
            Err(reason) => wrong.push(bad(line, reason)),
            Ok(rate) => match known.entry((rate.date, rate.base, rate.quote)) {
                Entry::Vacant(free) => {
                    free.insert((line, rate.rate));
                    rates.push(rate);
                }
                Entry::Occupied(known) if known.get().1.to_bits() == rate.rate.to_bits() => {}
                Entry::Occupied(known) => {
                    let first = known.get().0 + 1;
                    wrong.push(bad(line, format!("rate: differs from line {first}")));
                }
            },
        }
    }
    if wrong.is_empty() { Ok(rates) } else { Err(wrong) }
}

fn places(header: &str) -> Result<[usize; 4], String> {
    let names: Vec<String> = fields(header)?.iter().map(|name| name.to_lowercase()).collect();
    let mut places = [0; 4];
    for (place, spelled) in places.iter_mut().zip(COLUMNS) {
        let found = names.iter().position(|name| spelled.contains(&name.as_str()));
        *place = found.ok_or_else(|| format!("column {} is missing", spelled.first().copied().unwrap_or_default()))?;
    }
    Ok(places)
}

fn rate(line: &str, places: &[usize; 4], newest: Day) -> Result<ExchangeRate, String> {
    let fields = fields(line)?;
    let field = |column: usize| fields.get(places[column]).copied().unwrap_or_default();
    let date: Day = field(0).parse().map_err(|error| format!("date: {error}"))?;
    if date > newest {
        return Err(format!("date: {date} is in the future"));
    }
    let currency = |column: usize, name: &str| {
        let code = field(column).to_ascii_uppercase();
        code.parse::<CurrencyCode>().map_err(|error| format!("{name}: {error}"))
    };
    let (base, quote) = (currency(1, "base")?, currency(2, "quote")?);
    if base == quote {
        return Err(format!("quote: the same currency as base, {base}"));
    }
    let rate = positive(field(3))?;
    Ok(ExchangeRate {
        date,
        base,
        quote,
        rate,
    })
}

fn positive(text: &str) -> Result<f64, String> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let digits = text
        .trim_start_matches(['0', '.'])
        .bytes()
        .filter(u8::is_ascii_digit)
        .count();
    if !is_plain || text.len() > 40 {
        return Err(format!("rate: not a plain decimal number: {:?}", excerpt(text)));
    }
    if digits > DIGITS_MAX {
        return Err(format!("rate: more than {DIGITS_MAX} digits: {text:?}"));
    }
    let rate: f64 = text
        .parse()
        .map_err(|_| format!("rate: not a plain decimal number: {text:?}"))?;
    if rate > 0.0 {
        Ok(rate)
    } else {
        Err("rate: must be above zero".to_owned())
    }
}

/// Splits a line into fields without surrounding whitespace and plain quotes.
fn fields(line: &str) -> Result<Vec<&str>, String> {
    let mark = if line.contains(',') { ',' } else { ';' };
    line.split(mark)
        .map(|field| {
            let field = field.trim();
            let inner = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
            let plain = inner.unwrap_or(field).trim();
            if plain.contains('"') {
                return Err("quotes inside a field are not supported".to_owned());
            }
            Ok(plain)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn newest() -> Day {
        "2026-11-23".parse().unwrap()
    }

    fn told(text: &str) -> Vec<String> {
        match read_rates(text, newest()) {
            Ok(rates) => {
                let line = |rate: &ExchangeRate| format!("{} {} {} {}", rate.date, rate.base, rate.quote, rate.rate);
                rates.iter().map(line).collect()
            }
            Err(bad) => bad.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn rows_are_read_whatever_the_order_of_columns() {
        let text =
            "\u{feff}Quote,note, rate ,base,date\nINR,x,84.25,usd,2026-11-20\n\n\"EUR\",,0.0112,INR,2026-11-20\r\n";
        assert_eq!(told(text), ["2026-11-20 USD INR 84.25", "2026-11-20 INR EUR 0.0112"]);
        assert_eq!(
            told("date;base;quote;rate\n2026-11-20;USD;INR;84\n"),
            ["2026-11-20 USD INR 84"]
        );
        assert_eq!(told("date,base,quote,rate\n"), Vec::<String>::new());
    }

    #[test]
    fn a_bad_row_is_told_by_its_line_and_column() {
        let text = "date,base,quote,rate\n2026-11-20,USD,INR,84.25\n2026-02-30,USD,INR,84\n2026-11-24,USD,INR,84\n\
            2026-11-20,RUPEE,INR,1\n2026-11-20,USD,,1\n2026-11-20,USD,USD,1\n2026-11-20,USD,EUR,0\n2026-11-20,USD,EUR,-1\n\
            2026-11-20,USD,EUR,1e3\n2026-11-20,USD,EUR,1.2345678901234567\n2026-11-20,USD,INR,84.26\n2026-11-20\n2026-11-20,USD,INR,84.25\n";
        let expected = [
            "line 3: date: not a date of the form YYYY-MM-DD: \"2026-02-30\"",
            "line 4: date: 2026-11-24 is in the future",
            "line 5: base: not an ISO 4217 currency: \"RUPEE\"",
            "line 6: quote: not an ISO 4217 currency: \"\"",
            "line 7: quote: the same currency as base, USD",
            "line 8: rate: must be above zero",
            "line 9: rate: not a plain decimal number: \"-1\"",
            "line 10: rate: not a plain decimal number: \"1e3\"",
            "line 11: rate: more than 15 digits: \"1.2345678901234567\"",
            "line 12: rate: differs from line 2",
            "line 13: base: not an ISO 4217 currency: \"\"",
        ];
        assert_eq!(told(text), expected);
        assert_eq!(
            told(""),
            ["line 1: the header with the column names date,base,quote,rate is missing"]
        );
        assert_eq!(told("date,base,rate\n"), ["line 1: column quote is missing"]);
        assert_eq!(told("<!doctype html>"), ["line 1: column date is missing"]);
    }

    #[test]
    fn a_day_is_over_everywhere_before_the_one_after_the_next_begins() {
        let day = |moment: &str| Day::newest_at(moment.parse().unwrap()).to_string();
        assert_eq!(day("2026-11-23T09:59:59Z"), "2026-11-23");
        assert_eq!(day("2026-11-23T10:00:00Z"), "2026-11-24");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(date|base|quote|rate|[0-9,;.\"\n -]|USD|INR|\\PC){0,60}") {
            let _ = read_rates(&text, newest());
            let _ = read_rates(&format!("date,base,quote,rate\n{text}"), newest());
        }

        #[test]
        fn a_rate_comes_back_as_it_was_stated(whole in 0_u64..1_000_000, fraction in "[0-9]{0,8}[1-9]", days in 0_i32..20_000) {
            let (day, stated) = (Day::from_days(days), format!("{whole}.{fraction}"));
            let text = format!("date,base,quote,rate\n{day},USD,INR,{stated}\n");
            let rates = read_rates(&text, newest()).unwrap();
            prop_assert_eq!(rates[0].rate.to_string(), stated);
            prop_assert_eq!(rates[0].date, day);
        }
    }
}
