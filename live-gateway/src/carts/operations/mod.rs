//! Operations on a cart, each in a file of its own.

mod codes;
mod create;
mod delivery;
mod lines;
mod optimize;
mod read;
mod replace;
mod resolve;

use data_model::{ProductIdent, VariantId};

use crate::rules::carts::record::ShownPrice;
use crate::schema::carts::CartDocument;

/// A cart as it was read.
#[derive(Debug, Clone)]
pub(crate) struct CartRead {
    pub(crate) told: CartDocument,
    /// True for an answer that was given a moment before: no store was asked for it.
    pub(crate) is_shared: bool,
}

/// An item that is to be put into a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) product: ProductIdent,
    /// The variant; without it the first one that can be bought.
    pub(crate) variant: Option<VariantId>,
    pub(crate) quantity: u32,
    /// The price that the caller showed for one.
    pub(crate) shown: Option<ShownPrice>,
}
