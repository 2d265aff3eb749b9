use std::sync::Arc;

use data_model::{Clock, StoredBrand};
use state::{MasterKeys, State};
use storefront::{Priority, Store, StoreError, Storefront};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use url::Url;

use crate::catalogue::Catalogue;
use crate::config::CartConfig;
use crate::request_time::RequestTime;

/// State that carts, accounts and checkouts share.
#[derive(Debug)]
pub(crate) struct CartContext {
    pub(crate) state: State,
    /// Master keys that seal the records in the state.
    pub(crate) keys: Arc<MasterKeys>,
    pub(crate) config: CartConfig,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) storefront: Storefront,
    pub(crate) clock: Arc<dyn Clock>,
    /// Semaphore that limits the number of stores queried concurrently.
    pub(crate) places: Semaphore,
}

/// Caller of an operation, with the operation's id and time budget.
#[derive(Debug, Clone)]
pub(crate) struct CallerContext {
    /// Owner of the carts: `CallerId` as text.
    pub(crate) caller: String,
    /// Id of the operation. A repeated operation has the same id.
    pub(crate) operation: String,
    pub(crate) time: RequestTime,
}

impl CartContext {
    pub(crate) fn time(&self) -> RequestTime {
        RequestTime::new(self.config.budget_ms, None)
    }

    /// Returns a client of the brand's store for `caller`, with the priority of a waiting buyer.
    pub(crate) fn store(&self, brand: &StoredBrand, caller: &str, deadline: Instant) -> Result<Store, StoreError> {
        let url = Url::parse(&brand.base_url).map_err(|_| StoreError::Url {
            reason: "the stored address is not a URL",
        })?;
        let store = self.storefront.store(&url)?;
        let store = store.in_country(brand.crawl_country.as_deref())?;
        let store = store.with_own_hosts([brand.domain.as_str(), brand.store.as_str()]);
        let store = store.with_priority(Priority::Interactive).with_caller(caller);
        Ok(store.with_deadline(deadline))
    }

    /// Acquires one of the permits for concurrent store queries. Returns `None` if none is free before `deadline`.
    pub(crate) async fn place(&self, deadline: Instant) -> Option<SemaphorePermit<'_>> {
        let place = tokio::time::timeout_at(deadline, self.places.acquire()).await;
        place.ok()?.ok()
    }
}
