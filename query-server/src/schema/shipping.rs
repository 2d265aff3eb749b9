use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{ProductProvenance, ShippingTierSummary};

/// Parameters of `GET /v1/shipping`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ShippingParameters {
    /// The product: `sha:` and 40 hex digits, or a UUID.
    #[param(pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")]
    pub product: String,
    /// Indian postal index number.
    #[param(pattern = "^[1-9][0-9]{5}$", example = "560001")]
    pub pincode: String,
}

/// Shipping of a product to a pincode. Unknown is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Shipping {
    /// UUID.
    #[schema(format = "uuid")]
    pub product_id: String,
    /// The brand's slug.
    pub brand_slug: String,
    /// The pincode that was asked for.
    pub pincode: String,
    /// ISO 4217: the currency of the amounts.
    pub currency: String,
    /// Order value from which shipping is free.
    #[schema(required = true)]
    pub free_shipping_threshold_minor: Option<i64>,
    /// Cash on delivery.
    #[schema(required = true)]
    pub cod_available: Option<bool>,
    /// Rates, in the store's order; empty where none is known.
    pub tiers: Vec<ShippingTierSummary>,
    /// Delivery to the pincode.
    pub delivery: Delivery,
}

/// Delivery to a pincode, as far as it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Delivery {
    /// Whether the store delivers there.
    #[schema(required = true)]
    pub serviceable: Option<bool>,
    /// Fewest days.
    #[schema(required = true)]
    pub days_min: Option<u16>,
    /// Most days.
    #[schema(required = true)]
    pub days_max: Option<u16>,
    /// Today in the market's time zone and the fewest days, `2026-11-24`.
    #[schema(required = true, format = Date)]
    pub earliest_date: Option<String>,
    /// Today in the market's time zone and the most days.
    #[schema(required = true, format = Date)]
    pub latest_date: Option<String>,
    /// Delivery zone.
    #[schema(required = true)]
    pub zone: Option<String>,
    /// When the store was asked, RFC 3339.
    #[schema(required = true, format = DateTime)]
    pub sampled_at: Option<String>,
    /// What this follows from: `pincode`, `zone`, `policy` or `unknown`.
    pub basis: String,
}

/// Shipping of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShippingAnswer {
    /// Terms and delivery.
    pub data: Shipping,
    /// Where they come from.
    pub provenance: ProductProvenance,
    /// `graph`
    pub tier: String,
}
