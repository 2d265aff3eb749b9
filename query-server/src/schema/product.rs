use std::borrow::Cow;

use data_model::{ProductId, ProductUid, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::named::{self, NamedValue};
use super::{CardDelivery, Discount, Pages, ProductProvenance};

/// Product card for lists. Prices are the stored snapshot, not live prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductCard<'a> {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Product id in its other form: `sha:` and 40 hex digits.
    #[schema(value_type = String, pattern = "^sha:[0-9a-f]{40}$")]
    pub product_uid: ProductUid,
    /// Title of the product.
    pub title: Cow<'a, str>,
    /// The brand's display name.
    pub brand: Cow<'a, str>,
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// Lowest price of all variants, in minor units; 0 if no variant has a price.
    pub price_min_minor: i64,
    /// List price of the variant with the lowest price, if it is marked down.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// Price reduction in percent.
    #[schema(required = true)]
    pub discount_pct: Option<u8>,
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// True if any known variant is available. False means sold out only if `variants_complete` is true.
    pub in_stock: bool,
    /// True if all variants are known. A store may list only the first of many variants; then prices and stock cover
    /// only the known variants.
    pub variants_complete: bool,
    /// Mean rating, from 0 to 5 stars.
    #[schema(required = true)]
    pub rating: Option<f32>,
    /// URL of the first picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// Known delivery facts for `pincode`; absent without this parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub delivery: Option<CardDelivery>,
    /// With `fold=color`: products of the brand whose titles differ from this one only by a colour, including this
    /// product, sorted by colour, at most 24. Empty if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub swatches: Option<Vec<Swatch<'a>>>,
}

/// Product in one of its colours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Swatch<'a> {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Product id in its other form: `sha:` and 40 hex digits.
    #[schema(value_type = String, pattern = "^sha:[0-9a-f]{40}$")]
    pub product_uid: ProductUid,
    /// Colour name from the title.
    pub color: Cow<'a, str>,
    /// URL of the first picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// True if any variant is available.
    pub in_stock: bool,
}

/// Product with the requested parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductDetail<'a> {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Product id in its other form: `sha:` and 40 hex digits.
    #[schema(value_type = String, pattern = "^sha:[0-9a-f]{40}$")]
    pub product_uid: ProductUid,
    /// Title of the product.
    pub title: Cow<'a, str>,
    /// The brand's display name.
    pub brand: Cow<'a, str>,
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// Lowest price of all variants, in minor units; 0 if no variant has a price.
    pub price_min_minor: i64,
    /// List price of the variant with the lowest price, if it is marked down.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// Price reduction in percent.
    #[schema(required = true)]
    pub discount_pct: Option<u8>,
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// True if any known variant is available. False means sold out only if `variants_complete` is true.
    pub in_stock: bool,
    /// True if all variants are known. A store may list only the first of many variants; then prices and stock cover
    /// only the known variants.
    pub variants_complete: bool,
    /// Kind of product: `goods`, `gift_card`, `service`, `fee`, `sample`, `notice` or `test`. Lists show only goods
    /// unless `kind` requests other kinds.
    pub kind: Cow<'a, str>,
    /// Mean rating, from 0 to 5 stars.
    #[schema(required = true)]
    pub rating: Option<f32>,
    /// URL of the first picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// Highest price of all variants, in minor units.
    pub price_max_minor: i64,
    /// Number of ratings behind the mean rating.
    pub rating_count: u32,
    /// Publisher of the rating, like `source` of a review; null if there is no rating.
    #[schema(required = true)]
    pub rating_source: Option<Cow<'a, str>>,
    /// True if the store delivers to any Indian pincode; false if it was found to deliver to none.
    #[schema(required = true)]
    pub delivers_to_india: Option<bool>,
    /// Known delivery facts for `pincode`; absent without this parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub delivery: Option<CardDelivery>,
    /// Pictures and videos in display order; part `media`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub media: Option<Vec<Medium<'a>>>,
    /// Variants in the store's order; part `variants`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub variants: Option<Vec<Variant<'a>>>,
    /// Price and availability of each variant; part `offers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub offers: Option<Vec<Offer<'a>>>,
    /// Description and structured attributes; part `attributes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub attributes: Option<Attributes<'a>>,
    /// Recent reviews, newest first, at most 20; part `reviews`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reviews: Option<Vec<Review<'a>>>,
    /// Discount codes that worked at the store within 30 days, at most 10. Codes tested closest to the product come
    /// first. Empty if none is known; part `discounts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub discounts: Option<Vec<Discount<'a>>>,
}

/// Picture or video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Medium<'a> {
    /// Absolute URL of the file.
    #[schema(format = "uri")]
    pub url: Cow<'a, str>,
    /// Kind of file: `image` or `video`.
    pub kind: Cow<'a, str>,
    /// Alternative text of the picture.
    #[schema(required = true)]
    pub alt: Option<Cow<'a, str>>,
    /// Width in pixels.
    #[schema(required = true)]
    pub width: Option<u32>,
    /// Height in pixels.
    #[schema(required = true)]
    pub height: Option<u32>,
}

/// Variant of a product that can be bought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Variant<'a> {
    /// Id of the variant in the store platform.
    pub id: Cow<'a, str>,
    /// Stock keeping unit (SKU), if the store states one.
    #[schema(required = true)]
    pub sku: Option<Cow<'a, str>>,
    /// Title of the variant; empty for the single default variant of a product.
    pub title: Cow<'a, str>,
    /// Option values of the variant by option name.
    #[serde(with = "named")]
    #[schema(value_type = BTreeMap<String, String>)]
    pub options: Vec<NamedValue<'a, Cow<'a, str>>>,
    /// URL of the variant's own picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
}

/// Price and availability of a variant when the catalogue was last read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Offer<'a> {
    /// Id of the variant.
    pub variant_id: Cow<'a, str>,
    /// Price in minor units.
    pub amount_minor: i64,
    /// List price, if it is above the price.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// Currency code (ISO 4217).
    pub currency: Cow<'a, str>,
    /// True if the store sells the variant.
    pub available: bool,
}

/// Facts that a store states about a product besides price and pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Attributes<'a> {
    /// Description as plain text, with paragraphs separated by newlines; may be empty.
    pub description: Cow<'a, str>,
    /// Vendor as the store states it.
    #[schema(required = true)]
    pub vendor: Option<Cow<'a, str>>,
    /// The store's own product type.
    #[schema(required = true)]
    pub product_type: Option<Cow<'a, str>>,
    /// The store's tags.
    pub tags: Vec<Cow<'a, str>>,
    /// Category in the Google product taxonomy, if a rule matches the product.
    #[schema(required = true)]
    pub category: Option<CategoryRef<'a>>,
    /// URL of the product's page at the store.
    #[schema(format = "uri")]
    pub url: Cow<'a, str>,
    /// Option values of the product by option name.
    #[serde(with = "named")]
    #[schema(value_type = BTreeMap<String, Vec<String>>)]
    pub options: Vec<NamedValue<'a, Vec<Cow<'a, str>>>>,
    /// Structured attributes such as `color` or `material`, which `facets` can filter.
    #[serde(with = "named")]
    #[schema(value_type = BTreeMap<String, Vec<String>>)]
    pub attributes: Vec<NamedValue<'a, Vec<Cow<'a, str>>>>,
    /// Timestamp from the store (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub created_at: Option<Timestamp>,
    /// Timestamp from the store (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub published_at: Option<Timestamp>,
    /// Timestamp from the store (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub updated_at: Option<Timestamp>,
}

/// Category with its names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CategoryRef<'a> {
    /// Id of the category in the Google product taxonomy.
    pub id: u32,
    /// Slug of the category.
    pub slug: Cow<'a, str>,
    /// Name of the category, without its ancestors.
    pub name: Cow<'a, str>,
    /// Full path of the category, including its ancestors.
    pub path: Cow<'a, str>,
}

/// Review of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Review<'a> {
    /// Rating from 0 to 5 stars.
    pub rating: f32,
    /// The reviewer's name.
    #[schema(required = true)]
    pub author: Option<Cow<'a, str>>,
    /// Headline of the review.
    #[schema(required = true)]
    pub title: Option<Cow<'a, str>>,
    /// Text of the review.
    pub body: Cow<'a, str>,
    /// Time of the review (RFC 3339).
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub created_at: Option<Timestamp>,
    /// Publisher: `judgeme`, `yotpo`, `stamped` or `okendo` for the store's review app, `page` for the store's own
    /// product page.
    pub source: Cow<'a, str>,
}

/// Answer with one product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductAnswer<'a> {
    /// Requested product.
    pub data: ProductDetail<'a>,
    /// Sources of the product's data.
    pub provenance: ProductProvenance<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}

/// Answer with one page of reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReviewsAnswer<'a> {
    /// Reviews of the page, newest first.
    pub data: Vec<Review<'a>>,
    /// Release of the answer, and the cursor of the next page.
    pub provenance: Pages<'a>,
    /// Always `graph`.
    pub tier: Cow<'a, str>,
}
