//! Customer accounts at the brands' stores, so that callers shop as signed-in customers.
//!
//! In: an e-mail address and a password, which are sent only to the store. Out: the caller's sign-in status. The
//! store's token is stored sealed, bound to the caller and the store, and is sent only with that caller's carts at that
//! store.

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

/// Operations on customer accounts at stores; cheap to clone.
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
