//! Rights to change something that last as long as the work: short leases, renewed while their holder lives.
//!
//! In: what is leased, and its lease. Out: a holder that renews it, and knows whether it still holds. A process that
//! ends, however it ends, renews nothing: others go on some seconds later.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data_model::{Clock, Timestamp};
use state::{IdempotentSlot, Lease, State, StateError};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::rules::carts::ids::CartId;

/// The time for which a lease holds without being renewed. Clocks of servers that share a state differ by far less.
const LEASE: Duration = Duration::from_secs(6);
/// Time between two renewals: three times may fail before others take over.
const RENEW: Duration = Duration::from_millis(1_500);

/// The thing that is leased.
#[derive(Debug, Clone)]
pub(crate) enum Leased {
    Cart(CartId),
    Request(IdempotentSlot),
}

/// A lease that is renewed until this is dropped.
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
    /// The moment until which no other process can have it, by a clock that cannot be set.
    until: Mutex<Instant>,
}

/// A lease for something, not asked for yet.
pub(crate) fn lease(now: Timestamp) -> Result<Lease, StateError> {
    Lease::new(end(now))
}

fn end(now: Timestamp) -> Timestamp {
    now.plus_millis(i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX))
}

/// Time for which whoever was refused waits until a lease is over, unless it is renewed.
pub(crate) fn wait(until: Timestamp, now: Timestamp) -> Duration {
    let left_micros = until.micros().saturating_sub(now.micros());
    Duration::from_micros(u64::try_from(left_micros).unwrap_or_default())
}

impl HeldLease {
    /// Holds what was leased at `since` or later.
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
                    Err(error) => tracing::warn!(%error, "a lease is not renewed"),
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

    /// True where nobody else has it. A process that was stopped for a while asks the state before it goes on.
    pub(crate) async fn holds(&self) -> bool {
        let until = *self.holding.until.lock().unwrap_or_else(PoisonError::into_inner);
        if Instant::now() < until {
            return true;
        }
        match self.holding.renew().await {
            Ok(is_ours) => is_ours,
            Err(error) => {
                tracing::warn!(%error, "it is not known whether a lease still holds");
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
