//! Request and response types of checkouts.

use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

pub use super::jws::Jwk;
use crate::schema::carts::CartProblem;

/// Checkouts of a cart, one for each brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Checkout {
    /// Id of the cart.
    pub cart_id: String,
    /// One checkout for each brand. A person opens it and pays there.
    pub checkouts: Vec<BrandCheckout>,
    /// Token for the caller that covers all of `checkouts`; null if there is none.
    #[schema(required = true)]
    pub attribution: Option<Attribution>,
    /// Problems of brands whose checkout cannot be opened now.
    pub problems: Vec<CartProblem>,
}

/// Checkout of one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct BrandCheckout {
    /// Slug of the brand.
    pub brand_slug: String,
    /// Page on which a person checks out. The page opened when it was checked within the last minutes, or no check
    /// showed that it does not open.
    #[schema(format = "uri")]
    pub checkout_url: String,
    /// ISO 4217 code of the total.
    pub currency: String,
    /// Total that the buyer pays, as stated by the store, in minor units.
    pub total_minor: i64,
    /// JWT that states to this store who referred the buyer. The store's cart carries the token as the attribute
    /// `haat_attribution`. The token names no other brand.
    pub attribution_token: String,
}

/// Token for all checkouts of a cart. The token names the brands of `checkouts` and is returned only to the caller. The
/// stores' carts carry the separate tokens in `checkouts`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Attribution {
    /// Signed JWT.
    pub token: String,
    /// Time at which the token expires.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// Address of the keys that verify the token.
    #[schema(format = "uri")]
    pub jwks_url: String,
}

/// Keys that verify attribution tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JwksDocument {
    /// Keys that sign now or later, and keys whose signed tokens are still valid.
    pub keys: Vec<Jwk>,
}

/// Body of `POST /v1/checkout`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct CheckoutBody {
    /// Id of the cart.
    pub cart_id: String,
}
