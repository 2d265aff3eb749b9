//! Request and response types of customer accounts.

use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Customer as whom a caller is signed in at a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Account {
    /// Slug of the brand.
    pub brand_slug: String,
    /// E-mail address of the customer.
    #[schema(format = Email)]
    pub email: String,
    /// Status of the account: `registered` or `logged_in`.
    pub status: &'static str,
    /// Time at which the sign-in ends.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// Body of `POST /v1/account/{action}`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct AccountBody {
    /// E-mail address of the customer.
    #[schema(format = Email)]
    pub email: String,
    /// Password of the customer. The password is sent only to the brand's store and is not stored.
    #[schema(format = Password)]
    pub password: String,
    /// Brand, by slug or domain.
    pub brand: String,
}
