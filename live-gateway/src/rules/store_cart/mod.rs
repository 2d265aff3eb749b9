//! Parses a store's own cart from the store's responses. The module is pure: no I/O, no clock.
//!
//! In: a [`storefront::GraphqlAnswer`] to one of `storefront::documents::CART_*`. Out: a [`StoreCart`] in minor units
//! of the cart's only currency, or the reason why the response is rejected. A cart always satisfies `subtotal +
//! delivery + other - (line + order + shipping discounts) = total`.
//!
//! - [`read_mutation`]`(&GraphqlAnswer, field) -> Result<CartAnswer, CartFault>`: `field` is the mutation's name.
//! - [`read_cart`]`(&GraphqlAnswer) -> Result<Option<StoreCart>, CartFault>`: `None` if the cart no longer exists.
//!
//! [`crate::cart_client::CartClient`] makes the calls.

mod arithmetic;
mod input;
mod read;
mod wire;

#[cfg(test)]
mod tests;

use data_model::{CurrencyCode, VariantId};
use serde::{Deserialize, Serialize};
use storefront::GraphqlErrorKind;

use crate::hidden::SecretText;
use crate::rules::reason::Nonsense;

pub(crate) use self::arithmetic::is_same_code;
pub(crate) use self::input::{
    Buyer, CartAddress, CartAttribute, CartDraft, DeliveryChoice, LineQuantity, VariantQuantity, attributes_input,
    lines_input,
};
pub(crate) use self::read::{read_cart, read_mutation, words};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreCart {
    /// Platform's id of the cart, including the key that opens the cart.
    pub(crate) id: SecretText,
    /// Page on which a person checks out.
    pub(crate) checkout_url: SecretText,
    pub(crate) currency: CurrencyCode,
    pub(crate) lines: Vec<StoreLine>,
    /// Price of the lines before discounts.
    pub(crate) subtotal_minor: i64,
    pub(crate) discounts: Discounts,
    /// Price of the selected delivery before discounts, as far as the total includes it.
    pub(crate) delivery_minor: i64,
    /// Other amounts in the total, such as gift cards and taxes; nearly always 0.
    pub(crate) other_minor: i64,
    pub(crate) total_minor: i64,
    pub(crate) codes: Vec<StoreCode>,
    /// Discounts without a code, each title once.
    pub(crate) automatic: Vec<AutomaticDiscount>,
    /// Delivery groups; empty until an address is set, and if nothing is delivered there.
    pub(crate) deliveries: Vec<StoreDelivery>,
    pub(crate) attributes: Vec<CartAttribute>,
    /// Delivery address at the store; `None` if the store does not state it.
    #[serde(default)]
    pub(crate) address: Option<CartAddress>,
    pub(crate) warnings: Vec<StoreWarning>,
}

/// Sums of the discounts on lines, order and shipping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Discounts {
    pub(crate) line_minor: i64,
    pub(crate) order_minor: i64,
    pub(crate) shipping_minor: i64,
}

impl Discounts {
    pub(crate) const fn total_minor(self) -> i64 {
        self.line_minor + self.order_minor + self.shipping_minor
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreLine {
    /// Platform's id of the line. The id contains the cart's id and is never shown.
    pub(crate) id: SecretText,
    pub(crate) variant: VariantId,
    pub(crate) product: u64,
    pub(crate) title: String,
    /// Title of the variant; empty for a product's only default variant.
    pub(crate) variant_title: String,
    pub(crate) image: Option<String>,
    /// Quantity in the cart; 0 if the item is sold out.
    pub(crate) quantity: u32,
    /// True if the line has attributes. Lines that this service adds never have any.
    #[serde(default)]
    pub(crate) has_attributes: bool,
    pub(crate) unit_price_minor: i64,
    /// Price of the line before discounts.
    pub(crate) subtotal_minor: i64,
    /// Discounts of this line. Order discounts are not divided among the lines.
    pub(crate) discount_minor: i64,
    pub(crate) available: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreCode {
    pub(crate) code: String,
    /// True if the store applies the code.
    pub(crate) applicable: bool,
    /// Total discount of the code on lines, order and shipping.
    pub(crate) discount_minor: i64,
    /// Part of the discount that applies to shipping.
    pub(crate) shipping_minor: i64,
    /// True if the store states that the code is for shipping only, even if shipping is free.
    #[serde(default)]
    pub(crate) is_for_shipping: bool,
    /// Kind of value that the store states for the discount on goods.
    #[serde(default)]
    pub(crate) stated: Option<DiscountKind>,
}

/// Kind of value that a store states for a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiscountKind {
    Percentage,
    Amount,
}

/// Discount that applies without a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AutomaticDiscount {
    pub(crate) title: String,
    pub(crate) discount_minor: i64,
}

/// Lines that are delivered together, and their delivery options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreDelivery {
    pub(crate) id: SecretText,
    pub(crate) options: Vec<StoreOption>,
    pub(crate) selected: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreOption {
    pub(crate) handle: String,
    #[serde(default)]
    pub(crate) code: Option<String>,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) amount_minor: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreWarning {
    /// Platform's code, for example `MERCHANDISE_NOT_ENOUGH_STOCK`.
    pub(crate) code: String,
    pub(crate) message: String,
    /// Variant with the problem; `None` if the warning is about the whole cart.
    pub(crate) variant: Option<VariantId>,
}

impl StoreWarning {
    /// True if the message contains this discount code as a word.
    pub(crate) fn names(&self, code: &str) -> bool {
        let words = self.message.split_whitespace();
        let mut words = words.map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
        words.any(|word| is_same_code(word, code))
    }
}

/// Store's reason for refusing a call (`userErrors`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Option<String>,
    /// Path to the invalid field: `lines`, `0`, `merchandiseId`.
    pub(crate) field: Vec<String>,
    pub(crate) message: String,
}

/// Response to a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CartAnswer {
    /// Cart after the call, even if the store refused the call.
    pub(crate) cart: Option<StoreCart>,
    /// Reasons for a refusal; empty if the store carried out the call.
    pub(crate) refusals: Vec<Refusal>,
    /// True if an earlier copy of the call may still be carried out.
    pub(crate) is_open: bool,
}

impl Refusal {
    pub(crate) fn is_of_no_variant(&self) -> bool {
        let names_it = self.field.last().is_some_and(|step| step == "merchandiseId");
        names_it && self.code.as_deref() == Some("INVALID")
    }
}

impl CartAnswer {
    /// True if the requested cart no longer exists. `cart` may then be a new, different cart.
    pub(crate) fn is_gone(&self) -> bool {
        let of_cart = |refusal: &Refusal| refusal.field.len() == 1 && refusal.field[0] == "cartId";
        self.refusals.iter().any(of_cart)
    }
}

/// Reasons why a response contains no cart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CartFault {
    /// The response contains GraphQL errors instead of a cart.
    #[error("the store answers with a GraphQL error: {0:?}")]
    Refused(GraphqlErrorKind),
    /// The response is malformed.
    #[error(transparent)]
    Unreadable(#[from] Nonsense),
}
