//! Discounts of a store: codes that buyers enter, and automatic discounts.
//!
//! A store's rules are generated from its seed until rules are added or removed. `apply.rs` and `reckon.rs` compute
//! their effect on a basket, for carts and for tests.

mod apply;
mod book;
mod combine;
mod draw;
mod reckon;
mod verdict;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub(crate) use apply::apply;
pub(crate) use book::{Book, RULES_MAX};
pub(crate) use reckon::{Allocation, AppliedDiscounts, Basket, Item};
pub use verdict::{BasketLine, BasketTruth, DiscountRefusal, DiscountVerdict};

/// One discount rule of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct DiscountRule {
    /// Code that buyers enter in any case of letters; `None` for an automatic discount.
    #[serde(default)]
    pub code: Option<String>,
    /// Title of an automatic discount. A discount with a code is named by its code.
    #[serde(default)]
    pub title: String,
    /// Reduction by the discount.
    pub takes: DiscountValue,
    /// Ids of the products that the discount is for; all products if empty.
    #[serde(default)]
    pub products: Vec<u64>,
    /// Minimum price of the entitled lines before any discount, in minor units of the store's currency.
    #[serde(default)]
    pub minimum_subtotal_minor: Option<u64>,
    /// Minimum number of entitled units in the cart.
    #[serde(default)]
    pub minimum_quantity: Option<u64>,
    /// Time from which the discount applies.
    #[serde(default)]
    pub starts_at: Option<DateTime<Utc>>,
    /// Time at which the discount ends, exclusive.
    #[serde(default)]
    pub ends_at: Option<DateTime<Utc>>,
    /// Maximum number of orders that may use the discount. Emulated stores take no orders, so [`DiscountRule::used`]
    /// does not change.
    #[serde(default)]
    pub usage_limit: Option<u64>,
    /// Number of orders that used the discount.
    #[serde(default)]
    pub used: u64,
    /// True if only logged-in buyers may use the discount.
    #[serde(default)]
    pub customers_only: bool,
    /// True if a delivery must be selected, as on the platform for discounts of certain countries.
    #[serde(default)]
    pub delivered_only: bool,
    /// Classes of discounts that this one may be combined with.
    #[serde(default)]
    pub combines_with: CombinesWith,
    /// Place where the store announces the discount.
    #[serde(default)]
    pub told: DiscountPlacement,
}

/// The reduction by a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum DiscountValue {
    /// A percentage of each entitled line, rounded half up to the minor unit.
    Percentage {
        /// Percentage from 1 to 100.
        percent: u32,
    },
    /// An amount off all entitled lines together, limited to their price.
    Amount {
        /// Amount in minor units of the store's currency.
        amount_minor: u64,
        /// True if the amount is taken off every unit.
        #[serde(default)]
        each_item: bool,
    },
    /// Free delivery: takes off the price of the selected delivery.
    Shipping,
}

/// Classes of discounts with which this discount may be combined. Both discounts must allow the combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case", deny_unknown_fields)]
pub struct CombinesWith {
    /// Allows discounts of the whole order.
    pub order: bool,
    /// Allows discounts of products.
    pub product: bool,
    /// Allows discounts of delivery.
    pub shipping: bool,
}

/// The place where a store announces a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiscountPlacement {
    /// Nowhere that a visitor can see.
    #[default]
    Nowhere,
    /// In the announcement bar of every page.
    Announcement,
    /// In the text of one of the store's policies.
    Policy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Order,
    Product,
    Shipping,
}

impl DiscountRule {
    /// Creates a rule with a code, for everyone and without conditions, which does not combine with other discounts.
    #[must_use]
    pub fn code(code: impl Into<String>, takes: DiscountValue) -> Self {
        Self {
            code: Some(code.into()),
            ..Self::automatic("", takes)
        }
    }

    /// Creates an automatic rule, for everyone and without conditions, which does not combine with other discounts.
    #[must_use]
    pub fn automatic(title: impl Into<String>, takes: DiscountValue) -> Self {
        Self {
            code: None,
            title: title.into(),
            takes,
            products: Vec::new(),
            minimum_subtotal_minor: None,
            minimum_quantity: None,
            starts_at: None,
            ends_at: None,
            usage_limit: None,
            used: 0,
            customers_only: false,
            delivered_only: false,
            combines_with: CombinesWith::default(),
            told: DiscountPlacement::default(),
        }
    }

    /// Returns the name of the rule: its code, or its title if it has no code.
    #[must_use]
    pub fn name(&self) -> &str {
        self.code.as_deref().unwrap_or(&self.title)
    }

    pub(crate) fn class(&self) -> Class {
        match self.takes {
            DiscountValue::Shipping => Class::Shipping,
            DiscountValue::Amount { each_item: true, .. } => Class::Product,
            _ if self.products.is_empty() => Class::Order,
            _ => Class::Product,
        }
    }

    pub(crate) fn is_for(&self, product: u64) -> bool {
        self.products.is_empty() || self.products.contains(&product)
    }

    /// True if both rules allow the combination with the other.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        let lets = |one: &Self, class: Class| match class {
            Class::Order => one.combines_with.order,
            Class::Product => one.combines_with.product,
            Class::Shipping => one.combines_with.shipping,
        };
        lets(self, other.class()) && lets(other, self.class())
    }

    /// True if a merchant could create this rule.
    pub(crate) fn is_sound(&self) -> bool {
        let takes = match self.takes {
            DiscountValue::Percentage { percent } => (1..=100).contains(&percent),
            DiscountValue::Amount { amount_minor, .. } => amount_minor > 0,
            DiscountValue::Shipping => true,
        };
        let named = !self.name().trim().is_empty() && self.name().len() <= 255;
        takes && named && self.products.len() <= 1_000
    }
}

/// Returns the normalised form in which codes are compared.
pub(crate) fn folded(code: &str) -> String {
    code.trim().to_lowercase()
}
