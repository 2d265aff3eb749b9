use std::borrow::Cow;

use data_model::{ProductId, ProductUid, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::named::{self, NamedValue};
use super::{CardDelivery, Discount, Pages, ProductProvenance};

/// A product as lists show it. Prices are the stored snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductCard<'a> {
    /// UUID.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// `sha:` and 40 hex digits.
    #[schema(value_type = String, pattern = "^sha:[0-9a-f]{40}$")]
    pub product_uid: ProductUid,
    /// Title.
    pub title: Cow<'a, str>,
    /// The brand's display name.
    pub brand: Cow<'a, str>,
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// Lowest price of all variants that have one, in minor units; 0 where none has.
    pub price_min_minor: i64,
    /// List price of the variant with the lowest price, where it is marked down.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// The markdown in percent.
    #[schema(required = true)]
    pub discount_pct: Option<u8>,
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// True where any variant is available.
    pub in_stock: bool,
    /// True where all variants are known: of many, a store may list the first alone. Otherwise prices and stock are
    /// those of the variants that are known.
    pub variants_complete: bool,
    /// From 0 to 5.
    #[schema(required = true)]
    pub rating: Option<f32>,
    /// Address of the first picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// With `pincode`: what is known of delivery there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub delivery: Option<CardDelivery>,
    /// With `fold=color`: the products of the brand whose titles differ from this one's by a colour alone, this one among
    /// them, by colour, at most 24; empty where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub swatches: Option<Vec<Swatch<'a>>>,
}

/// A product in one of its colours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Swatch<'a> {
    /// UUID.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// `sha:` and 40 hex digits.
    #[schema(value_type = String, pattern = "^sha:[0-9a-f]{40}$")]
    pub product_uid: ProductUid,
    /// The colour, as the title says it.
    pub color: Cow<'a, str>,
    /// Address of the first picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// True where any variant is available.
    pub in_stock: bool,
}

/// A product with the parts that were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductDetail<'a> {
    /// UUID.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// `sha:` and 40 hex digits.
    #[schema(value_type = String, pattern = "^sha:[0-9a-f]{40}$")]
    pub product_uid: ProductUid,
    /// Title.
    pub title: Cow<'a, str>,
    /// The brand's display name.
    pub brand: Cow<'a, str>,
    /// The brand's slug.
    pub brand_slug: Cow<'a, str>,
    /// Lowest price of all variants that have one, in minor units; 0 where none has.
    pub price_min_minor: i64,
    /// List price of the variant with the lowest price, where it is marked down.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// The markdown in percent.
    #[schema(required = true)]
    pub discount_pct: Option<u8>,
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// True where any variant is available.
    pub in_stock: bool,
    /// True where all variants are known: of many, a store may list the first alone. Otherwise prices and stock are
    /// those of the variants that are known.
    pub variants_complete: bool,
    /// `goods`, `gift_card`, `service`, `fee`, `sample`, `notice` or `test`. Lists show goods alone unless `kind` asks for others.
    pub kind: Cow<'a, str>,
    /// From 0 to 5.
    #[schema(required = true)]
    pub rating: Option<f32>,
    /// Address of the first picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
    /// Highest price of all variants, in minor units.
    pub price_max_minor: i64,
    /// The number of ratings that the rating is the mean of.
    pub rating_count: u32,
    /// The publisher of the rating, as in `source` of a review; null where there is no rating.
    #[schema(required = true)]
    pub rating_source: Option<Cow<'a, str>>,
    /// True where the store delivers to any pincode; false where it was found to deliver to none.
    #[schema(required = true)]
    pub delivers_to_india: Option<bool>,
    /// With `pincode`: what is known of delivery there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub delivery: Option<CardDelivery>,
    /// Pictures and films in display order; part `media`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub media: Option<Vec<Medium<'a>>>,
    /// Buyable forms in the store's order; part `variants`.
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
    /// Codes that worked at the store within 30 days, those first that worked on what is nearest to the product, at most 10;
    /// empty where none is known; part `discounts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub discounts: Option<Vec<Discount<'a>>>,
}

/// A picture or film.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Medium<'a> {
    /// Absolute address.
    #[schema(format = "uri")]
    pub url: Cow<'a, str>,
    /// `image` or `video`.
    pub kind: Cow<'a, str>,
    /// Alternative text.
    #[schema(required = true)]
    pub alt: Option<Cow<'a, str>>,
    /// In pixels.
    #[schema(required = true)]
    pub width: Option<u32>,
    /// In pixels.
    #[schema(required = true)]
    pub height: Option<u32>,
}

/// A buyable form of a product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Variant<'a> {
    /// The platform's id.
    pub id: Cow<'a, str>,
    /// Stock keeping unit, where the store states one.
    #[schema(required = true)]
    pub sku: Option<Cow<'a, str>>,
    /// Title; empty for a product's one default variant.
    pub title: Cow<'a, str>,
    /// Option values by option name.
    #[serde(with = "named")]
    #[schema(value_type = BTreeMap<String, String>)]
    pub options: Vec<NamedValue<'a, Cow<'a, str>>>,
    /// Address of its own picture.
    #[schema(required = true, format = "uri")]
    pub image: Option<Cow<'a, str>>,
}

/// A variant's price and availability when the catalogue was last read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Offer<'a> {
    /// The variant.
    pub variant_id: Cow<'a, str>,
    /// Price in minor units.
    pub amount_minor: i64,
    /// List price, where it is above the price.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// ISO 4217.
    pub currency: Cow<'a, str>,
    /// True where the store would sell it.
    pub available: bool,
}

/// Facts that a store tells of a product besides price and pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Attributes<'a> {
    /// Plain text, paragraphs divided by newlines; may be empty.
    pub description: Cow<'a, str>,
    /// The vendor.
    #[schema(required = true)]
    pub vendor: Option<Cow<'a, str>>,
    /// The store's own product type.
    #[schema(required = true)]
    pub product_type: Option<Cow<'a, str>>,
    /// The store's tags.
    pub tags: Vec<Cow<'a, str>>,
    /// Category of the Google product taxonomy, where a rule fits.
    #[schema(required = true)]
    pub category: Option<CategoryRef<'a>>,
    /// The product's page at the store.
    #[schema(format = "uri")]
    pub url: Cow<'a, str>,
    /// Option values by option name.
    #[serde(with = "named")]
    #[schema(value_type = BTreeMap<String, Vec<String>>)]
    pub options: Vec<NamedValue<'a, Vec<Cow<'a, str>>>>,
    /// Structured attributes such as `color`, `material`; what `facets` filters by.
    #[serde(with = "named")]
    #[schema(value_type = BTreeMap<String, Vec<String>>)]
    pub attributes: Vec<NamedValue<'a, Vec<Cow<'a, str>>>>,
    /// RFC 3339, as the store states it.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub created_at: Option<Timestamp>,
    /// RFC 3339, as the store states it.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub published_at: Option<Timestamp>,
    /// RFC 3339, as the store states it.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub updated_at: Option<Timestamp>,
}

/// A category, named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CategoryRef<'a> {
    /// Its id in the taxonomy.
    pub id: u32,
    /// Its slug.
    pub slug: Cow<'a, str>,
    /// Its own name.
    pub name: Cow<'a, str>,
    /// Its full path.
    pub path: Cow<'a, str>,
}

/// A review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Review<'a> {
    /// Stars, from 0 to 5.
    pub rating: f32,
    /// The reviewer's name.
    #[schema(required = true)]
    pub author: Option<Cow<'a, str>>,
    /// Headline.
    #[schema(required = true)]
    pub title: Option<Cow<'a, str>>,
    /// Text.
    pub body: Cow<'a, str>,
    /// RFC 3339.
    #[schema(required = true, value_type = Option<String>, format = DateTime)]
    pub created_at: Option<Timestamp>,
    /// The publisher: `judgeme`, `yotpo`, `stamped` or `okendo` for the store's review app, `page` for the store's own
    /// page of the product.
    pub source: Cow<'a, str>,
}

/// A product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductAnswer<'a> {
    /// The product.
    pub data: ProductDetail<'a>,
    /// The sources of the product.
    pub provenance: ProductProvenance<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}

/// A page of reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReviewsAnswer<'a> {
    /// The reviews, newest first.
    pub data: Vec<Review<'a>>,
    /// The release and the page.
    pub provenance: Pages<'a>,
    /// `graph`
    pub tier: Cow<'a, str>,
}
