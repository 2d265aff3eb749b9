use std::sync::Arc;

use data_lake::Lake;
use data_model::Clock;
use data_storage::Storage;
use storefront::{StoreRights, Storefront};
use tokio_util::sync::CancellationToken;

/// The things that every task over stores works with.
#[derive(Debug, Clone)]
pub struct StoreDeps {
    /// The home.
    pub storage: Storage,
    /// The lake.
    pub lake: Lake,
    /// The client of every store.
    pub storefront: Storefront,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The right to ask a store, where other processes ask stores too; `None`: this one asks whenever it likes.
    pub rights: Option<Arc<dyn StoreRights>>,
    /// Ends the task after the stores that are under way.
    pub cancel: CancellationToken,
}

impl StoreDeps {
    /// For a process that asks stores alone, until it is through.
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
