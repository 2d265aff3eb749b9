//! The members of REST answers that are read; others are skipped.

mod cart;
mod catalogue;

use serde::Deserialize;

pub(crate) use self::cart::{Cart, Checkout, Group, Line, PriceChange, Problem, Warning};
pub(crate) use self::catalogue::{BrandOffer, Card, Detail, Medium, Offer, Page, Variant};

/// The envelope of a REST operation's result.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) data: T,
}
