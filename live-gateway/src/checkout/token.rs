//! The claims of an attribution token.

use serde::{Deserialize, Serialize};

/// The name under which a store's cart carries the token, and so the order that is made of it.
pub(crate) const ATTRIBUTE: &str = "haat_attribution";

/// The purpose of such a token (`typ`).
pub(crate) const TYPE: &str = "JWT";

/// Most quotes that a token names: a store keeps it as an attribute of its cart.
pub(crate) const QUOTES_MAX: usize = 20;

/// The claims of a token (RFC 7519), as `docs/buying.md` lists them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// The issuer: the service's public address.
    pub(crate) iss: String,
    /// The audience: a store, by its permanent host; the service itself in the token of a whole cart.
    pub(crate) aud: Vec<String>,
    /// Names the token.
    pub(crate) jti: String,
    /// Since when, in seconds since 1970.
    pub(crate) iat: i64,
    /// The end of its validity, in seconds since 1970.
    pub(crate) exp: i64,
    /// SHA-256 of the cart's id in base64url: a holder of the cart can check that it is this one.
    pub(crate) cart: String,
    /// The store's brand, by slug; all brands of the cart in the token of a whole cart, which no store is given.
    pub(crate) brands: Vec<String>,
    /// Signed quotes with which lines of these brands came, by `jti`: the first [`QUOTES_MAX`] of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) quotes: Vec<String>,
}
