//! Renewal of the leases of a process. Work under an expired lease is stopped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use state::{State, WorkLease};

use super::config::QueueConfig;
use super::hold::{Hold, RequestMoment};
use crate::monotonic_clock::Clocks;

#[derive(Debug)]
pub(super) struct Keeper {
    state: State,
    config: QueueConfig,
    clocks: Clocks,
    held: Mutex<BTreeMap<WorkLease, Arc<Hold>>>,
}

/// Lease that is renewed until this guard is dropped.
#[derive(Debug)]
pub(super) struct LeaseGuard {
    keeper: Arc<Keeper>,
    lease: WorkLease,
    pub(super) hold: Arc<Hold>,
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        self.keeper.held().remove(&self.lease);
    }
}

impl Keeper {
    pub(super) fn new(state: State, config: QueueConfig, clocks: Clocks) -> Arc<Self> {
        Arc::new(Self {
            state,
            config,
            clocks,
            held: Mutex::default(),
        })
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<WorkLease, Arc<Hold>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current time as the time of a lease request.
    pub(super) fn asks(&self) -> RequestMoment {
        RequestMoment::at(self.clocks.elapsed.as_ref(), self.clocks.clock.as_ref())
    }

    /// Registers a granted lease for renewal.
    pub(super) fn keep(self: &Arc<Self>, lease: WorkLease, asked: RequestMoment) -> LeaseGuard {
        let Clocks { clock, elapsed } = self.clocks.clone();
        let hold = Hold::new(elapsed, clock, asked, self.config.trusted());
        self.held().insert(lease.clone(), Arc::clone(&hold));
        LeaseGuard {
            keeper: Arc::clone(self),
            lease,
            hold,
        }
    }

    /// Renews all leases repeatedly and never returns.
    pub(super) async fn renew(&self) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(self.config.renew_every()).await;
            self.renew_once().await;
        }
    }

    pub(super) async fn renew_once(&self) {
        let held: Vec<_> = self
            .held()
            .iter()
            .map(|(lease, hold)| (lease.clone(), Arc::clone(hold)))
            .collect();
        // Work with an expired lease does no further step, so that lease must not be renewed.
        let held: Vec<_> = held.into_iter().filter(|(_, hold)| !hold.is_over()).collect();
        if held.is_empty() {
            return;
        }
        let asked = self.asks();
        let leases: Vec<_> = held.iter().map(|(lease, _)| lease.clone()).collect();
        match self.state.renew_work(&leases, self.config.lease(), asked.now).await {
            Ok(lost) => {
                for (lease, hold) in held {
                    if lost.contains(&lease) {
                        hold.lose();
                        metrics::counter!(crate::metrics::WORK_LOST).increment(1);
                    } else {
                        hold.renewed(asked, self.config.trusted());
                    }
                }
            }
            // The leases expire by themselves if the state database does not respond.
            Err(error) => tracing::warn!(error = %error, "leases of stores were not renewed"),
        }
    }
}
