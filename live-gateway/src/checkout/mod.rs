//! From a cart to the brands' own checkouts, where it ends with a person. Each store's cart carries a token that says who
//! sent the buyer, which anyone can verify.

mod handoff;
mod jws;
mod keys;
pub(crate) mod quote;
pub mod schema;
mod token;

pub(crate) use self::keys::SigningKeys;
pub use self::keys::{SigningError, rotate_signing_key};
