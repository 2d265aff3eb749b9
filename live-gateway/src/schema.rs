//! Response and request types of the live tier's prices.

pub mod carts;

use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Reasons why an entry is not verified. The list is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnverifiedCode {
    /// The current release has no such product. No store was queried.
    ProductNotFound,
    /// The store says that the product no longer exists.
    ProductGone,
    /// The store did not respond within the budget.
    StoreTimeout,
    /// The store asks clients to send no requests for a while.
    StoreThrottled,
    /// The store cannot be reached, is closed, or has failed repeatedly and is not queried for a while.
    StoreUnavailable,
    /// The store's response cannot be parsed, or is about another product.
    StoreUnreadable,
    /// The store's response has a different currency than the stored prices.
    CurrencyDiffers,
    /// The store does not state the currency of its response.
    CurrencyUnknown,
    /// Too many stores are being queried at this moment.
    Busy,
}

impl UnverifiedCode {
    /// Returns the code as it is spelled in responses and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProductNotFound => "product_not_found",
            Self::ProductGone => "product_gone",
            Self::StoreTimeout => "store_timeout",
            Self::StoreThrottled => "store_throttled",
            Self::StoreUnavailable => "store_unavailable",
            Self::StoreUnreadable => "store_unreadable",
            Self::CurrencyDiffers => "currency_differs",
            Self::CurrencyUnknown => "currency_unknown",
            Self::Busy => "busy",
        }
    }
}

/// Current price of a product, or its stored price if the store could not confirm one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LivePrice {
    /// UUID of the product. If there is no such product, the ident as it was sent.
    pub product_id: String,
    /// Content identifier of the product: `sha:` and 40 hex digits.
    #[schema(required = true)]
    pub product_uid: Option<String>,
    /// Slug of the brand that sells the product.
    #[schema(required = true)]
    pub brand_slug: Option<String>,
    /// Title of the product, as stored.
    #[schema(required = true)]
    pub title: Option<String>,
    /// `true`: the brand's store confirmed the entry when it was queried, at `as_of`. `false`: the numbers are the last
    /// stored snapshot; show them as unverified, and do not transact on them.
    pub verified: bool,
    /// Time at which the entry was known to be true: when the store was queried, or when the snapshot was taken.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub as_of: Option<Timestamp>,
    /// Time at which the snapshot was taken; null if the entry is not from a snapshot.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub snapshot_at: Option<Timestamp>,
    /// Reason why the entry is not verified; null if it is verified.
    #[schema(required = true)]
    pub code: Option<UnverifiedCode>,
    /// Human-readable reason why the entry is not verified.
    #[schema(required = true)]
    pub detail: Option<String>,
    /// Interface of the store that responded: `graphql` or `js`.
    #[schema(required = true)]
    pub source: Option<&'static str>,
    /// ISO 4217 code of all amounts.
    #[schema(required = true)]
    pub currency: Option<String>,
    /// Lowest price among the variants that have a price, in minor units; 0 if none has a price. Null unless all
    /// variants are listed.
    #[schema(required = true)]
    pub price_min_minor: Option<i64>,
    /// Highest price among the variants, in minor units. Null unless all variants are listed.
    #[schema(required = true)]
    pub price_max_minor: Option<i64>,
    /// True if at least one variant can be bought. Null if none of the listed variants can and others are not listed.
    #[schema(required = true)]
    pub in_stock: Option<bool>,
    /// True if the entry lists all variants of the product. For a product with many variants, a store may list only the
    /// first ones.
    pub variants_complete: bool,
    /// Variants of the product, in the store's order.
    pub variants: Vec<LiveVariant>,
    /// Differences from the stored snapshot; null if the entry is not verified.
    #[schema(required = true)]
    pub changes: Option<PriceChanges>,
    /// Signed JWT that states the price of the first 50 variants, or of the requested one. The quote is present only if
    /// it was requested and the entry is verified. Anyone can check the quote with the keys of
    /// `/.well-known/jwks.json`. A cart item accepts it as `quote`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub quote: Option<String>,
}

/// Price of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LiveVariant {
    /// The platform's id of the variant.
    pub variant_id: String,
    /// Title of the variant; empty for a product's only default variant.
    pub title: String,
    /// Stock keeping unit, if the store states one.
    #[schema(required = true)]
    pub sku: Option<String>,
    /// Price in minor units.
    pub amount_minor: i64,
    /// List price in minor units, if it is above the price.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// True if the variant can be bought.
    pub available: bool,
}

/// Differences from the stored snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PriceChanges {
    /// Time at which the snapshot was taken.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// True if any price or list price differs.
    pub price: bool,
    /// True if the availability of any variant differs, or if variants were added or removed.
    pub stock: bool,
    /// Changed variants, each with its old and new offer.
    pub variants: Vec<VariantChange>,
}

/// Difference between one variant and the stored snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct VariantChange {
    /// The platform's id of the variant.
    pub variant_id: String,
    /// Stored offer; null for a new variant.
    #[schema(required = true)]
    pub before: Option<VariantOffer>,
    /// The store's current offer; null for a removed variant.
    #[schema(required = true)]
    pub now: Option<VariantOffer>,
}

/// Price and availability of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct VariantOffer {
    /// Price in minor units.
    pub amount_minor: i64,
    /// List price in minor units, if it is above the price.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// True if the variant can be bought.
    pub available: bool,
}

/// Sources of a live response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LiveProvenance {
    /// Engine of the response: always `live`.
    pub engine: &'static str,
    /// Release that states which store sells the product, and that contains the snapshots.
    pub release: String,
}

/// Answer of `GET /v1/products/{ident}/price`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LivePriceAnswer {
    /// Price of the product.
    pub data: LivePrice,
    /// Sources of the response.
    pub provenance: LiveProvenance,
    /// Time at which the price was known to be true.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// Tier of the response: always `live`.
    pub tier: &'static str,
}

/// Answer of `POST /v1/prices`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LivePricesAnswer {
    /// One entry for each ident, in the order of the request.
    pub data: Vec<LivePrice>,
    /// Sources of the response.
    pub provenance: LiveProvenance,
    /// Oldest `as_of` of the entries; the current time if there are no entries.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// Tier of the response: always `live`.
    pub tier: &'static str,
}

/// Body of `POST /v1/prices`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct PricesBody {
    /// Ids or uids of products, at most 20.
    #[schema(max_items = 20)]
    pub idents: Vec<String>,
    /// Adds a signed quote to each entry that is verified.
    #[schema(required = false)]
    pub quote: Option<bool>,
}
