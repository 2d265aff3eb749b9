//! The verdict on a product: it keeps to the request or not, with words that say why it is there. Pure.

pub(crate) mod criteria;
pub(crate) mod facets;
pub(crate) mod fits;
pub(crate) mod sizes;
mod titles;
pub(crate) mod why;

use data_model::CurrencyCode;
use data_understanding::Price;
use serde_json::{Value, json};

/// The largest number that JSON holds exactly: the most that the catalogue is asked for.
pub(crate) const MINOR_MAX: i64 = (1 << 53) - 1;

/// The range that a product may cost, in minor units of one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min_minor: Option<i64>,
    pub(crate) max_minor: Option<i64>,
    pub(crate) currency: CurrencyCode,
}

impl Bounds {
    /// The bounds of a sentence and of a budget besides: the lower of two upper bounds holds.
    pub(crate) fn of(price: Price, budget_max_minor: Option<i64>, currency: CurrencyCode) -> Self {
        let unit = 10_u64.pow(currency.exponent());
        let minor = |hundredths: u64| i64::try_from(hundredths.saturating_mul(unit) / 100).unwrap_or(i64::MAX);
        let minor = |hundredths: u64| minor(hundredths).min(MINOR_MAX);
        let stated = price.max.map(minor);
        Self {
            min_minor: price.min.map(minor),
            max_minor: stated.into_iter().chain(budget_max_minor).min(),
            currency,
        }
    }

    /// True where no price is in the range.
    pub(crate) fn is_empty(self) -> bool {
        self.min_minor.zip(self.max_minor).is_some_and(|(min, max)| min > max)
    }

    /// As searches state them.
    pub(crate) fn told(self) -> Value {
        let mut told = json!({ "currency": self.currency.as_str() });
        for (name, minor) in [("price_min", self.min_minor), ("price_max", self.max_minor)] {
            if let Some(minor) = minor {
                told[name] = minor.into();
            }
        }
        told
    }

    /// True where anything may cost what it likes.
    pub(crate) const fn is_open(self) -> bool {
        self.min_minor.is_none() && self.max_minor.is_none()
    }

    /// The gap between a price and the bounds, 0 where it is within. A price of 0 is none, and within no bounds.
    pub(crate) fn gap_minor(self, minor: i64) -> i64 {
        if minor <= 0 && !self.is_open() {
            return i64::MAX;
        }
        let below = self.min_minor.map_or(0, |min| min.saturating_sub(minor).max(0));
        let above = self.max_minor.map_or(0, |max| minor.saturating_sub(max).max(0));
        below.saturating_add(above)
    }
}
