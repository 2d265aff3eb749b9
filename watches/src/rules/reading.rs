use data_model::{CurrencyCode, ProductId, StoredProduct, StoredVariant, Timestamp, VariantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Price and stock of a watched product at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reading {
    /// Time of the reading (RFC 3339): the crawl that found the brand's catalogue in this state.
    #[schema(value_type = String, format = DateTime)]
    pub observed_at: Timestamp,
    /// Price of the watched variant. Without a variant, the lowest price in stock, or else the lowest price. Null if
    /// there is none.
    #[schema(required = true)]
    pub price_minor: Option<i64>,
    /// List price, if the product is marked down.
    #[schema(required = true)]
    pub compare_at_minor: Option<i64>,
    /// ISO 4217 code of the amounts.
    #[schema(required = true, value_type = Option<String>)]
    pub currency: Option<CurrencyCode>,
    /// True if the store sells the product or variant.
    pub available: bool,
}

impl Reading {
    /// Returns the reading of a product that is no longer sold.
    pub(crate) const fn gone(observed_at: Timestamp) -> Self {
        Self {
            observed_at,
            price_minor: None,
            compare_at_minor: None,
            currency: None,
            available: false,
        }
    }

    /// Returns the reading of a product, or of one of its variants.
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

    /// True if both readings have the same content, whatever their times.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        let observed_at = self.observed_at;
        *self
            == Self {
                observed_at,
                ..other.clone()
            }
    }

    /// Returns the markdown in whole percent, rounded down; 0 if there is none.
    pub(crate) fn discount_pct(&self) -> i64 {
        match (self.price_minor, self.compare_at_minor) {
            (Some(price), Some(list)) if list > price && list > 0 => {
                // 128 bits cannot overflow for any stored amount.
                let off = i128::from(list) - i128::from(price);
                i64::try_from(off * 100 / i128::from(list)).unwrap_or(0)
            }
            _ => 0,
        }
    }
}

/// Product and variant of a watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WatchedProduct {
    /// UUID of the product.
    #[schema(value_type = String, format = "uuid")]
    pub id: ProductId,
    /// Title of the product when the watch was created.
    pub title: String,
    /// Slug of the brand.
    pub brand_slug: String,
    /// Watched variant, if only one variant is watched.
    #[schema(required = true, value_type = Option<String>)]
    pub variant_id: Option<String>,
}
