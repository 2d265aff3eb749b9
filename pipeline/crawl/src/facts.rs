use data_model::{CurrencyCode, StoreHost};
use serde::{Deserialize, Serialize};

/// What a store says of itself in `/meta.json`; what it did not say, or said wrongly, is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreFacts {
    /// The platform's own host of the store, which never changes.
    #[serde(default)]
    pub permanent_host: Option<StoreHost>,
    /// The store's name.
    #[serde(default)]
    pub name: Option<String>,
    /// The currency of the prices in its catalogue.
    #[serde(default)]
    pub currency: Option<CurrencyCode>,
    /// ISO 3166-1 alpha-2.
    #[serde(default)]
    pub country: Option<String>,
    /// What it says of itself.
    #[serde(default)]
    pub description: Option<String>,
    /// How many products it says it has published.
    #[serde(default)]
    pub published_products: Option<u64>,
}

impl StoreFacts {
    /// Reads the body of `/meta.json`; `None` when it is none.
    #[must_use]
    pub fn read(meta: &[u8]) -> Option<Self> {
        let meta = pipeline_parse::parse_meta(meta).ok()?;
        let text = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Some(Self {
            permanent_host: meta.myshopify_domain.and_then(|host| host.parse().ok()),
            name: text(meta.name),
            currency: meta.currency.and_then(|code| code.parse().ok()),
            country: text(meta.country)
                .filter(|country| country.len() == 2)
                .map(|country| country.to_ascii_uppercase()),
            description: text(meta.description),
            published_products: meta.published_products_count,
        })
    }

    /// Whether the brand would look the same with `other`; how many products a store counts does not show.
    #[must_use]
    pub fn same_brand(&self, other: &Self) -> bool {
        let shown = |facts: &Self| Self {
            published_products: None,
            ..facts.clone()
        };
        shown(self) == shown(other)
    }
}
