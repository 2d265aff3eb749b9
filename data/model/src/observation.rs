use serde::{Deserialize, Serialize};

use crate::{CurrencyCode, StoreHost, Timestamp, VariantId};

/// A store's answer about one variant when it was asked live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedVariant {
    /// The platform's id.
    pub id: VariantId,
    /// Price in minor units of the observation's currency.
    pub price_minor: i64,
    /// List price, only where it is above the price.
    pub compare_at_minor: Option<i64>,
    /// `true` where the store would sell it.
    pub available: bool,
}

/// One product as its store answered it live, understood: the price history's other source beside crawls.
///
/// Only listed variants were observed. A store may be asked for some variants alone, so a variant that stands in
/// neither list was not asked for: nothing follows about it.
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
    /// Variants that the store answered, with their prices.
    pub variants: Vec<ObservedVariant>,
    /// Variants that were asked for and that the store says it does not have any more; all of them when the product is
    /// gone.
    pub gone: Vec<VariantId>,
}
