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

pub(crate) use self::renewal::Renewals;
pub(crate) use self::sign_in::{AccountAction, Credentials};
pub(crate) use self::token::FoundTokens;
pub use self::token::seal_storefront_token;
pub(crate) use self::tries::AccountTries;
