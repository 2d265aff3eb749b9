use crate::{CurrencyCode, Timestamp, VariantId};

/// A change of a variant that was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PriceEvent {
    /// The variant did not exist before.
    FirstSeen,
    /// The price, list price, currency or availability changed.
    Changed,
    /// The variant no longer exists.
    Gone,
    /// The variant exists again after it was gone.
    Returned,
}

impl PriceEvent {
    /// All kinds of event.
    pub const ALL: [Self; 4] = [Self::FirstSeen, Self::Changed, Self::Gone, Self::Returned];

    /// Returns the name of the event in API responses and tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FirstSeen => "first_seen",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Returned => "returned",
        }
    }
}

/// Source that observed a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PriceSource {
    /// A crawl of the whole store, or an operator who removed the store.
    Crawl,
    /// A live query to the store about this product.
    Live,
}

impl PriceSource {
    /// All sources.
    pub const ALL: [Self; 2] = [Self::Crawl, Self::Live];

    /// Returns the name of the source in API responses and tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Live => "live",
        }
    }
}

/// One observed change of a variant, with the price from that time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricePoint {
    /// End time of the crawl that observed the change, or the time of the store's live answer.
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
