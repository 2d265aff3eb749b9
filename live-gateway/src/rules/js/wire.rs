//! Parsed fields of a product's `.js` view (platform: Ajax API, `GET /products/{handle}.js`).

use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Product {
    pub(super) id: u64,
    pub(super) variants: Vec<Variant>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Variant {
    pub(super) id: u64,
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) sku: Option<String>,
    pub(super) price: i64,
    #[serde(default)]
    pub(super) compare_at_price: Option<i64>,
    pub(super) available: bool,
}
