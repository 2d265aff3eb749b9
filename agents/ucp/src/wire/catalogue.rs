use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Card {
    pub(crate) id: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Page {
    pub(crate) items: Vec<Card>,
    pub(crate) next_cursor: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Detail {
    pub(crate) id: String,
    pub(crate) product_uid: String,
    pub(crate) title: String,
    pub(crate) brand: String,
    pub(crate) brand_slug: String,
    pub(crate) currency: String,
    pub(crate) rating: Option<f64>,
    pub(crate) rating_count: u64,
    #[serde(default)]
    pub(crate) media: Vec<Medium>,
    #[serde(default)]
    pub(crate) variants: Vec<Variant>,
    #[serde(default)]
    pub(crate) offers: Vec<Offer>,
    pub(crate) attributes: Attributes,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Medium {
    pub(crate) url: String,
    pub(crate) kind: String,
    pub(crate) alt: Option<String>,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Variant {
    pub(crate) id: String,
    pub(crate) sku: Option<String>,
    pub(crate) title: String,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) image: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Offer {
    pub(crate) variant_id: String,
    pub(crate) amount_minor: i64,
    pub(crate) compare_at_minor: Option<i64>,
    pub(crate) available: bool,
}

/// Offer of a brand for the same product.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BrandOffer {
    pub(crate) id: String,
    pub(crate) brand: String,
    pub(crate) url: String,
    /// Id of the matching variant; null if the offer is for the whole product.
    pub(crate) variant_id: Option<String>,
    pub(crate) price_minor: i64,
    pub(crate) compare_at_minor: Option<i64>,
    pub(crate) currency: String,
    pub(crate) available: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Attributes {
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
    pub(crate) category: Option<CategoryRef>,
    pub(crate) url: String,
    pub(crate) options: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CategoryRef {
    pub(crate) id: u32,
    pub(crate) slug: String,
    pub(crate) path: String,
}
