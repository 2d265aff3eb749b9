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
    /// Maximum number of offers.
    #[param(default = 20, minimum = 1, maximum = 100, required = false)]
    pub limit: Option<i64>,
    /// Indian pincode; adds `delivery` to each offer.
    #[param(required = false, pattern = "^([1-9][0-9]{5})?$")]
    pub pincode: Option<String>,
}

/// One brand's offer of the product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandOffer<'a> {
    /// UUID of the product at this brand.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Product id in its other form: `sha:` and 40 hex digits.
    #[schema(value_type = String, pattern = "^sha:[0-9a-f]{40}$")]
    pub product_uid: ProductUid,
    /// Title of the product at this brand.
    pub title: Cow<'a, str>,
    /// The brand's display name.
    pub brand: Cow<'a, str>,
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// URL of the product's page at the brand's store.
    #[schema(format = "uri")]
    pub url: Cow<'a, str>,
    /// Matching variant, if a variant of every brand is known and corresponds to one variant of this product. Null if
    /// all offers are for whole products.
    #[schema(required = true)]
    pub variant_id: Option<Cow<'a, str>>,
    /// Price of the matching variant, otherwise the lowest price of all variants, in minor units; 0 if no price is
    /// stated.
    pub price_minor: i64,
    /// List price of the matching or cheapest variant, if it is marked down.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// True if the matching variant is available, or any variant if none matches.
    pub available: bool,
    /// URL of the first picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// Known delivery facts for `pincode`; absent without this parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub delivery: Option<CardDelivery>,
    /// True for the requested product.
    pub is_this_product: bool,
    /// Confidence that this is the same product, from 0.8 to 1.
    pub confidence: f32,
    /// Deciding evidence: `barcode`, `model` or `title`; null for the requested product itself.
    #[schema(required = true)]
    pub basis: Option<Cow<'a, str>>,
    /// Evidence that this is the same product, strongest first.
    pub reasons: Vec<MatchReason<'a>>,
}

/// Evidence that two products are the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MatchReason<'a> {
    /// Kind of evidence: `barcode`, `model`, `brand`, `title`, `words`, `spelling`, `attribute`, `quantity`, `price` or
    /// `meaning`.
    pub code: Cow<'a, str>,
    /// Detail of the evidence, such as the number, the word, or `3/4` of the words; null if the code needs none.
    #[schema(required = true)]
    pub value: Option<Cow<'a, str>>,
}

/// Offers of all brands for one product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OffersAnswer<'a> {
    /// Offers in stock first, then offers in the product's own currency, and within a currency the lowest price first.
    pub data: Vec<BrandOffer<'a>>,
    /// Release from which the response was built.
    pub provenance: OffersProvenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}

/// Provenance of the offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OffersProvenance<'a> {
    /// Id of the release.
    pub release: Cow<'a, str>,
    /// `release_without_matches` if the release has no data on identical products, otherwise null.
    #[schema(required = true)]
    pub unknown_reason: Option<Cow<'a, str>>,
    /// Request parameters that the server ignored; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ignored: Option<Vec<IgnoredParameter>>,
}
