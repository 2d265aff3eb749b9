use crate::{CurrencyCode, Timestamp, VariantId};

crate::named! {
    /// A change of a variant that was observed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum PriceEvent {
        /// The variant did not exist before.
        FirstSeen = "first_seen",
        /// The price, list price, currency or availability changed.
        Changed = "changed",
        /// The variant no longer exists.
        Gone = "gone",
        /// The variant exists again after it was gone.
        Returned = "returned",
    }
}

crate::named! {
    /// Source that observed a change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum PriceSource {
        /// A crawl of the whole store, or an operator who removed the store.
        Crawl = "crawl",
        /// A live query to the store about this product.
        Live = "live",
    }
}

/// One observed change of a variant, with the price from that time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricePoint {
    /// End of the crawl that observed the change, or the time of the store's live answer.
    pub observed_at: Timestamp,
    /// Variant that changed.
    pub variant: VariantId,
    /// Kind of change.
    pub event: PriceEvent,
    /// Currency of the amounts.
    pub currency: CurrencyCode,
    /// Price after the change, in minor units. `None` if the variant is gone.
    pub price_minor: Option<i64>,
    /// List price after the change, if above the price.
    pub compare_at_minor: Option<i64>,
    /// Availability after the change. `None` if the variant is gone.
    pub available: Option<bool>,
    /// Source that observed the change.
    pub source: PriceSource,
}
