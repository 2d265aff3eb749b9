//! Usage of keys, counted without a database write for each request.

mod counts;
mod writer;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::{KnownCaller, Meter, Via};
use data_model::{Clock, TimeZone};
use state::{Day, KeyId, State, UsageBatch};
use tokio_util::sync::CancellationToken;

use self::counts::Counts;
use self::writer::Writer;
use crate::config::AccessConfig;
use crate::schema::RouteUsage;

const WRITTEN: &str = "usage_written_total";
const FAILURES: &str = "usage_write_failures_total";
const LOST: &str = "usage_lost_total";

/// Counter of keys' requests by day and route. The counts are written to the state periodically.
///
/// Each count takes one lookup under the lock of one of 16 shards. Sessions are not counted, because they are a person
/// at the dashboard. Metrics, in requests: `usage_written_total`, `usage_lost_total` (no space while the state was
/// down, or the process ended before the state was back). `usage_write_failures_total` counts failed batches.
pub struct UsageMeter {
    clock: Arc<dyn Clock>,
    zone: TimeZone,
    counts: Counts,
    /// Batch that may not be written yet, and that is sent again unchanged.
    unwritten: Mutex<Option<Arc<UsageBatch>>>,
    /// Lock for the move of a batch to the state. Readers find the batch either in memory or in the state.
    moving: tokio::sync::RwLock<()>,
}

impl UsageMeter {
    /// Creates a meter, and its writer, which must be run. After `stop` is cancelled, the writer ends once it has
    /// written the remaining counts, at most ten seconds later. Cancel `stop` only after the servers have ended, or
    /// later counts are lost.
    ///
    /// Days begin at midnight in `zone`.
    pub fn start(
        state: State,
        clock: Arc<dyn Clock>,
        zone: TimeZone,
        config: &AccessConfig,
        stop: CancellationToken,
    ) -> (Arc<Self>, impl Future<Output = ()> + Send + 'static) {
        describe();
        let meter = Arc::new(Self {
            clock,
            zone,
            counts: Counts::default(),
            unwritten: Mutex::default(),
            moving: tokio::sync::RwLock::default(),
        });
        let writer = Writer {
            meter: Arc::clone(&meter),
            state,
            interval: Duration::from_millis(config.usage_flush_ms),
            stop,
        };
        (meter, writer.run())
    }

    /// Returns the current day in the market's time zone.
    pub(crate) fn today(&self) -> Day {
        Day::of(self.clock.now(), self.zone)
    }

    /// Returns the usage of these keys on `day` by route: the usage that `written` reads from the state, plus the
    /// requests that this server has not written yet.
    pub(crate) async fn with_unwritten<E>(
        &self,
        day: Day,
        written: impl Future<Output = Result<Vec<RouteUsage>, E>>,
        keys: impl Fn(&KeyId) -> bool,
    ) -> Result<BTreeMap<String, u64>, E> {
        let _still = self.moving.read().await;
        let mut by_route = BTreeMap::new();
        let mut add = |route: &str, requests: u64| {
            if let Some(sum) = by_route.get_mut(route) {
                *sum += requests;
            } else {
                by_route.insert(route.to_owned(), requests);
            }
        };
        for RouteUsage { route, requests } in written.await? {
            add(&route, requests);
        }
        let unwritten = self.unwritten().clone();
        let waiting = unwritten.iter().flat_map(|batch| batch.entries());
        for entry in waiting.filter(|entry| entry.day == day && keys(&entry.key)) {
            add(&entry.route, entry.requests);
        }
        self.counts.each(|key, counted_on, route, requests| {
            if counted_on == day && key.parse().is_ok_and(|key| keys(&key)) {
                add(route, requests);
            }
        });
        Ok(by_route)
    }

    fn unwritten(&self) -> MutexGuard<'_, Option<Arc<UsageBatch>>> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Meter for UsageMeter {
    fn count(&self, caller: &KnownCaller, route: &str) {
        if let Via::Key { id, .. } = &caller.via {
            let is_counted = self.counts.add(id, self.today(), route);
            if !is_counted {
                metrics::counter!(LOST).increment(1);
            }
        }
    }
}

impl fmt::Debug for UsageMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsageMeter")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

fn describe() {
    metrics::describe_counter!(
        WRITTEN,
        "Number of requests with keys whose count was written to the state"
    );
    metrics::describe_counter!(LOST, "Number of requests with keys whose count was lost");
    metrics::describe_counter!(
        FAILURES,
        "Number of batches of counts that the state did not accept and that are sent again"
    );
    for counter in [WRITTEN, LOST, FAILURES] {
        metrics::counter!(counter).increment(0);
    }
}
