//! What is read of the answers of REST operations. Members that are not needed here are not read.

mod cart;
mod catalogue;

use serde::Deserialize;

pub(crate) use self::cart::{Cart, Checkout, Group, Line, PriceChange, Problem, Warning};
pub(crate) use self::catalogue::{Card, Detail, Medium, Offer, Page, Variant};

/// What a result is wrapped in.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<T> {
    pub(crate) data: T,
}
