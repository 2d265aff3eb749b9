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

/// The things that carts, accounts and checkouts share.
#[derive(Debug)]
pub(crate) struct CartContext {
    pub(crate) state: State,
    /// The keys that seal records of the state.
    pub(crate) keys: Arc<MasterKeys>,
    pub(crate) config: CartConfig,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) storefront: Storefront,
    pub(crate) clock: Arc<dyn Clock>,
    /// Stores that may be asked at the same time.
    pub(crate) places: Semaphore,
}

/// The caller, the name of the operation, and the time for it.
#[derive(Debug, Clone)]
pub(crate) struct CallerContext {
    /// The owner of the carts: `CallerId` as text.
    pub(crate) caller: String,
    /// Names the operation, so that one that is asked again is known.
    pub(crate) operation: String,
    pub(crate) time: RequestTime,
}

impl CartContext {
    /// The time of an operation that begins now.
    pub(crate) fn time(&self) -> RequestTime {
        RequestTime::new(self.config.budget_ms, None)
    }

    /// The store of a brand, asked for `caller`, who waits.
    pub(crate) fn store(&self, brand: &StoredBrand, caller: &str, deadline: Instant) -> Result<Store, StoreError> {
        let url = Url::parse(&brand.base_url).map_err(|_| StoreError::Url {
            reason: "the stored address is none",
        })?;
        let store = self.storefront.store(&url)?;
        let store = store.in_country(brand.crawl_country.as_deref())?;
        let store = store.with_own_hosts([brand.domain.as_str(), brand.store.as_str()]);
        let store = store.with_priority(Priority::Interactive).with_caller(caller);
        Ok(store.with_deadline(deadline))
    }

    /// A place among the stores that may be asked at the same time; none where it does not come free before `deadline`.
    pub(crate) async fn place(&self, deadline: Instant) -> Option<SemaphorePermit<'_>> {
        let place = tokio::time::timeout_at(deadline, self.places.acquire()).await;
        place.ok()?.ok()
    }
}
