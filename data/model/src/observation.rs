use serde::{Deserialize, Serialize};

use crate::{CurrencyCode, StoreHost, Timestamp, VariantId};

/// A store's live answer about one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedVariant {
    /// The platform's id of the variant.
    pub id: VariantId,
    /// Price in minor units of the observation's currency.
    pub price_minor: i64,
    /// List price, present only if above the price.
    pub compare_at_minor: Option<i64>,
    /// `true` if the store would sell the variant.
    pub available: bool,
}

/// A store's parsed live response about one product. Observations and crawls are the two sources of the price history.
///
/// A query may be about some variants only. The state of a variant that is in neither `variants` nor `gone` is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Permanent host of the store.
    pub store: StoreHost,
    /// The platform's id of the product.
    pub product: u64,
    /// Time at which the store's answer arrived.
    pub observed_at: Timestamp,
    /// Currency of the amounts.
    pub currency: CurrencyCode,
    /// Variants in the store's answer, with their prices.
    pub variants: Vec<ObservedVariant>,
    /// Queried variants that the store no longer has. If the product is gone, these are all queried variants.
    pub gone: Vec<VariantId>,
}
