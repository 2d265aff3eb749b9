//! Request coalescer, one for each store that buyers query. The coalescer collects the requested products, queries the
//! store for all of them when the rate limit allows it, and returns the results to the waiting requests.

mod ask;
pub(crate) mod failure;
mod seen;
mod state;
mod work;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data_model::{Clock, CurrencyCode, StoredBrand, StoredProduct, Timestamp};
use storefront::Storefront;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::Instant;

use self::seen::LastObservations;
use self::state::{Admission, StoreCoalescer};
use crate::config::GatewayConfig;
use crate::observe::Observe;
use crate::rules::ProductReply;
use crate::rules::reason::Unverified;
use crate::schema::UnverifiedCode;

/// Store's response about a product, with the time of the query.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) told: Arc<ProductReply>,
    pub(crate) as_of: Timestamp,
    /// Currency of the response's amounts.
    currency: CurrencyCode,
}

pub(crate) type Outcome = Result<Answer, Unverified>;

impl Answer {
    fn new(told: ProductReply, as_of: Timestamp, currency: CurrencyCode) -> Self {
        Self {
            told: Arc::new(told),
            as_of,
            currency,
        }
    }

    /// True if the response covers every stored variant. A newer release may have more variants.
    fn covers(&self, stored: &StoredProduct) -> bool {
        let told = |id| self.told.gone.contains(&id) || self.told.variants.iter().any(|variant| variant.id == id);
        self.currency == stored.currency && stored.variants.iter().all(|variant| told(variant.id))
    }
}

/// Coalescers of all stores, with the dependencies that they share.
#[derive(Debug)]
pub(crate) struct StoreCoalescers {
    coalescers: Mutex<HashMap<String, Arc<StoreCoalescer>>>,
    shared: Arc<CoalescerContext>,
}

#[derive(Debug)]
pub(crate) struct CoalescerContext {
    pub(crate) storefront: Storefront,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: GatewayConfig,
    pub(crate) observer: Arc<dyn Observe>,
    /// Semaphore that limits the number of stores queried concurrently.
    pub(crate) places: Semaphore,
    pub(crate) seen: LastObservations,
}

/// Number of coalescers from which on idle ones are removed.
const COALESCERS_MAX: usize = 1_024;
/// Maximum number of queries for a request. A product is queried again if a newer release describes it differently.
const TRIES_MAX: u32 = 2;

impl StoreCoalescers {
    pub(crate) fn new(
        storefront: Storefront,
        clock: Arc<dyn Clock>,
        config: GatewayConfig,
        observer: Arc<dyn Observe>,
    ) -> Self {
        let places = Semaphore::new(config.stores_at_once_max.clamp(1, Semaphore::MAX_PERMITS));
        let shared = CoalescerContext {
            storefront,
            clock,
            config,
            observer,
            places,
            seen: LastObservations::default(),
        };
        Self {
            coalescers: Mutex::default(),
            shared: Arc::new(shared),
        }
    }

    pub(crate) fn storefront(&self) -> &Storefront {
        &self.shared.storefront
    }

    /// Queries the store of `brand` for `stored`, together with other waiting requests. Returns at `deadline` at the
    /// latest.
    pub(crate) async fn ask(
        &self,
        brand: &Arc<StoredBrand>,
        stored: &Arc<StoredProduct>,
        deadline: Instant,
    ) -> Outcome {
        let coalescer = self.coalescer(brand);
        for _ in 0..TRIES_MAX {
            let answer = match self.take(&coalescer, brand, stored) {
                Admission::Recent(answer) => answer,
                Admission::Full => return Err(Unverified::busy()),
                Admission::Waits(told) => waited(told, deadline).await?,
            };
            if answer.covers(stored) {
                return Ok(answer);
            }
        }
        Err(Unverified::new(
            UnverifiedCode::StoreUnreadable,
            "the store does not return every variant",
        ))
    }

    /// Returns a recent response, or adds the request to the queue and starts the coalescer's task if it is idle.
    fn take(
        &self,
        coalescer: &Arc<StoreCoalescer>,
        brand: &Arc<StoredBrand>,
        stored: &Arc<StoredProduct>,
    ) -> Admission {
        let (taken, must_start) = coalescer.take(brand, stored, &self.shared.config);
        if must_start {
            tokio::spawn(work::work(Arc::clone(coalescer), Arc::clone(&self.shared)));
        }
        taken
    }

    fn coalescer(&self, brand: &StoredBrand) -> Arc<StoreCoalescer> {
        let country = brand.crawl_country.as_deref().unwrap_or_default();
        let key = format!("{country} {}", brand.base_url);
        let mut coalescers = self.coalescers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(coalescer) = coalescers.get(&key) {
            return Arc::clone(coalescer);
        }
        if coalescers.len() >= COALESCERS_MAX {
            let reuse = Duration::from_millis(self.shared.config.reuse_ms);
            coalescers.retain(|_, coalescer| coalescer.is_needed(reuse));
        }
        let coalescer = Arc::new(StoreCoalescer::new(&brand.base_url, brand.crawl_country.clone()));
        coalescers.insert(key, Arc::clone(&coalescer));
        coalescer
    }
}

async fn waited(told: oneshot::Receiver<Outcome>, deadline: Instant) -> Outcome {
    match tokio::time::timeout_at(deadline, told).await {
        Ok(Ok(outcome)) => outcome,
        // Only a panic ends the coalescer's task without a response. The panic is already logged.
        Ok(Err(_)) => Err(Unverified::new(
            UnverifiedCode::StoreUnreadable,
            "the store's answer could not be read",
        )),
        Err(_) => Err(Unverified::timeout()),
    }
}
