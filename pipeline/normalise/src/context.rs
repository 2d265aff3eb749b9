use data_model::{CurrencyCode, StoreHost};

/// Known facts about the store that sent the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreContext {
    /// Permanent host of the store.
    pub store: StoreHost,
    /// Currency of the store's prices.
    pub currency: CurrencyCode,
    /// Base URL of the store as the `url` crate writes it, without a trailing slash.
    pub base_url: String,
}
