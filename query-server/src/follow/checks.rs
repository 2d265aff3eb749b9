use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use data_checks::{CheckOutcome, Checks, RunEnd};
use data_model::Timestamp;

use crate::server::QueryServer;

impl QueryServer {
    /// Checks once for newer store checks recorded by crawls, which answers then show. If the record cannot be read,
    /// the old checks stay. Each failure is counted, and the first in a row is logged.
    pub async fn refresh_checks(&self) {
        let inner = &self.0;
        let Some(storage) = &inner.config.checks else { return };
        match data_checks::load_newer(storage, inner.checks.load().seq).await {
            Ok(newer) => {
                inner.checks_unread.store(false, Ordering::Relaxed);
                if let Some(newer) = newer {
                    measure(&newer);
                    inner.checks.store(Arc::new(newer));
                }
            }
            Err(error) => {
                metrics::counter!("query_checks_failed_total").increment(1);
                if !inner.checks_unread.swap(true, Ordering::Relaxed) {
                    let error: &dyn Error = &error;
                    tracing::warn!(error, "the times at which stores were last queried cannot be read");
                }
            }
        }
        self.tell_checks();
    }

    /// Applies the known checks to the open release. This function runs after each change of checks or release, so the
    /// order of concurrent changes does not matter.
    pub(crate) fn tell_checks(&self) {
        if let Some(served) = self.0.served.load().as_deref() {
            served.tell(&self.0.checks.load_full());
        }
    }

    /// Registers the descriptions of the check metrics.
    pub(crate) fn describe_checks() {
        metrics::describe_counter!(
            "query_checks_failed_total",
            "Failed attempts to read the times at which crawls last queried each store"
        );
        metrics::counter!("query_checks_failed_total").increment(0);
        metrics::describe_gauge!(
            "crawl_last_checked_timestamp_seconds",
            metrics::Unit::Seconds,
            "Times at which crawls last queried a store, in seconds since 1970: the oldest and the latest of all stores"
        );
        metrics::describe_gauge!(
            "brands_by_check_outcome",
            "Registered brands by the outcome of the last query to their stores"
        );
        metrics::describe_gauge!(
            "crawl_last_run_ended_timestamp_seconds",
            metrics::Unit::Seconds,
            "End time of the last crawl, in seconds since 1970"
        );
        metrics::describe_gauge!("crawl_last_run_failed", "1 if the last crawl was aborted, otherwise 0");
    }
}

/// Updates the check metrics. No metric has the brand as a label, because there are thousands of brands.
fn measure(checks: &Checks) {
    // An `f64` is exact to the microsecond for some 200 years.
    let seconds = |moment: Timestamp| moment.micros() as f64 / 1e6;
    if let Some((oldest, newest)) = checks.span() {
        for (stat, moment) in [("oldest", oldest), ("newest", newest)] {
            metrics::gauge!("crawl_last_checked_timestamp_seconds", "stat" => stat).set(seconds(moment));
        }
    }
    for outcome in CheckOutcome::ALL {
        let brands = checks.brands.values().filter(|check| check.outcome == outcome);
        metrics::gauge!("brands_by_check_outcome", "outcome" => outcome.as_str()).set(brands.count() as f64);
    }
    if let Some(run) = &checks.last_run {
        metrics::gauge!("crawl_last_run_ended_timestamp_seconds").set(seconds(run.ended_at));
        let failed = if run.end == RunEnd::Failed { 1.0 } else { 0.0 };
        metrics::gauge!("crawl_last_run_failed").set(failed);
    }
}
