//! Pure functions that decide if a product satisfies a request, and state the reasons.

pub(crate) mod criteria;
pub(crate) mod facets;
pub(crate) mod fits;
pub(crate) mod sizes;
mod titles;
pub(crate) mod why;

use data_model::CurrencyCode;
use data_understanding::Price;
use serde_json::{Value, json};

/// Largest integer that JSON represents exactly, and the highest price sent to the catalogue.
pub(crate) const MINOR_MAX: i64 = (1 << 53) - 1;

/// Allowed price range, in minor units of one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min_minor: Option<i64>,
    pub(crate) max_minor: Option<i64>,
    pub(crate) currency: CurrencyCode,
}

impl Bounds {
    /// Combines the price range of a sentence with a budget. The lower maximum applies.
    pub(crate) fn of(price: Price, budget_max_minor: Option<i64>, currency: CurrencyCode) -> Self {
        let unit = 10_u64.pow(currency.exponent());
        let minor = |thousandths: u64| i64::try_from(thousandths.saturating_mul(unit) / 1_000).unwrap_or(i64::MAX);
        let minor = |thousandths: u64| minor(thousandths).min(MINOR_MAX);
        let stated = price.max.map(minor);
        Self {
            min_minor: price.min.map(minor),
            max_minor: stated.into_iter().chain(budget_max_minor).min(),
            currency,
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.min_minor.zip(self.max_minor).is_some_and(|(min, max)| min > max)
    }

    /// Returns the range in the form of a search filter.
    pub(crate) fn told(self) -> Value {
        let mut told = json!({ "currency": self.currency.as_str() });
        for (name, minor) in [("price_min", self.min_minor), ("price_max", self.max_minor)] {
            if let Some(minor) = minor {
                told[name] = minor.into();
            }
        }
        told
    }

    pub(crate) const fn is_open(self) -> bool {
        self.min_minor.is_none() && self.max_minor.is_none()
    }

    /// Returns the difference between a price and the range; 0 within the range. A price of 0 means no price and is
    /// never within limits.
    pub(crate) fn gap_minor(self, minor: i64) -> i64 {
        if minor <= 0 && !self.is_open() {
            return i64::MAX;
        }
        let below = self.min_minor.map_or(0, |min| min.saturating_sub(minor).max(0));
        let above = self.max_minor.map_or(0, |max| minor.saturating_sub(max).max(0));
        below.saturating_add(above)
    }
}
