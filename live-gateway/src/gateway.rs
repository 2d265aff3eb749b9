use std::sync::{Arc, OnceLock};
use std::time::Duration;

use api::{Caller, Guard, Problem};
use data_model::{Clock, ErrorCode};
use storefront::Storefront;
use tokio_util::sync::CancellationToken;

use crate::carts::{CartDesk, Carts};
use crate::catalogue::Catalogue;
use crate::checkout::Checkouts;
use crate::config::GatewayConfig;
use crate::desk::Desks;
use crate::observe::Observe;

/// Asks stores live; cheap to clone.
#[derive(Debug, Clone)]
pub struct LiveGateway(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) desks: Desks,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: GatewayConfig,
    /// Carts and their checkouts, on a server that keeps any.
    pub(crate) checkouts: OnceLock<Checkouts>,
    /// The guard that counts callers' requests, on a server that does.
    pub(crate) guard: OnceLock<Arc<Guard>>,
    /// The server is about to stop.
    pub(crate) leaving: api::DrainState,
}

impl LiveGateway {
    /// Builds a gateway over a catalogue and the client of stores. It asks nothing until somebody wants something.
    #[must_use]
    pub fn new(
        catalogue: Arc<dyn Catalogue>,
        storefront: Storefront,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observe>,
        config: GatewayConfig,
    ) -> Self {
        let desks = Desks::new(storefront, Arc::clone(&clock), config.clone(), observer);
        Self(Arc::new(Inner {
            catalogue,
            desks,
            clock,
            config,
            checkouts: OnceLock::new(),
            guard: OnceLock::new(),
            leaving: api::DrainState::default(),
        }))
    }

    /// Says from now on that it is not ready, so that proxies ask another server. It answers as before.
    pub fn leave(&self) {
        self.0.leaving.begin();
    }

    /// Keeps carts, hands over to checkouts and signs customers in, with what `desk` has. All clones do from then on. A
    /// gateway without it answers those operations with 503 `not_ready`. A second desk is not taken.
    #[must_use]
    pub fn with_carts(self, desk: CartDesk) -> Self {
        let inner = &self.0;
        let storefront = inner.desks.storefront().clone();
        let carts = Carts::new(desk, Arc::clone(&inner.catalogue), storefront, Arc::clone(&inner.clock));
        if inner.checkouts.set(Checkouts::new(carts)).is_err() {
            tracing::warn!("the gateway keeps carts already");
        }
        self
    }

    /// Carts and their checkouts, where the server keeps any.
    pub(crate) fn checkouts(&self) -> Result<&Checkouts, Problem> {
        let missing = || Problem::new(ErrorCode::NotReady).detail("This server keeps no carts: it has no state.");
        self.0.checkouts.get().ok_or_else(missing)
    }

    /// Counts requests by the stores that they ask: `guard` has counted one for each that it let in. A second guard is not
    /// taken.
    #[must_use]
    pub fn with_guard(self, guard: Arc<Guard>) -> Self {
        if self.0.guard.set(guard).is_err() {
            tracing::warn!("the gateway has a guard already");
        }
        self
    }

    /// Takes into account that a request of `caller` asked so many stores.
    pub(crate) async fn count_stores(&self, caller: &Caller, stores: usize) {
        if let Some(guard) = self.0.guard.get() {
            guard.owe(caller, stores).await;
        }
    }

    /// Forgets carts, kept answers and customers' tokens that are over, every `interval` until `stop` is cancelled.
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
                Ok(forgotten) => tracing::debug!(forgotten, "ended records of carts are forgotten"),
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "ended records of carts cannot be forgotten");
                }
            }
        }
    }
}
