//! Customers of the brands' stores, as whom callers shop there.
//!
//! In: an e-mail address and a password, which go to the store and nowhere else. Out: that the caller is signed in. The
//! store's token is kept sealed, bound to the caller and the store, and sent to that caller's carts there.

mod answer;
mod customers;
mod renewal;
pub mod schema;
mod sign_in;
mod token;
mod tries;

use std::sync::Arc;

use self::renewal::Renewals;
pub(crate) use self::sign_in::{AccountAction, AccountRequest};
use self::token::FoundTokens;
pub use self::token::seal_storefront_token;
use self::tries::AccountTries;
use crate::cart_context::CartContext;

/// Accounts at stores, with everything that they need. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Accounts {
    context: Arc<CartContext>,
    tokens: Arc<FoundTokens>,
    renewals: Arc<Renewals>,
    tries: Arc<AccountTries>,
}

impl Accounts {
    pub(crate) fn new(context: Arc<CartContext>) -> Self {
        Self {
            context,
            tokens: Arc::default(),
            renewals: Arc::default(),
            tries: Arc::default(),
        }
    }
}
