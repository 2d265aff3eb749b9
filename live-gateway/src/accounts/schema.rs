//! The shape of accounts in answers.

use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The customer that a caller is signed in as at a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Account {
    /// The brand.
    pub brand_slug: String,
    /// The customer's address.
    #[schema(format = Email)]
    pub email: String,
    /// `registered` or `logged_in`.
    pub status: &'static str,
    /// The end of the sign-in.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// The body of `POST /v1/account/{action}`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct AccountBody {
    /// The customer's address.
    #[schema(format = Email)]
    pub email: String,
    /// The password. It goes to the brand's store alone; it is not kept.
    #[schema(format = Password)]
    pub password: String,
    /// The brand, by slug or domain.
    pub brand: String,
}
