//! A product as a store's `.js` view tells its prices.

use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Answer {
    id: u64,
    variants: Vec<Variant>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Variant {
    id: u64,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    sku: Option<String>,
    price: i64,
    #[serde(default)]
    compare_at_price: Option<i64>,
    available: bool,
}
