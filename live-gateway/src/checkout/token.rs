//! The claims of an attribution token.

use serde::{Deserialize, Serialize};

/// Under which name a store's cart carries the token, and so the order that is made of it.
pub(crate) const ATTRIBUTE: &str = "haat_attribution";

/// The claims of a token (RFC 7519).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// The issuer: the service's public address.
    pub(crate) iss: String,
    /// For whom: a store, by its permanent host; the service itself in the token of a whole cart.
    pub(crate) aud: Vec<String>,
    /// Names the token.
    pub(crate) jti: String,
    /// Since when, in seconds since 1970.
    pub(crate) iat: i64,
    /// Until when, in seconds since 1970.
    pub(crate) exp: i64,
    /// SHA-256 of the cart's id in base64url: who knows the cart can tell that it is this one.
    pub(crate) cart: String,
    /// The store's brand, by slug; all brands of the cart in the token of a whole cart, which no store is given.
    pub(crate) brands: Vec<String>,
}
