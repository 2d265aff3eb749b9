use std::error::Error;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use api::{Asset, EntityTag};
use data_checks::{Check, CheckOutcome, Checks, RunEnd};
use data_index::{BrandEntry, Release};
use data_model::Timestamp;
use data_release::Current;
use sha2::{Digest, Sha256};

use crate::render::{json, stats};
use crate::server::QueryServer;

/// The answers that follow from a release and from the stores' last checks. They are made anew when either changes.
#[derive(Debug)]
pub(crate) struct CheckedAnswers {
    pub(crate) checks: Arc<Checks>,
    /// The same as they were recorded, without what the release holds.
    pub(crate) recorded: Arc<Checks>,
    /// Differs where an answer of brands or totals over the same release differs.
    stamp: [u8; 32],
    /// The totals.
    pub(crate) stats: Arc<Asset>,
    /// The first page of brands, made when it is first asked for: its cursor is signed with the server's key.
    brands_head: OnceLock<Arc<Asset>>,
}

impl CheckedAnswers {
    /// `id` is the release's as text, `served` what its entity tags follow from.
    pub(crate) fn of((release, current): (&Release, &Current), id: &str, served: &str, checks: Arc<Checks>) -> Self {
        let recorded = checks;
        let checks = with_held(release, Arc::clone(&recorded));
        let stamp = stamp(&checks);
        let totals = json(1024, &stats::stats(release, current, id, &checks));
        let tag = EntityTag::of(&[served.as_bytes(), &stamp, b"stats"]);
        Self {
            stats: Arc::new(Asset::graph(tag, totals)),
            checks,
            recorded,
            stamp,
            brands_head: OnceLock::new(),
        }
    }

    /// Goes into entity tags of answers about brands, besides the release and the request.
    pub(crate) const fn stamp(&self) -> &[u8] {
        &self.stamp
    }

    /// The last check of a brand's store; `None` if none is known.
    pub(crate) fn of_brand(&self, entry: &BrandEntry) -> Option<&Check> {
        self.checks.of(&entry.facts.brand.store)
    }

    /// The first page of brands, once it was made.
    pub(crate) fn made_brands_head(&self) -> Option<&Arc<Asset>> {
        self.brands_head.get()
    }

    /// The first page of brands, which `make` makes once.
    pub(crate) fn brands_head(&self, make: impl FnOnce() -> Arc<Asset>) -> &Arc<Asset> {
        self.brands_head.get_or_init(make)
    }
}

/// A digest of all that answers tell of checks. Servers that have read the same record have the same, and an event that
/// changes no brand's check changes no tag.
/// The checks, of which those of brands that the release holds say so: what is shown is of before their last good one.
fn with_held(release: &Release, mut checks: Arc<Checks>) -> Arc<Checks> {
    for brand in &release.manifest().held {
        if let Some(check) = Arc::make_mut(&mut checks).brands.get_mut(&brand.store)
            && check.outcome.is_good()
        {
            check.outcome = CheckOutcome::HeldBack;
        }
    }
    checks
}

fn stamp(checks: &Checks) -> [u8; 32] {
    let mut digest = Sha256::new();
    for (store, check) in &checks.brands {
        // Neither a host nor an outcome holds a zero.
        digest.update(store.as_str());
        digest.update([0]);
        digest.update(check.outcome.as_str());
        digest.update([0]);
        digest.update(check.checked_at.micros().to_le_bytes());
    }
    digest.finalize().into()
}

impl QueryServer {
    /// Looks once whether crawls have recorded newer checks of stores; from then on answers tell them. A record that
    /// cannot be read changes nothing: the failure is counted, and logged when it begins.
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
                    tracing::warn!(error, "it is not known when stores were last asked");
                }
            }
        }
        self.tell_checks();
    }

    /// Has the release that is served tell the checks that are known. It is called after either changed, so that it does
    /// not matter which of two changes at the same time comes first.
    pub(crate) fn tell_checks(&self) {
        if let Some(served) = self.0.served.load().as_deref() {
            served.tell(&self.0.checks.load_full());
        }
    }

    /// Says what the metrics of checks mean.
    pub(crate) fn describe_checks() {
        metrics::describe_counter!(
            "query_checks_failed_total",
            "Failed attempts to read when crawls last asked each store"
        );
        metrics::counter!("query_checks_failed_total").increment(0);
        metrics::describe_gauge!(
            "crawl_last_checked_timestamp_seconds",
            metrics::Unit::Seconds,
            "When crawls last asked a store, in seconds since 1970: of the store asked longest ago, and of the latest"
        );
        metrics::describe_gauge!(
            "brands_by_check_outcome",
            "Registered brands by what came of asking their stores last"
        );
        metrics::describe_gauge!(
            "crawl_last_run_ended_timestamp_seconds",
            metrics::Unit::Seconds,
            "When the last crawl ended, in seconds since 1970"
        );
        metrics::describe_gauge!("crawl_last_run_failed", "1 if the last crawl broke off, else 0");
    }
}

/// Shows in the metrics what is known. No brand is a label: there are thousands.
fn measure(checks: &Checks) {
    // Exact to the microsecond for some 200 years to come.
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
