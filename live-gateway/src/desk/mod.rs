//! One desk for each store that buyers ask about: it collects what they want, asks the store for all of it at once when
//! the store's pace allows, and gives each what it asked for.

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
use self::state::{Admission, Desk};
use crate::config::GatewayConfig;
use crate::observe::Observe;
use crate::rules::ProductReply;
use crate::rules::reason::Unverified;
use crate::schema::UnverifiedCode;

/// A store's word on a product, and its moment.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) told: Arc<ProductReply>,
    pub(crate) as_of: Timestamp,
    /// The currency of its amounts.
    currency: CurrencyCode,
}

/// The outcome of a question.
pub(crate) type Outcome = Result<Answer, Unverified>;

impl Answer {
    fn new(told: ProductReply, as_of: Timestamp, currency: CurrencyCode) -> Self {
        Self {
            told: Arc::new(told),
            as_of,
            currency,
        }
    }

    /// True where it says something of every variant that is stored: a newer release may have more.
    fn covers(&self, stored: &StoredProduct) -> bool {
        let told = |id| self.told.gone.contains(&id) || self.told.variants.iter().any(|variant| variant.id == id);
        self.currency == stored.currency && stored.variants.iter().all(|variant| told(variant.id))
    }
}

/// All desks, and what they share.
#[derive(Debug)]
pub(crate) struct Desks {
    desks: Mutex<HashMap<String, Arc<Desk>>>,
    shared: Arc<DeskContext>,
}

/// The things that all desks share.
#[derive(Debug)]
pub(crate) struct DeskContext {
    pub(crate) storefront: Storefront,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: GatewayConfig,
    pub(crate) observer: Arc<dyn Observe>,
    /// Stores that may be asked at the same time.
    pub(crate) places: Semaphore,
    pub(crate) seen: LastObservations,
}

/// From so many desks on, those at which nobody waits are put away.
const DESKS_MAX: usize = 1_024;
/// A product that a newer release describes otherwise is asked for once more.
const TRIES_MAX: u32 = 2;

impl Desks {
    pub(crate) fn new(
        storefront: Storefront,
        clock: Arc<dyn Clock>,
        config: GatewayConfig,
        observer: Arc<dyn Observe>,
    ) -> Self {
        let places = Semaphore::new(config.stores_at_once_max.clamp(1, Semaphore::MAX_PERMITS));
        let shared = DeskContext {
            storefront,
            clock,
            config,
            observer,
            places,
            seen: LastObservations::default(),
        };
        Self {
            desks: Mutex::default(),
            shared: Arc::new(shared),
        }
    }

    /// The client of stores.
    pub(crate) fn storefront(&self) -> &Storefront {
        &self.shared.storefront
    }

    /// Asks the store of `brand` for `stored`, together with whoever wants something of it too. Ends at `deadline`,
    /// whatever the store does.
    pub(crate) async fn ask(
        &self,
        brand: &Arc<StoredBrand>,
        stored: &Arc<StoredProduct>,
        deadline: Instant,
    ) -> Outcome {
        let desk = self.desk(brand);
        for _ in 0..TRIES_MAX {
            let answer = match self.take(&desk, brand, stored) {
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
            "the store does not tell every variant",
        ))
    }

    /// A recent answer, or a place among those who wait; the desk is set to work where it rests.
    fn take(&self, desk: &Arc<Desk>, brand: &Arc<StoredBrand>, stored: &Arc<StoredProduct>) -> Admission {
        let (taken, must_start) = desk.take(brand, stored, &self.shared.config);
        if must_start {
            tokio::spawn(work::work(Arc::clone(desk), Arc::clone(&self.shared)));
        }
        taken
    }

    fn desk(&self, brand: &StoredBrand) -> Arc<Desk> {
        let country = brand.crawl_country.as_deref().unwrap_or_default();
        let key = format!("{country} {}", brand.base_url);
        let mut desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get(&key) {
            return Arc::clone(desk);
        }
        if desks.len() >= DESKS_MAX {
            let reuse = Duration::from_millis(self.shared.config.reuse_ms);
            desks.retain(|_, desk| desk.is_needed(reuse));
        }
        let desk = Arc::new(Desk::new(&brand.base_url, brand.crawl_country.clone()));
        desks.insert(key, Arc::clone(&desk));
        desk
    }
}

async fn waited(told: oneshot::Receiver<Outcome>, deadline: Instant) -> Outcome {
    match tokio::time::timeout_at(deadline, told).await {
        Ok(Ok(outcome)) => outcome,
        // The desk's work ended without an answer: only a panic does that, and it is logged where it happens.
        Ok(Err(_)) => Err(Unverified::new(
            UnverifiedCode::StoreUnreadable,
            "the store's answer could not be read",
        )),
        Err(_) => Err(Unverified::timeout()),
    }
}
