//! Discounts of a store: codes that buyers enter, and discounts that apply by themselves.
//!
//! A store's rules follow from its seed, until somebody adds or removes one. What they take off a basket is worked out in
//! `apply.rs` and `reckon.rs`, for carts and for tests that want to know what is true.

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

/// One discount of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct DiscountRule {
    /// The code that buyers enter, in whatever case; `None` for one that applies by itself.
    #[serde(default)]
    pub code: Option<String>,
    /// The title of an automatic discount; the name of one with a code is its code.
    #[serde(default)]
    pub title: String,
    /// The reduction.
    pub takes: DiscountValue,
    /// The ids of the products that it is for; all products where empty.
    #[serde(default)]
    pub products: Vec<u64>,
    /// The minimum price of the lines that it is for, before any discount, in minor units of the store's currency.
    #[serde(default)]
    pub minimum_subtotal_minor: Option<u64>,
    /// The minimum number of pieces in the cart that it is for.
    #[serde(default)]
    pub minimum_quantity: Option<u64>,
    /// Not before this moment.
    #[serde(default)]
    pub starts_at: Option<DateTime<Utc>>,
    /// Not from this moment on.
    #[serde(default)]
    pub ends_at: Option<DateTime<Utc>>,
    /// The number of orders in which it may be used. No emulated store takes orders: [`DiscountRule::used`] stays.
    #[serde(default)]
    pub usage_limit: Option<u64>,
    /// The number of orders in which it was used.
    #[serde(default)]
    pub used: u64,
    /// Only for buyers who are logged in.
    #[serde(default)]
    pub customers_only: bool,
    /// Only where a delivery is chosen, as the platform has it of one for certain countries.
    #[serde(default)]
    pub delivered_only: bool,
    /// The other discounts that it may be combined with.
    #[serde(default)]
    pub combines_with: CombinesWith,
    /// The place where the store itself announces it.
    #[serde(default)]
    pub told: DiscountPlacement,
}

/// The reduction by a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum DiscountValue {
    /// A share of each line that it is for, rounded half up to the minor unit.
    Percentage {
        /// 1 to 100.
        percent: u32,
    },
    /// An amount, of all lines that it is for together; never more than they cost.
    Amount {
        /// In minor units of the store's currency.
        amount_minor: u64,
        /// True where it is taken off every piece instead.
        #[serde(default)]
        each_item: bool,
    },
    /// The price of the chosen delivery.
    Shipping,
}

/// The kinds of discounts that another may stand beside; both must let the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case", deny_unknown_fields)]
pub struct CombinesWith {
    /// Discounts of the whole order.
    pub order: bool,
    /// Discounts of certain products.
    pub product: bool,
    /// Discounts of the delivery.
    pub shipping: bool,
}

/// The place where a store announces a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiscountPlacement {
    /// Nowhere that a visitor sees.
    #[default]
    Nowhere,
    /// In the announcement bar of every page.
    Announcement,
    /// In the text of a policy.
    Policy,
}

/// The class of a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Order,
    Product,
    Shipping,
}

impl DiscountRule {
    /// A rule with a code that takes this off, for everyone and without conditions; it goes with no other.
    #[must_use]
    pub fn code(code: impl Into<String>, takes: DiscountValue) -> Self {
        Self {
            code: Some(code.into()),
            ..Self::automatic("", takes)
        }
    }

    /// A rule that applies by itself, for everyone and without conditions; it goes with no other.
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

    /// The name of the rule: its code, or its title.
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

    /// True where each of the two may stand beside the other.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        let lets = |one: &Self, class: Class| match class {
            Class::Order => one.combines_with.order,
            Class::Product => one.combines_with.product,
            Class::Shipping => one.combines_with.shipping,
        };
        lets(self, other.class()) && lets(other, self.class())
    }

    /// True where a merchant could set it up.
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

/// The form in which codes are compared.
pub(crate) fn folded(code: &str) -> String {
    code.trim().to_lowercase()
}
