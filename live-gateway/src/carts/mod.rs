//! Carts over several stores: one cart of its own at each brand's store, kept together under one id.
//!
//! In: a caller, and what they want of their cart. Out: the cart as the stores have it. What a cart is made of lies sealed
//! in the state. Before a store is changed, it is written down how its cart is to be; so whoever comes after a process
//! that ended, or an answer that was lost, brings it to that and adds nothing twice.

pub(crate) mod candidates;
mod change;
pub(crate) mod config;
mod failure;
mod hold;
mod late;
mod looks;
mod operations;
mod random;
mod reads;
pub(crate) mod record;
pub mod schema;
mod settle;
mod settled;
mod taken_in;
mod time;

use std::sync::Arc;

use data_model::{Clock, StoredBrand};
use state::{MasterKeys, State};
use storefront::{Priority, Storefront};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

pub use self::candidates::{CouponCandidates, NoCandidates, TriedCode};
pub(crate) use self::change::{Customer, Intent};
pub use self::config::{CartConfig, SigningAlgorithm};
pub(crate) use self::failure::{CartFailure, unknown};
use self::looks::Looks;
pub(crate) use self::operations::Item;
pub(crate) use self::random::random_hex;
use self::reads::Reads;
pub(crate) use self::time::RequestTime;
use crate::cart_client::{CartClient, CartError};
use crate::catalogue::Catalogue;

/// The needs of carts, checkouts and accounts besides those of a gateway: state that all servers share, and the master
/// keys that seal its records.
#[derive(Debug, Clone)]
pub struct CartDesk {
    pub(crate) state: State,
    pub(crate) keys: Arc<MasterKeys>,
    pub(crate) config: CartConfig,
    pub(crate) candidates: Arc<dyn CouponCandidates>,
}

impl CartDesk {
    /// Keeps carts in `state`, sealed with `keys`. Nothing is asked or written yet.
    #[must_use]
    pub fn new(state: State, keys: MasterKeys, config: CartConfig) -> Self {
        Self {
            state,
            keys: Arc::new(keys),
            config,
            candidates: Arc::new(NoCandidates),
        }
    }

    /// Takes codes to try from `candidates`; without it only codes that stand in a cart already are tried.
    #[must_use]
    pub fn with_candidates(self, candidates: Arc<dyn CouponCandidates>) -> Self {
        Self { candidates, ..self }
    }
}

/// Carts, with everything that they need. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Carts(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) desk: CartDesk,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) storefront: Storefront,
    pub(crate) clock: Arc<dyn Clock>,
    /// Stores that may be asked at the same time.
    places: Semaphore,
    reads: Reads,
    looks: Looks,
    pub(crate) signing: crate::checkout::SigningKeys,
    pub(crate) tokens: crate::accounts::FoundTokens,
    pub(crate) renewals: crate::accounts::Renewals,
    pub(crate) account_tries: crate::accounts::AccountTries,
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

impl Carts {
    pub(crate) fn new(
        desk: CartDesk,
        catalogue: Arc<dyn Catalogue>,
        storefront: Storefront,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let places = desk.config.stores_at_once_max.clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Inner {
            desk,
            catalogue,
            storefront,
            clock,
            places: Semaphore::new(places),
            reads: Reads::default(),
            looks: Looks::default(),
            signing: crate::checkout::SigningKeys::default(),
            tokens: crate::accounts::FoundTokens::default(),
            renewals: crate::accounts::Renewals::default(),
            account_tries: crate::accounts::AccountTries::default(),
        }))
    }

    pub(crate) fn config(&self) -> &CartConfig {
        &self.0.desk.config
    }

    pub(crate) fn state(&self) -> &State {
        &self.0.desk.state
    }

    /// The time of an operation that begins now.
    pub(crate) fn time(&self) -> RequestTime {
        RequestTime::new(self.config().budget_ms, None)
    }

    /// The store of a brand, asked for `caller`, who waits.
    pub(crate) fn store(
        &self,
        brand: &StoredBrand,
        caller: &str,
        deadline: Instant,
    ) -> Result<storefront::Store, CartError> {
        let wrong = |_| storefront::StoreError::Url {
            reason: "the stored address is none",
        };
        let url = Url::parse(&brand.base_url).map_err(wrong)?;
        let store = self.0.storefront.store(&url)?;
        let store = store.in_country(brand.crawl_country.as_deref())?;
        let store = store.with_own_hosts([brand.domain.as_str(), brand.store.as_str()]);
        let store = store.with_priority(Priority::Interactive).with_caller(caller);
        Ok(store.with_deadline(deadline))
    }

    /// The carts of a brand's store, asked for `caller`.
    pub(crate) fn client(&self, brand: &StoredBrand, caller: &str, deadline: Instant) -> Result<CartClient, CartError> {
        Ok(CartClient::new(self.store(brand, caller, deadline)?))
    }

    /// A place among the stores that may be asked at the same time; none where it does not come free before `deadline`.
    pub(crate) async fn place(&self, deadline: Instant) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let place = tokio::time::timeout_at(deadline, self.0.places.acquire()).await;
        place.ok()?.ok()
    }
}
