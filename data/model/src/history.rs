use crate::{CurrencyCode, Timestamp, VariantId};

/// An observed event of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PriceEvent {
    /// It was not there before.
    FirstSeen,
    /// Its price, list price, currency or availability is another one.
    Changed,
    /// It is not there any more.
    Gone,
    /// It is there again.
    Returned,
}

impl PriceEvent {
    /// Every event.
    pub const ALL: [Self; 4] = [Self::FirstSeen, Self::Changed, Self::Gone, Self::Returned];

    /// The event as answers and tables spell it.
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

/// The observer of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PriceSource {
    /// A crawl of the whole store, or the operator who removed it.
    Crawl,
    /// The store was asked about this product.
    Live,
}

impl PriceSource {
    /// Every source.
    pub const ALL: [Self; 2] = [Self::Crawl, Self::Live];

    /// The source as answers and tables spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Live => "live",
        }
    }
}

/// One observed change of a variant: what it has cost from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricePoint {
    /// End of the crawl that observed it, or when the store answered live.
    pub observed_at: Timestamp,
    /// The variant.
    pub variant: VariantId,
    /// The event.
    pub event: PriceEvent,
    /// The currency of the amounts.
    pub currency: CurrencyCode,
    /// Price from then on; `None` when it is gone.
    pub price_minor: Option<i64>,
    /// List price from then on, where above the price.
    pub compare_at_minor: Option<i64>,
    /// `true` where it is available from then on; `None` when it is gone.
    pub available: Option<bool>,
    /// The observer.
    pub source: PriceSource,
}
