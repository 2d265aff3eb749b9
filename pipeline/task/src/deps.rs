use std::sync::Arc;

use data_lake::Lake;
use data_model::Clock;
use data_storage::Storage;
use storefront::{StoreRights, Storefront};
use tokio_util::sync::CancellationToken;

/// Dependencies of every task that works on stores.
#[derive(Debug, Clone)]
pub struct StoreDeps {
    /// Object storage of the home.
    pub storage: Storage,
    /// The lake that the task reads and writes.
    pub lake: Lake,
    /// HTTP client for all stores.
    pub storefront: Storefront,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Rights to query a store, if other processes query stores too. Without rights, this process queries stores
    /// freely.
    pub rights: Option<Arc<dyn StoreRights>>,
    /// Token that ends the task after the stores in progress are finished.
    pub cancel: CancellationToken,
}

impl StoreDeps {
    /// Creates dependencies without store rights or cancellation, for the only process that queries stores.
    #[must_use]
    pub fn new(storage: Storage, lake: Lake, storefront: Storefront, clock: Arc<dyn Clock>) -> Self {
        Self {
            storage,
            lake,
            storefront,
            clock,
            rights: None,
            cancel: CancellationToken::new(),
        }
    }
}
