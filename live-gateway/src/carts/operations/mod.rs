//! Operations on a cart, one per file.

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

/// Result of reading a cart.
#[derive(Debug, Clone)]
pub(crate) struct CartRead {
    pub(crate) told: CartDocument,
    /// True if the response was reused from a recent read, so that no store was queried.
    pub(crate) is_shared: bool,
}

/// Item to add to a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) product: ProductIdent,
    /// Variant to add. Without it, the first variant that can be bought is used.
    pub(crate) variant: Option<VariantId>,
    pub(crate) quantity: u32,
    /// Unit price that the caller showed to the buyer.
    pub(crate) shown: Option<ShownPrice>,
}
