use data_model::{CurrencyCode, ProductId, StoredProduct, StoredVariant, Timestamp, VariantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The price and stock of what is watched, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reading {
    /// The moment of it: the crawl that found the brand's catalogue so, RFC 3339.
    #[schema(value_type = String, format = DateTime)]
    pub observed_at: Timestamp,
    /// Price of the variant, else the lowest of the variants in stock, else the lowest; null where there is none.
    #[schema(required = true)]
    pub price_minor: Option<i64>,
    /// List price, where it is marked down.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// ISO 4217.
    #[schema(required = true, value_type = Option<String>)]
    pub currency: Option<CurrencyCode>,
    /// True where the store would sell it.
    pub available: bool,
}

impl Reading {
    /// The reading of a product that nobody sells any more.
    pub(crate) const fn gone(observed_at: Timestamp) -> Self {
        Self {
            observed_at,
            price_minor: None,
            compare_at_minor: None,
            currency: None,
            available: false,
        }
    }

    /// The reading of a product, or of one variant of it.
    pub(crate) fn of(product: &StoredProduct, variant: Option<VariantId>, observed_at: Timestamp) -> Self {
        let wanted = || {
            let variants = product.variants.iter();
            variants.filter(move |one| variant.is_none_or(|wanted| one.id == wanted))
        };
        let cheapest = |one: &&StoredVariant| one.price_minor;
        let in_stock = wanted().filter(|one| one.available).min_by_key(cheapest);
        let Some(shown) = in_stock.or_else(|| wanted().min_by_key(cheapest)) else {
            return Self::gone(observed_at);
        };
        Self {
            observed_at,
            price_minor: Some(shown.price_minor),
            compare_at_minor: shown.compare_at_minor,
            currency: Some(product.currency),
            available: shown.available,
        }
    }

    /// True where both say the same, whenever.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        let observed_at = self.observed_at;
        *self
            == Self {
                observed_at,
                ..other.clone()
            }
    }

    /// The markdown in whole percent, rounded down; 0 where there is none.
    pub(crate) fn discount_pct(&self) -> i64 {
        match (self.price_minor, self.compare_at_minor) {
            (Some(price), Some(list)) if list > price && list > 0 => {
                // Above the bounds of an amount nothing is stated: no overflow comes of it.
                let off = i128::from(list) - i128::from(price);
                i64::try_from(off * 100 / i128::from(list)).unwrap_or(0)
            }
            _ => 0,
        }
    }
}

/// The product, and the variant, that a watch is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WatchedProduct {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Its title when the watch was made.
    pub title: String,
    /// The brand's slug.
    pub brand_slug: String,
    /// The variant, where one is watched.
    #[schema(required = true, value_type = Option<String>)]
    pub variant_id: Option<String>,
}
