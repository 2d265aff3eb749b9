use serde::{Deserialize, Serialize};

use crate::{CurrencyCode, StoreHost, Timestamp, VariantId};

/// What a store said of one variant when it was asked live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedVariant {
    /// The platform's id.
    pub id: VariantId,
    /// Price in minor units of the observation's currency.
    pub price_minor: i64,
    /// List price, only where it is above the price.
    pub compare_at_minor: Option<i64>,
    /// Whether the store would sell it.
    pub available: bool,
}

/// One product as its store told it live, complete and understood: the price history's other source beside crawls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The permanent host of the store.
    pub store: StoreHost,
    /// The platform's id of the product.
    pub product: u64,
    /// When the store's answer came in.
    pub observed_at: Timestamp,
    /// The currency of the amounts.
    pub currency: CurrencyCode,
    /// Every variant that the product has; empty when the store says that the product is gone.
    pub variants: Vec<ObservedVariant>,
}
