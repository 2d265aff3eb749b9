//! Checkouts: links from a cart to the brands' own checkouts, which a person completes. Each store's cart carries an
//! attribution token that names the service that sent the buyer. Anyone can verify the token.

mod handoff;
mod jws;
mod keys;
pub(crate) mod quote;
pub mod schema;
mod token;

use std::sync::Arc;

use self::keys::SigningKeys;
pub use self::keys::{SigningError, rotate_signing_key};
use crate::cart_context::CartContext;
use crate::carts::Carts;

/// Checkouts of carts, with the keys that sign tokens and quotes; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Checkouts {
    pub(crate) carts: Carts,
    context: Arc<CartContext>,
    keys: Arc<SigningKeys>,
}

impl Checkouts {
    pub(crate) fn new(carts: Carts) -> Self {
        Self {
            context: Arc::clone(&carts.context),
            carts,
            keys: Arc::default(),
        }
    }
}
