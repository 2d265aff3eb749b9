//! Short leases for work on a cart or a request, renewed as long as the work runs.
//!
//! In: the leased object, and its lease. Out: a holder that renews the lease and knows if the lease is still valid. If
//! a process ends, other servers take over some seconds later.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data_model::{Clock, Timestamp};
use state::{IdempotentSlot, Lease, State, StateError};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::rules::carts::ids::CartId;

/// Validity of a lease without renewal. The clocks of servers that share a state differ by much less.
const LEASE: Duration = Duration::from_secs(6);
/// Time between two renewals. Three renewals may fail before another server takes over.
const RENEW: Duration = Duration::from_millis(1_500);

#[derive(Debug, Clone)]
pub(crate) enum Leased {
    Cart(CartId),
    Request(IdempotentSlot),
}

/// Lease that is renewed in the background until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldLease {
    holding: Arc<RenewedLease>,
    renewal: AbortHandle,
}

#[derive(Debug)]
struct RenewedLease {
    what: Leased,
    lease: Lease,
    state: State,
    clock: Arc<dyn Clock>,
    /// Time until which no other process can get the lease, on a monotonic clock.
    until: Mutex<Instant>,
}

/// Creates a lease that has not been acquired yet.
pub(crate) fn lease(now: Timestamp) -> Result<Lease, StateError> {
    Lease::new(end(now))
}

fn end(now: Timestamp) -> Timestamp {
    now.plus_millis(i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the time until the end of another holder's lease.
pub(crate) fn wait(until: Timestamp, now: Timestamp) -> Duration {
    let left_micros = until.micros().saturating_sub(now.micros());
    Duration::from_micros(u64::try_from(left_micros).unwrap_or_default())
}

impl HeldLease {
    /// Starts to renew a lease that was acquired at `since` or later.
    pub(crate) fn new(what: Leased, lease: Lease, state: State, clock: Arc<dyn Clock>, since: Instant) -> Self {
        let holding = Arc::new(RenewedLease {
            what,
            lease,
            state,
            clock,
            until: Mutex::new(since + LEASE),
        });
        let renewed = Arc::clone(&holding);
        let renewal = tokio::spawn(async move {
            loop {
                sleep(RENEW).await;
                match renewed.renew().await {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => tracing::warn!(%error, "a lease cannot be renewed"),
                }
            }
        });
        Self {
            holding,
            renewal: renewal.abort_handle(),
        }
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.holding.lease
    }

    /// True if the lease is still valid. After a suspension of the process, the state is queried first.
    pub(crate) async fn holds(&self) -> bool {
        let until = *self.holding.until.lock().unwrap_or_else(PoisonError::into_inner);
        if Instant::now() < until {
            return true;
        }
        match self.holding.renew().await {
            Ok(is_ours) => is_ours,
            Err(error) => {
                tracing::warn!(%error, "it is unknown whether a lease is still valid");
                false
            }
        }
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

impl RenewedLease {
    async fn renew(&self) -> Result<bool, StateError> {
        let asked_at = Instant::now();
        let until = end(self.clock.now());
        let is_ours = match &self.what {
            Leased::Cart(id) => self.state.renew_cart(id.as_str(), &self.lease, until).await?,
            Leased::Request(slot) => self.state.renew_idempotent(slot, &self.lease, until).await?,
        };
        if is_ours {
            *self.until.lock().unwrap_or_else(PoisonError::into_inner) = asked_at + LEASE;
        }
        Ok(is_ours)
    }
}
