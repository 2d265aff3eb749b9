use std::fmt;
use std::str::FromStr;

use iso_currency::Currency;
use serde::{Deserialize, Serialize};

/// An ISO 4217 currency with minor units. Metals and test codes are excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CurrencyCode(Currency);

/// An exact amount in integer minor units of one currency. An amount is never negative, and is never converted to a
/// float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Money {
    minor: i64,
    currency: CurrencyCode,
}

/// Reason why a text is not a valid amount or currency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// The code is not a currency of ISO 4217 with minor units.
    #[error("not an ISO 4217 currency: {0:?}")]
    UnknownCurrency(String),
    /// The text is not a plain decimal number.
    #[error("not a decimal amount: {0:?}")]
    NotDecimal(String),
    /// The amount has non-zero decimals beyond the precision of the currency.
    #[error("{text:?} has more decimals than the minor unit of {currency}")]
    TooFine {
        /// Amount as stated.
        text: String,
        /// Currency in which the amount was stated.
        currency: CurrencyCode,
    },
    /// The amount is below zero.
    #[error("a negative amount: {0:?}")]
    Negative(String),
    /// The amount is above [`Money::MINOR_MAX`].
    #[error("amount too large: {0:?}")]
    TooLarge(String),
}

impl CurrencyCode {
    /// Returns the number of decimal places of the minor unit according to ISO 4217 (JPY 0, INR 2, KWD 3).
    #[must_use]
    pub fn exponent(self) -> u32 {
        u32::from(self.0.exponent().unwrap_or(2))
    }

    /// Returns every currency, in alphabetical order of its code.
    pub fn all() -> impl Iterator<Item = Self> {
        let mut all: Vec<Self> = (1..1_000)
            .filter_map(Currency::from_numeric)
            .filter_map(|currency| currency.code().parse().ok())
            .collect();
        all.sort_unstable_by_key(|currency| currency.as_str());
        all.dedup();
        all.into_iter()
    }

    /// Returns the English name of the currency.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the three-letter uppercase code.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0.code()
    }
}

impl fmt::Display for CurrencyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code())
    }
}

impl FromStr for CurrencyCode {
    type Err = MoneyError;

    fn from_str(code: &str) -> Result<Self, Self::Err> {
        let known = Currency::from_code(code).filter(|currency| currency.exponent().is_some());
        known
            .map(Self)
            .ok_or_else(|| MoneyError::UnknownCurrency(excerpt(code)))
    }
}

impl Serialize for CurrencyCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CurrencyCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl Money {
    /// Maximum amount: the largest integer that every JSON reader represents exactly (RFC 7493, section 2.2). The sum
    /// of a thousand such amounts fits in 64 bits.
    pub const MINOR_MAX: i64 = (1 << 53) - 1;

    /// Builds an amount from minor units.
    ///
    /// # Errors
    /// [`MoneyError::Negative`] if `minor` is below zero.
    pub fn from_minor(minor: i64, currency: CurrencyCode) -> Result<Self, MoneyError> {
        if minor < 0 {
            Err(MoneyError::Negative(minor.to_string()))
        } else if minor > Self::MINOR_MAX {
            Err(MoneyError::TooLarge(minor.to_string()))
        } else {
            Ok(Self { minor, currency })
        }
    }

    /// Parses a plain decimal amount as the platform's JSON states it (`"499.00"`, `"25.0"`, `"1200"`). The result is
    /// exact. Digit grouping, exponents and signs other than `-` are not accepted.
    ///
    /// # Errors
    /// A [`MoneyError`]. Decimals beyond the precision of the currency must be zero.
    pub fn parse_decimal(text: &str, currency: CurrencyCode) -> Result<Self, MoneyError> {
        let trimmed = text.trim_ascii();
        if let Some(rest) = trimmed.strip_prefix('-') {
            // "-0.00" is zero.
            let zero = Self::parse_decimal(rest, currency)?.minor == 0;
            return if zero {
                Ok(Self { minor: 0, currency })
            } else {
                Err(MoneyError::Negative(excerpt(text)))
            };
        }
        let (whole, decimals) = trimmed.split_once('.').unwrap_or((trimmed, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && decimals.is_empty()) || !digits(whole) || !digits(decimals) {
            return Err(MoneyError::NotDecimal(excerpt(text)));
        }
        let exponent = currency.exponent() as usize;
        let (kept, dropped) = decimals.split_at(decimals.len().min(exponent));
        if dropped.bytes().any(|byte| byte != b'0') {
            return Err(MoneyError::TooFine {
                text: excerpt(text),
                currency,
            });
        }
        let padding = std::iter::repeat_n(b'0', exponent - kept.len());
        let mut minor: i64 = 0;
        for digit in whole.bytes().chain(kept.bytes()).chain(padding) {
            minor = minor
                .checked_mul(10)
                .and_then(|minor| minor.checked_add(i64::from(digit - b'0')))
                .filter(|minor| *minor <= Self::MINOR_MAX)
                .ok_or_else(|| MoneyError::TooLarge(excerpt(text)))?;
        }
        Ok(Self { minor, currency })
    }

    /// Returns the amount in minor units, zero or more.
    #[must_use]
    pub const fn minor(self) -> i64 {
        self.minor
    }

    /// Returns the currency of the amount.
    #[must_use]
    pub const fn currency(self) -> CurrencyCode {
        self.currency
    }
}

/// Formats the amount with the currency's number of decimals and its code, such as `399.00 INR`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exponent = self.currency.exponent();
        let unit = 10_i64.pow(exponent);
        if exponent == 0 {
            write!(f, "{} {}", self.minor, self.currency)
        } else {
            let width = exponent as usize;
            write!(
                f,
                "{}.{:0width$} {}",
                self.minor / unit,
                self.minor % unit,
                self.currency
            )
        }
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn minor(text: &str, code: &str) -> Result<i64, MoneyError> {
        Money::parse_decimal(text, code.parse().unwrap()).map(Money::minor)
    }

    #[test]
    fn amounts_follow_the_currencys_own_exponent() {
        assert_eq!(minor("499.00", "INR"), Ok(49900));
        assert_eq!(minor("25.0", "USD"), Ok(2500));
        assert_eq!(minor("1200.00", "JPY"), Ok(1200));
        assert_eq!(minor("1.234", "KWD"), Ok(1234));
        assert_eq!(minor(".5", "USD"), Ok(50));
        assert_eq!(minor("-0.00", "USD"), Ok(0));
    }

    #[test]
    fn what_is_not_exact_is_refused() {
        assert!(matches!(minor("19.999", "USD"), Err(MoneyError::TooFine { .. })));
        assert!(matches!(minor("1,299.00", "INR"), Err(MoneyError::NotDecimal(_))));
        assert!(matches!(minor("", "INR"), Err(MoneyError::NotDecimal(_))));
        assert!(matches!(minor(".", "INR"), Err(MoneyError::NotDecimal(_))));
        assert!(matches!(minor("-1", "INR"), Err(MoneyError::Negative(_))));
        assert!(matches!(
            minor("99999999999999999999", "INR"),
            Err(MoneyError::TooLarge(_))
        ));
        assert!(minor("90071992547409.91", "INR").is_ok());
        assert!(matches!(
            minor("90071992547409.92", "INR"),
            Err(MoneyError::TooLarge(_))
        ));
        assert!("XXX".parse::<CurrencyCode>().is_err());
        assert!("inr".parse::<CurrencyCode>().is_err());
    }

    proptest! {
        #[test]
        fn a_written_amount_reads_back_the_same(minor in 0..=Money::MINOR_MAX, code in prop::sample::select(vec!["INR", "JPY", "KWD", "USD", "CLF"])) {
            let money = Money::from_minor(minor, code.parse().unwrap()).unwrap();
            let text = money.to_string();
            let decimal = text.split(' ').next().unwrap();
            prop_assert_eq!(Money::parse_decimal(decimal, money.currency()), Ok(money));
        }
    }
}
