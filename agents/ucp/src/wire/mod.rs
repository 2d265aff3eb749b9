//! Fields that are read from REST responses. All other fields are ignored.

mod cart;
mod catalogue;

use serde::Deserialize;

pub(crate) use self::cart::{Cart, Checkout, Group, Line, PriceChange, Problem, Warning};
pub(crate) use self::catalogue::{BrandOffer, Card, Detail, Medium, Offer, Page, Variant};

/// Envelope around the result of a REST operation.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) data: T,
}
