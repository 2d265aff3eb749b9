//! The shapes of answers about discount codes.

use data_model::{CouponKind, CouponSource, Timestamp};
use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{IntoParams, ToSchema};

pub use super::reason::UntestedReason;

/// Parameters of `GET /v1/coupons`: exactly one of `product`, `brand` and `domain`.
#[derive(Debug, Clone, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CouponsParameters {
    /// `sha:` and 40 hex digits, or a UUID.
    #[param(
        required = false,
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"
    )]
    pub product: Option<String>,
    /// A brand's slug or its domain.
    #[param(required = false, max_length = 300)]
    pub brand: Option<String>,
    /// The host of a brand's store.
    #[param(required = false, max_length = 300)]
    pub domain: Option<String>,
    /// Most codes that are considered.
    #[param(default = 40, minimum = 1, maximum = 100, required = false)]
    pub max_candidates: Option<u8>,
}

/// A code that applies to a cart of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CouponEntry {
    /// The code that the buyer enters. Stores do not tell capital letters from small ones.
    pub code: String,
    /// Always `true`: the brand's own store said so, at `tested_at`. Codes that do not apply are counted, not listed.
    pub applicable: bool,
    /// The amount that it takes off the item, in minor units; 0 for a code of which nothing shows before delivery is
    /// chosen.
    pub discount_minor: i64,
    /// The item's price without it, in minor units.
    pub subtotal_minor: i64,
    /// The total of the store's cart with it, in minor units; for a code for delivery, with the delivery as far as the
    /// store counts it in.
    pub total_minor: i64,
    /// ISO 4217 code of all amounts.
    pub currency: String,
    /// `percentage`, `fixed` or `shipping`, as the store states it or as its arithmetic tells; `unknown` where neither does. A
    /// code for delivery where that is free anyway is `shipping` and takes 0 off.
    #[schema(value_type = String)]
    pub kind: CouponKind,
    /// The origin of the code.
    #[schema(schema_with = sources)]
    pub source: CouponSource,
    /// When the store was asked.
    #[schema(value_type = String, format = DateTime)]
    pub tested_at: Timestamp,
}

fn sources() -> Schema {
    let name = ObjectBuilder::new().schema_type(Type::String);
    let about = "The origin of the code: it applied to a cart of this store before, and nothing else tells of it now; the \
                 store's front page, one of its policies, or the product's own description states it; many stores have \
                 it; or it is made of the brand's name.";
    let name = name.enum_values(Some(CouponSource::NAMES)).description(Some(about));
    Schema::Object(name.build())
}

/// A code that was not tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UntestedCode {
    /// The code.
    pub code: String,
    /// The reason.
    pub reason: UntestedReason,
}

/// The codes of a brand, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Coupons {
    /// The brand.
    pub brand_slug: String,
    /// UUID of the product that the cart was made of: the one asked for, or one that stands for the brand. Null where the
    /// brand has nothing in stock.
    #[schema(required = true, format = "uuid")]
    pub product_id: Option<String>,
    /// The platform's id of the variant.
    #[schema(required = true)]
    pub variant_id: Option<String>,
    /// `true`: the store has said of every candidate whether it applies, each at most as long ago as the server is set to
    /// believe it. `false`: see `untested`.
    pub verified: bool,
    /// Codes that apply, those that take off most first.
    pub coupons: Vec<CouponEntry>,
    /// The number of codes that were candidates.
    pub candidates: u32,
    /// The number of candidates on which the store has given its verdict, now or lately.
    pub tested: u32,
    /// The others, in the order of the candidates.
    pub untested: Vec<UntestedCode>,
}

/// The sources of an answer about codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CouponsProvenance {
    /// Always `live`.
    pub engine: &'static str,
    /// The release that says which store is the brand's, and what it sells.
    pub release: String,
    /// The number of tested codes that were tested for an earlier request.
    pub remembered: u32,
}

/// The answer of `GET /v1/coupons`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CouponsAnswer {
    /// The codes.
    pub data: Coupons,
    /// The sources of the answer.
    pub provenance: CouponsProvenance,
    /// The oldest `tested_at` of all tested codes; now where none was.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// Always `live`.
    pub tier: &'static str,
}
