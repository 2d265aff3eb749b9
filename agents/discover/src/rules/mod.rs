//! Whether a product keeps to what was asked for, and the words that say why it is there. Pure: facts in, a verdict out.

pub(crate) mod facets;
pub(crate) mod fits;
pub(crate) mod sizes;
pub(crate) mod why;

use data_model::CurrencyCode;
use data_understanding::Price;

/// What a product may cost, in minor units of one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min_minor: Option<i64>,
    pub(crate) max_minor: Option<i64>,
    pub(crate) currency: CurrencyCode,
}

impl Bounds {
    /// Of what a sentence says and of a budget besides: the lower of two bounds above holds.
    pub(crate) fn of(price: Price, budget_max_minor: Option<i64>, currency: CurrencyCode) -> Self {
        let unit = 10_u64.pow(currency.exponent());
        let minor = |hundredths: u64| i64::try_from(hundredths.saturating_mul(unit) / 100).unwrap_or(i64::MAX);
        // What JSON numbers hold exactly is the most that the catalogue is asked for.
        let minor = |hundredths: u64| minor(hundredths).min((1 << 53) - 1);
        let stated = price.max.map(minor);
        Self {
            min_minor: price.min.map(minor),
            max_minor: stated.into_iter().chain(budget_max_minor).min(),
            currency,
        }
    }

    /// Whether nothing can cost that.
    pub(crate) fn is_empty(self) -> bool {
        self.min_minor.zip(self.max_minor).is_some_and(|(min, max)| min > max)
    }

    pub(crate) fn holds(self, minor: i64) -> bool {
        self.min_minor.is_none_or(|min| min <= minor) && self.max_minor.is_none_or(|max| minor <= max)
    }
}
