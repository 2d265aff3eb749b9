//! Response and request types of discount codes.

use data_model::{CouponKind, CouponSource, Timestamp};
use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{IntoParams, ToSchema};

pub use super::reason::UntestedReason;

/// Parameters of `GET /v1/coupons`: exactly one of `product`, `brand` and `domain`.
#[derive(Debug, Clone, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CouponsParameters {
    /// Product: `sha:` and 40 hex digits, or a UUID.
    #[param(
        required = false,
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"
    )]
    pub product: Option<String>,
    /// Brand, by slug or domain.
    #[param(required = false, max_length = 300)]
    pub brand: Option<String>,
    /// Host of a brand's store.
    #[param(required = false, max_length = 300)]
    pub domain: Option<String>,
    /// Maximum number of codes that are considered.
    #[param(default = 40, minimum = 1, maximum = 100, required = false)]
    pub max_candidates: Option<u8>,
}

/// Code that applies to a cart of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CouponEntry {
    /// Code that the buyer enters. Stores ignore case.
    pub code: String,
    /// Always `true`: the brand's own store accepted the code at `tested_at`. Codes that do not apply are counted but
    /// not listed.
    pub applicable: bool,
    /// Discount on the item in minor units; 0 for a code whose discount shows only after a delivery option is chosen.
    pub discount_minor: i64,
    /// Price of the item without the code, in minor units.
    pub subtotal_minor: i64,
    /// Total of the store's cart with the code, in minor units. For a shipping code it includes shipping as far as the
    /// store counts it.
    pub total_minor: i64,
    /// ISO 4217 code of all amounts.
    pub currency: String,
    /// `percentage`, `fixed` or `shipping`, as stated by the store or derived from its amounts; `unknown` if neither
    /// shows the kind. A shipping code has the kind `shipping` and a discount of 0 if shipping is free anyway.
    #[schema(value_type = String)]
    pub kind: CouponKind,
    /// Source of the code.
    #[schema(schema_with = sources)]
    pub source: CouponSource,
    /// Time at which the store was queried.
    #[schema(value_type = String, format = DateTime)]
    pub tested_at: Timestamp,
}

fn sources() -> Schema {
    let name = ObjectBuilder::new().schema_type(Type::String);
    let about = "The origin of the code: the code worked in a cart of this store before, and no other source states \
                 it now; the code is stated on the store's front page, in one of its policies, or in the product's \
                 own description; many stores use the code; or the code is formed from the brand's name.";
    let name = name.enum_values(Some(CouponSource::NAMES)).description(Some(about));
    Schema::Object(name.build())
}

/// Code that was not tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UntestedCode {
    /// Discount code.
    pub code: String,
    /// Reason why the code was not tested.
    pub reason: UntestedReason,
}

/// Known codes of a brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Coupons {
    /// Slug of the brand.
    pub brand_slug: String,
    /// UUID of the product in the tested cart: the requested product, or one chosen for the brand. Null if the brand
    /// has nothing in stock.
    #[schema(required = true, format = "uuid")]
    pub product_id: Option<String>,
    /// The platform's id of the tested variant.
    #[schema(required = true)]
    pub variant_id: Option<String>,
    /// `true`: every candidate has a verdict of the store that has not expired. `false`: some candidates are in
    /// `untested`.
    pub verified: bool,
    /// Codes that apply, ordered by discount, the highest first.
    pub coupons: Vec<CouponEntry>,
    /// Number of candidates.
    pub candidates: u32,
    /// Number of candidates with a verdict of the store, from now or from a recent test.
    pub tested: u32,
    /// Codes that were not tested, each with the reason.
    pub untested: Vec<UntestedCode>,
}

/// Sources of a response about codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CouponsProvenance {
    /// Engine of the response: always `live`.
    pub engine: &'static str,
    /// Release that maps the brand to its store and products.
    pub release: String,
    /// Number of tested codes whose verdict is from an earlier request.
    pub remembered: u32,
}

/// Answer of `GET /v1/coupons`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CouponsAnswer {
    /// Codes of the brand.
    pub data: Coupons,
    /// Sources of the response.
    pub provenance: CouponsProvenance,
    /// Oldest `tested_at` of all tested codes; the current time if no code was tested.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// Tier of the response: always `live`.
    pub tier: &'static str,
}
