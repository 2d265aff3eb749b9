use std::borrow::Cow;

use api::IgnoredParameter;
use data_model::{ProductId, ProductUid};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::CardDelivery;

/// Parameters of `GET /v1/products/{ident}/offers`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OffersParameters {
    /// Most offers wanted.
    #[param(default = 20, minimum = 1, maximum = 100, required = false)]
    pub limit: Option<i64>,
    /// A pincode of India: adds `delivery` to each offer.
    #[param(required = false, pattern = "^([1-9][0-9]{5})?$")]
    pub pincode: Option<String>,
}

/// One brand's offer of the product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandOffer<'a> {
    /// UUID of the product at this brand.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// `sha:` and 40 hex digits.
    #[schema(value_type = String, pattern = "^sha:[0-9a-f]{40}$")]
    pub product_uid: ProductUid,
    /// Its title there.
    pub title: Cow<'a, str>,
    /// The brand's display name.
    pub brand: Cow<'a, str>,
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// Its page at the brand's store.
    #[schema(format = "uri")]
    pub url: Cow<'a, str>,
    /// The variant that is the same, where it is known for every brand and is one variant of this product; else null, and the
    /// offers are of whole products.
    #[schema(required = true)]
    pub variant_id: Option<Cow<'a, str>>,
    /// Price of that variant, else the lowest of all its variants, in minor units; 0 where none is stated.
    pub price_minor: i64,
    /// Its list price, where it is marked down.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// True where that variant, else any, is available.
    pub available: bool,
    /// Address of the first picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// With `pincode`: what is known of delivery there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub delivery: Option<CardDelivery>,
    /// True for the product that was asked for.
    pub is_this_product: bool,
    /// The confidence that it is the same product, from 0.8 to 1.
    pub confidence: f32,
    /// The deciding evidence: `barcode`, `model` or `title`; null for the product itself.
    #[schema(required = true)]
    pub basis: Option<Cow<'a, str>>,
    /// The evidence that it is the same product, the strongest first.
    pub reasons: Vec<MatchReason<'a>>,
}

/// A piece of evidence that two products are the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MatchReason<'a> {
    /// `barcode`, `model`, `brand`, `title`, `words`, `spelling`, `attribute`, `quantity`, `price` or `meaning`.
    pub code: Cow<'a, str>,
    /// Its subject: the number, the word, `3/4` of the words; null where the code says all.
    #[schema(required = true)]
    pub value: Option<Cow<'a, str>>,
}

/// Offers of all brands for one product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OffersAnswer<'a> {
    /// Offers in stock first, then those in the product's own currency, and in each currency the lowest price.
    pub data: Vec<BrandOffer<'a>>,
    /// The release that they come from.
    pub provenance: OffersProvenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}

/// The sources of offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OffersProvenance<'a> {
    /// The release.
    pub release: Cow<'a, str>,
    /// `release_without_matches` where the release does not know which products are the same; else null.
    #[schema(required = true)]
    pub unknown_reason: Option<Cow<'a, str>>,
    /// Parameters of the request that nothing reads, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}
