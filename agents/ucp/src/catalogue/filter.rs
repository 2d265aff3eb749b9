use serde::Deserialize;

use crate::failure::Failure;
use crate::market::Parameters;

const CATEGORIES_MAX: usize = 20;
const CATEGORY_CHARS_MAX: usize = 200;

/// Filters of a search. Unknown fields are ignored, as the protocol requires.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Filters {
    pub(crate) categories: Vec<String>,
    pub(crate) price: PriceFilter,
}

/// Price limits, in minor units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct PriceFilter {
    min: Option<i64>,
    max: Option<i64>,
}

/// Location and currency of the buyer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Context {
    pub(crate) currency: Option<String>,
}

impl PriceFilter {
    pub(crate) fn is_none(self) -> bool {
        self.min.is_none() && self.max.is_none()
    }

    /// True if a price is within the limits, which a price of 0 (no price) never is.
    pub(crate) fn takes(self, amount: i64) -> bool {
        let is_price = amount > 0 || self.is_none();
        is_price && self.min.is_none_or(|min| amount >= min) && self.max.is_none_or(|max| amount <= max)
    }
}

impl Filters {
    pub(crate) fn is_none(&self) -> bool {
        self.categories.is_empty() && self.price.is_none()
    }

    /// Rejects filters that are too large or impossible.
    pub(crate) fn checked(self) -> Result<Self, Failure> {
        let is_long = |category: &String| category.is_empty() || category.chars().count() > CATEGORY_CHARS_MAX;
        if self.categories.len() > CATEGORIES_MAX || self.categories.iter().any(is_long) {
            let content = format!(
                "filters.categories may contain at most {CATEGORIES_MAX} values of 1 to {CATEGORY_CHARS_MAX} \
                 characters."
            );
            return Err(Failure::bad("invalid", content));
        }
        let amounts = [self.price.min, self.price.max];
        if amounts.iter().flatten().any(|amount| *amount < 0) {
            return Err(Failure::bad("invalid", "filters.price: amounts must not be negative."));
        }
        if let (Some(min), Some(max)) = (self.price.min, self.price.max)
            && min > max
        {
            return Err(Failure::bad("invalid", "filters.price: min must not be above max."));
        }
        Ok(self)
    }

    /// Converts the filters to parameters of search and browse.
    pub(crate) fn parameters(&self, context: &Context) -> Parameters {
        let mut parameters = Parameters::new();
        for (name, amount) in [("price_min", self.price.min), ("price_max", self.price.max)] {
            parameters.extend(amount.map(|amount| (name, amount.to_string())));
        }
        if !self.price.is_none() {
            parameters.extend(context.currency.clone().map(|currency| ("currency", currency)));
        }
        parameters
    }
}
