//! Claims of an attribution token.

use serde::{Deserialize, Serialize};

/// Name of the attribute that carries the token in a store's cart, and in the order that results from the cart.
pub(crate) const ATTRIBUTE: &str = "haat_attribution";

/// Type of attribution tokens (`typ`).
pub(crate) const TYPE: &str = "JWT";

/// Maximum number of quotes that a token names, because a store keeps the token as an attribute of its cart.
pub(crate) const QUOTES_MAX: usize = 20;

/// Claims of a token (RFC 7519), as listed in `docs/buying.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// Issuer: the public address of this service.
    pub(crate) iss: String,
    /// Audience: a store, by its permanent host. The token of a whole cart names this service instead.
    pub(crate) aud: Vec<String>,
    /// Unique id of the token.
    pub(crate) jti: String,
    /// Time of issue, in seconds since 1970.
    pub(crate) iat: i64,
    /// Time of expiry, in seconds since 1970.
    pub(crate) exp: i64,
    /// SHA-256 of the cart's id in base64url. Whoever knows the cart's id can check that the token belongs to this
    /// cart.
    pub(crate) cart: String,
    /// Slug of the store's brand. The token of a whole cart names all of its brands and is not sent to any store.
    pub(crate) brands: Vec<String>,
    /// Ids (`jti`) of the signed quotes with which lines of these brands were added: the first [`QUOTES_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) quotes: Vec<String>,
}
