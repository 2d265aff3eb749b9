//! A store's own cart, as the store's answers state it. Pure: no I/O, no clock.
//!
//! In: a [`storefront::GraphqlAnswer`] to one of `storefront::documents::CART_*`. Out: [`StoreCart`], in minor units of
//! the cart's one currency, in which always
//! `subtotal + delivery + other - (line + order + shipping discounts) = total`, or why the answer is not believed.
//!
//! - [`read_mutation`]`(&GraphqlAnswer, field) -> Result<CartAnswer, CartFault>`: `field` is the mutation's name.
//! - [`read_cart`]`(&GraphqlAnswer) -> Result<Option<StoreCart>, CartFault>`: `None` where the cart is gone.
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

/// A store's cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreCart {
    /// The platform's id, with the key that opens the cart.
    pub(crate) id: SecretText,
    /// The page where a person checks out.
    pub(crate) checkout_url: SecretText,
    pub(crate) currency: CurrencyCode,
    pub(crate) lines: Vec<StoreLine>,
    /// The price of the lines before any discount.
    pub(crate) subtotal_minor: i64,
    pub(crate) discounts: Discounts,
    /// The chosen delivery before discounts, as far as the total counts it in.
    pub(crate) delivery_minor: i64,
    /// Other amounts that the store counts in (gift cards, taxes); nearly always 0.
    pub(crate) other_minor: i64,
    pub(crate) total_minor: i64,
    /// The list of codes as the store has it.
    pub(crate) codes: Vec<StoreCode>,
    /// Discounts that came without a code, each title once.
    pub(crate) automatic: Vec<AutomaticDiscount>,
    /// Empty until an address is selected, and where nothing is delivered there.
    pub(crate) deliveries: Vec<StoreDelivery>,
    pub(crate) attributes: Vec<CartAttribute>,
    /// The destination, as the store has it; `None` where it does not say so.
    #[serde(default)]
    pub(crate) address: Option<CartAddress>,
    pub(crate) warnings: Vec<StoreWarning>,
}

/// The sums that discounts take off lines, order and shipping.
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

/// A line of a store's cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreLine {
    /// The platform's id. It names the cart, so it is not shown.
    pub(crate) id: SecretText,
    pub(crate) variant: VariantId,
    /// The platform's id of the product.
    pub(crate) product: u64,
    pub(crate) title: String,
    /// Empty for the one default variant.
    pub(crate) variant_title: String,
    pub(crate) image: Option<String>,
    /// 0 where it is sold out.
    pub(crate) quantity: u32,
    /// It has attributes of its own, as no line has that is asked for here.
    #[serde(default)]
    pub(crate) has_attributes: bool,
    pub(crate) unit_price_minor: i64,
    /// Before any discount.
    pub(crate) subtotal_minor: i64,
    /// The sum that discounts of this line take off; discounts of the order are not divided among lines.
    pub(crate) discount_minor: i64,
    pub(crate) available: bool,
}

/// A code of a store's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreCode {
    /// As it was given.
    pub(crate) code: String,
    /// The store's own verdict.
    pub(crate) applicable: bool,
    /// The sum that it takes off lines, order and shipping together.
    pub(crate) discount_minor: i64,
    /// The part of it that is taken off shipping.
    pub(crate) shipping_minor: i64,
    /// The store says that it is for shipping alone, even where that costs nothing.
    #[serde(default)]
    pub(crate) is_for_shipping: bool,
    /// The kind of value that the store states for the sum it takes off goods.
    #[serde(default)]
    pub(crate) stated: Option<DiscountKind>,
}

/// The kind of value that a store states for a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiscountKind {
    Percentage,
    Amount,
}

/// A discount that needs no code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AutomaticDiscount {
    pub(crate) title: String,
    pub(crate) discount_minor: i64,
}

/// Lines that are delivered together, and their ways of delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreDelivery {
    pub(crate) id: SecretText,
    pub(crate) options: Vec<StoreOption>,
    /// Handle of the chosen one.
    pub(crate) selected: Option<String>,
}

/// A way of delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreOption {
    pub(crate) handle: String,
    /// The store's code of it.
    #[serde(default)]
    pub(crate) code: Option<String>,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) amount_minor: i64,
}

/// A warning from the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreWarning {
    /// The platform's code, `MERCHANDISE_NOT_ENOUGH_STOCK` say.
    pub(crate) code: String,
    /// In the store's words, which change.
    pub(crate) message: String,
    /// The variant that it is about; `None` for the whole cart.
    pub(crate) variant: Option<VariantId>,
}

impl StoreWarning {
    /// True where a word of its message is this code.
    pub(crate) fn names(&self, code: &str) -> bool {
        let words = self.message.split_whitespace();
        let mut words = words.map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
        words.any(|word| is_same_code(word, code))
    }
}

/// The store's reason for not doing the call (`userErrors`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Option<String>,
    /// The way to what is wrong: `lines`, `0`, `merchandiseId`.
    pub(crate) field: Vec<String>,
    /// In the store's words.
    pub(crate) message: String,
}

/// The answer to a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CartAnswer {
    /// The cart afterwards, whether or not the store did what it was asked.
    pub(crate) cart: Option<StoreCart>,
    /// Empty where it did.
    pub(crate) refusals: Vec<Refusal>,
    /// An earlier sending of the call may be carried out yet.
    pub(crate) is_open: bool,
}

impl Refusal {
    /// True where the store has no variant of that id (any more).
    pub(crate) fn is_of_no_variant(&self) -> bool {
        let names_it = self.field.last().is_some_and(|step| step == "merchandiseId");
        names_it && self.code.as_deref() == Some("INVALID")
    }
}

impl CartAnswer {
    /// True where the cart that was asked about is gone; `cart` may be another, fresh one then.
    pub(crate) fn is_gone(&self) -> bool {
        let of_cart = |refusal: &Refusal| refusal.field.len() == 1 && refusal.field[0] == "cartId";
        self.refusals.iter().any(of_cart)
    }
}

/// Reasons why an answer is no cart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CartFault {
    /// Errors of GraphQL stand in its place, of this kind.
    #[error("the store answers with an error of GraphQL: {0:?}")]
    Refused(GraphqlErrorKind),
    /// The answer is not believed.
    #[error(transparent)]
    Unreadable(#[from] Nonsense),
}
