use data_model::{CurrencyCode, StoreHost};

/// The store that answered, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreContext {
    /// Its permanent host.
    pub store: StoreHost,
    /// The currency that its prices are stated in.
    pub currency: CurrencyCode,
    /// Its base URL as the `url` crate writes it, without a slash at the end.
    pub base_url: String,
}
