//! Leases on stores for tasks outside the queue: crawls, refreshes of shipping terms and reviews, and delivery probes.
//! Workers of the queue use the same leases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use data_model::StoreHost;
use futures::future::BoxFuture;
use state::{State, StateError, StoreRight, WorkLease};
use storefront::{RightOutcome, StoreRights};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::config::QueueConfig;
use super::hold;
use super::keeper::Keeper;
use crate::monotonic_clock::Clocks;

/// Leases on stores while they are queried, so that no worker queries the same store. A store that a worker has is left
/// to the worker.
#[derive(Debug)]
pub struct StoreLeases {
    state: State,
    config: QueueConfig,
    keeper: Arc<Keeper>,
    name: String,
    /// True if the state rejected the last return of a lease. A full disk is then logged only once.
    refused: AtomicBool,
    _renewing: AbortOnDropHandle<()>,
}

impl StoreLeases {
    /// Creates leases in this state for a process with this name.
    #[must_use]
    pub fn new(state: State, config: QueueConfig, clocks: Clocks, name: String) -> Arc<Self> {
        let keeper = Keeper::new(state.clone(), config.clone(), clocks);
        let renewing = tokio::spawn({
            let keeper = Arc::clone(&keeper);
            async move { match keeper.renew().await {} }
        });
        Arc::new(Self {
            state,
            config,
            keeper,
            name,
            refused: AtomicBool::new(false),
            _renewing: AbortOnDropHandle::new(renewing),
        })
    }

    /// Acquires the lease. If another process has it, this waits as long as the lease of a dead process may last.
    async fn take(
        &self,
        store: &StoreHost,
    ) -> Result<Result<(WorkLease, hold::RequestMoment), Option<String>>, StateError> {
        let since = Instant::now();
        let longest = self.config.lease() + 2 * self.config.poll().min(Duration::from_secs(1));
        loop {
            let asked = self.keeper.asks();
            let taken = self.state.take_store(store, &self.name, self.config.lease(), asked.now);
            match taken.await? {
                StoreRight::Given(lease) => return Ok(Ok((lease, asked))),
                StoreRight::AtWork { holder: Some(_) } if since.elapsed() < longest => {}
                StoreRight::AtWork { holder } => return Ok(Err(holder)),
            }
            tokio::time::sleep(self.config.poll()).await;
        }
    }
}

#[async_trait]
impl StoreRights for StoreLeases {
    async fn under(&self, store: &StoreHost, work: BoxFuture<'_, ()>) -> RightOutcome {
        let (lease, asked) = match self.take(store).await {
            Ok(Ok(taken)) => taken,
            Ok(Err(Some(holder))) => return RightOutcome::ByAnother(format!("{holder} is asking the store")),
            Ok(Err(None)) => {
                return RightOutcome::ByAnother("a worker's result for the store waits to be committed".to_owned());
            }
            Err(error) => return RightOutcome::Unknown(format!("the store's lease could not be taken: {error}")),
        };
        let kept = self.keeper.keep(lease.clone(), asked);
        let done = kept.hold.during(work).await;
        drop(kept);
        let given_back = self.state.give_back_store(&lease).await;
        let was_refused = self.refused.swap(given_back.is_err(), Ordering::Relaxed);
        if let Err(error) = given_back.map_err(|error| error.to_string())
            && !was_refused
        {
            tracing::warn!(error, "leases of stores cannot be released: each expires by itself");
        }
        if done.is_some() {
            RightOutcome::Done
        } else {
            RightOutcome::Lost
        }
    }
}
