//! Claims of an attribution token.

use serde::{Deserialize, Serialize};

/// Name of the attribute that contains the token in a store's cart and in the resulting order.
pub(crate) const ATTRIBUTE: &str = "haat_attribution";

pub(crate) const TYPE: &str = "JWT";

/// Maximum number of quotes in a token. The number is limited because a store saves the token as a cart attribute.
pub(crate) const QUOTES_MAX: usize = 20;

/// Claims of a token (RFC 7519), as listed in `docs/buying.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// Issuer: the public address of this service.
    pub(crate) iss: String,
    /// Audience: the permanent host of a store, or this service for the token of a whole cart.
    pub(crate) aud: Vec<String>,
    pub(crate) jti: String,
    /// Time of issue, in seconds since 1970.
    pub(crate) iat: i64,
    /// Time of expiry, in seconds since 1970.
    pub(crate) exp: i64,
    /// SHA-256 of the cart's id in base64url. Someone who knows the cart's id can check that the token belongs to the
    /// cart.
    pub(crate) cart: String,
    /// Slug of the store's brand. The token of a whole cart has all brands of the cart and is sent to no store.
    pub(crate) brands: Vec<String>,
    /// Ids (`jti`) of the first [`QUOTES_MAX`] signed quotes with which lines of these brands were added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) quotes: Vec<String>,
}
