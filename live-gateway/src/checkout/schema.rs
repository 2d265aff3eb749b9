//! The shapes of checkouts in answers.

use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

pub use super::jws::Jwk;
use crate::schema::carts::CartProblem;

/// The checkout of one brand's part of a cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Checkout {
    /// The cart.
    pub cart_id: String,
    /// One for each brand: a person opens it, and pays there.
    pub checkouts: Vec<BrandCheckout>,
    /// The caller's own token, of all of `checkouts`; null where there is none.
    #[schema(required = true)]
    pub attribution: Option<Attribution>,
    /// Brands whose checkout cannot be opened now.
    pub problems: Vec<CartProblem>,
}

/// One brand's checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct BrandCheckout {
    /// The brand.
    pub brand_slug: String,
    /// The page where a person checks out: it opened when it was looked at, within the last minutes, or nothing says
    /// that it does not.
    #[schema(format = "uri")]
    pub checkout_url: String,
    /// ISO 4217 code.
    pub currency: String,
    /// The total that the buyer pays, as the store says.
    pub total_minor: i64,
    /// A JWT that says to this store who sent the buyer: its cart carries it as the attribute `haat_attribution`. It names no
    /// other brand.
    pub attribution_token: String,
}

/// A token of a whole hand-over: it names the brands of `checkouts`, and is answered to the caller alone. Stores' carts
/// carry those of `checkouts`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Attribution {
    /// A JWT, signed with EdDSA.
    pub token: String,
    /// The moment until which it holds.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// The address of the keys that verify it.
    #[schema(format = "uri")]
    pub jwks_url: String,
}

/// The keys that verify attribution tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JwksDocument {
    /// Those that sign, and those that signed tokens which still hold.
    pub keys: Vec<Jwk>,
}

/// The body of `POST /v1/checkout`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct CheckoutBody {
    /// The cart.
    pub cart_id: String,
}
