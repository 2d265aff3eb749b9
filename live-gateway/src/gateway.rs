use std::sync::{Arc, OnceLock};
use std::time::Duration;

use api::{Caller, Guard, Problem};
use data_model::{Clock, ErrorCode};
use storefront::Storefront;
use tokio_util::sync::CancellationToken;

use crate::carts::{CartDependencies, Carts};
use crate::catalogue::Catalogue;
use crate::checkout::Checkouts;
use crate::coalescer::StoreCoalescers;
use crate::config::GatewayConfig;
use crate::observe::Observe;

/// Gateway that queries stores live; cheap to clone.
#[derive(Debug, Clone)]
pub struct LiveGateway(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) coalescers: StoreCoalescers,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: GatewayConfig,
    /// Carts and their checkouts; empty if the server has none.
    pub(crate) checkouts: OnceLock<Checkouts>,
    /// Guard that counts callers' requests; empty if the server has none.
    pub(crate) guard: OnceLock<Arc<Guard>>,
    /// Shows if the server is about to stop.
    pub(crate) leaving: api::DrainState,
}

impl LiveGateway {
    /// Builds a gateway from a catalogue and the client of stores. No request is sent until a caller needs one.
    #[must_use]
    pub fn new(
        catalogue: Arc<dyn Catalogue>,
        storefront: Storefront,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observe>,
        config: GatewayConfig,
    ) -> Self {
        let coalescers = StoreCoalescers::new(storefront, Arc::clone(&clock), config.clone(), observer);
        Self(Arc::new(Inner {
            catalogue,
            coalescers,
            clock,
            config,
            checkouts: OnceLock::new(),
            guard: OnceLock::new(),
            leaving: api::DrainState::default(),
        }))
    }

    /// Reports the server as not ready from now on, so that proxies use another server. Requests are still processed.
    pub fn leave(&self) {
        self.0.leaving.begin();
    }

    /// Enables carts, checkouts and customer sign-in for all clones of the gateway. Without carts, these operations
    /// return 503 `not_ready`. A second call has no effect.
    #[must_use]
    pub fn with_carts(self, dependencies: CartDependencies) -> Self {
        let inner = &self.0;
        let storefront = inner.coalescers.storefront().clone();
        let carts = Carts::new(
            dependencies,
            Arc::clone(&inner.catalogue),
            storefront,
            Arc::clone(&inner.clock),
        );
        if inner.checkouts.set(Checkouts::new(carts)).is_err() {
            tracing::warn!("the gateway already has its state for carts");
        }
        self
    }

    /// Returns the carts and checkouts, or a problem if the server has none.
    pub(crate) fn checkouts(&self) -> Result<&Checkouts, Problem> {
        let missing =
            || Problem::new(ErrorCode::NotReady).detail("This server offers no carts because no state is configured.");
        self.0.checkouts.get().ok_or_else(missing)
    }

    /// Counts each request by the number of stores that it queries. `guard` has already counted one store for each
    /// admitted request. A second call has no effect.
    #[must_use]
    pub fn with_guard(self, guard: Arc<Guard>) -> Self {
        if self.0.guard.set(guard).is_err() {
            tracing::warn!("the gateway has a guard already");
        }
        self
    }

    /// Counts the stores that a request of `caller` queried.
    pub(crate) async fn count_stores(&self, caller: &Caller, stores: usize) {
        if let Some(guard) = self.0.guard.get() {
            guard.owe(caller, stores).await;
        }
    }

    /// Deletes expired carts, expired stored responses and expired customer tokens every `interval`, until `stop` is
    /// cancelled.
    pub async fn keep_tidy(self, interval: Duration, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(interval) => {}
            }
            let Some(checkouts) = self.0.checkouts.get() else {
                return;
            };
            match checkouts.carts.context.state.purge_carts(self.0.clock.now()).await {
                Ok(forgotten) => tracing::debug!(forgotten, "expired records of carts were deleted"),
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "expired records of carts cannot be deleted");
                }
            }
        }
    }
}
