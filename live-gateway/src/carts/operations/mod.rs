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

#[derive(Debug, Clone)]
pub(crate) struct CartRead {
    pub(crate) told: CartDocument,
    /// True if the response comes from a recent read, so that no store was queried.
    pub(crate) is_shared: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) product: ProductIdent,
    /// Variant to add. Without it, the first variant that can be bought is used.
    pub(crate) variant: Option<VariantId>,
    pub(crate) quantity: u32,
    /// Unit price that the caller showed to the buyer.
    pub(crate) shown: Option<ShownPrice>,
}
