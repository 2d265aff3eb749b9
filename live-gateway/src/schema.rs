//! The shapes of the live tier's answers.

pub mod carts;

use data_model::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Reasons why an entry is not verified: a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnverifiedCode {
    /// The current release has no such product. Nothing was asked.
    ProductNotFound,
    /// The store says that the product does not exist any more.
    ProductGone,
    /// The store did not answer within the budget.
    StoreTimeout,
    /// The store asks to be left alone for a while.
    StoreThrottled,
    /// The store cannot be reached, is closed, or has failed repeatedly and is left alone.
    StoreUnavailable,
    /// The store's answer cannot be understood, or is about something else.
    StoreUnreadable,
    /// The store answers in another currency than the stored prices.
    CurrencyDiffers,
    /// The store does not say which currency it answers in.
    CurrencyUnknown,
    /// Too many stores are being asked at this moment.
    Busy,
}

impl UnverifiedCode {
    /// The code as answers and metrics spell it.
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

/// The current price of a product, or the stored one that stands in for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LivePrice {
    /// UUID of the product; the ident as it was sent where there is no such product.
    pub product_id: String,
    /// `sha:` and 40 hex digits.
    #[schema(required = true)]
    pub product_uid: Option<String>,
    /// The brand that sells it.
    #[schema(required = true)]
    pub brand_slug: Option<String>,
    /// Its title, as stored.
    #[schema(required = true)]
    pub title: Option<String>,
    /// `true`: the brand's store said all of this when it was asked, at `as_of`. `false`: the numbers are the last
    /// stored snapshot; show them as unverified, and do not transact on them.
    pub verified: bool,
    /// The latest moment at which this was so: when the store was asked, or when the snapshot was taken.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub as_of: Option<Timestamp>,
    /// When the snapshot that stands in was taken; null where none does.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub snapshot_at: Option<Timestamp>,
    /// The reason why it is not verified; null where it is.
    #[schema(required = true)]
    pub code: Option<UnverifiedCode>,
    /// The same, for people.
    #[schema(required = true)]
    pub detail: Option<String>,
    /// The store's interface that answered: `graphql` or `js`.
    #[schema(required = true)]
    pub source: Option<&'static str>,
    /// ISO 4217 code of all amounts.
    #[schema(required = true)]
    pub currency: Option<String>,
    /// Lowest price of these variants that have one, in minor units; 0 where none has.
    #[schema(required = true)]
    pub price_min_minor: Option<i64>,
    /// Highest price of these variants, in minor units.
    #[schema(required = true)]
    pub price_max_minor: Option<i64>,
    /// True where any variant can be bought.
    #[schema(required = true)]
    pub in_stock: Option<bool>,
    /// True where these are all variants of the product: of many, a store may list the first alone.
    pub variants_complete: bool,
    /// The variants, in the store's order.
    pub variants: Vec<LiveVariant>,
    /// The differences from the stored snapshot; null where nothing is verified.
    #[schema(required = true)]
    pub changes: Option<PriceChanges>,
    /// A JWT that says all this of the first 50 variants, or of the one named, where it was asked for and this is verified. Anybody
    /// checks it with the keys of `/.well-known/jwks.json`; a cart's item takes it as `quote`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub quote: Option<String>,
}

/// A variant's price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LiveVariant {
    /// The platform's id.
    pub variant_id: String,
    /// Its title; empty for the one default variant.
    pub title: String,
    /// Stock keeping unit, where the store states one.
    #[schema(required = true)]
    pub sku: Option<String>,
    /// Price in minor units.
    pub amount_minor: i64,
    /// List price in minor units, where it is above the price.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// True where it can be bought.
    pub available: bool,
}

/// The differences from the stored snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PriceChanges {
    /// When the snapshot was taken.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// True where any price or list price is different.
    pub price: bool,
    /// True where any availability is different, or the variants themselves.
    pub stock: bool,
    /// The variants that are, each with what it was and what it is.
    pub variants: Vec<VariantChange>,
}

/// The difference of one variant from the stored snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct VariantChange {
    /// The platform's id.
    pub variant_id: String,
    /// The stored offer; null for a variant that is new.
    #[schema(required = true)]
    pub before: Option<VariantOffer>,
    /// The store's offer; null for a variant that is gone.
    #[schema(required = true)]
    pub now: Option<VariantOffer>,
}

/// Price and availability of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct VariantOffer {
    /// Price in minor units.
    pub amount_minor: i64,
    /// List price in minor units, where it is above the price.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// True where it can be bought.
    pub available: bool,
}

/// The sources of a live answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LiveProvenance {
    /// Always `live`.
    pub engine: &'static str,
    /// The release that says which store sells what, and that snapshots are from.
    pub release: String,
}

/// The answer of `GET /v1/products/{ident}/price`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LivePriceAnswer {
    /// The price.
    pub data: LivePrice,
    /// The sources of the answer.
    pub provenance: LiveProvenance,
    /// The moment at which this was so.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// Always `live`.
    pub tier: &'static str,
}

/// The answer of `POST /v1/prices`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LivePricesAnswer {
    /// One entry for each ident, in the order asked.
    pub data: Vec<LivePrice>,
    /// The sources of the answer.
    pub provenance: LiveProvenance,
    /// The oldest `as_of` of the entries; now where there are none.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Timestamp,
    /// Always `live`.
    pub tier: &'static str,
}

/// The body of `POST /v1/prices`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct PricesBody {
    /// Products by id or uid, at most 20.
    #[schema(max_items = 20)]
    pub idents: Vec<String>,
    /// Adds a signed quote to each entry that is verified.
    #[schema(required = false)]
    pub quote: Option<bool>,
}
