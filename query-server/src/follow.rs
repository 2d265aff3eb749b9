mod checks;
mod repeats;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use data_embedding::Embedder;
use data_index::Release;
use data_model::{ReleaseId, Timestamp};
use data_release::{Current, LocalRelease, ReleaseError};
use search::Synonyms;
use tokio_util::sync::CancellationToken;

use self::repeats::Repeats;
use crate::operations::categories;
use crate::render::stats::coverage;
use crate::served::{PrepareError, ReleaseView};
use crate::server::QueryServer;

/// Error that prevented a switch to a newer release.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// Timed out while reading the current release from the release store.
    #[error("the storage of releases did not answer within {waited_ms} ms")]
    NoAnswer {
        /// Time waited, in milliseconds.
        waited_ms: u64,
    },
    /// The current release or its manifest could not be read, or its files could not be downloaded.
    #[error("{}", unread(.release.as_ref()))]
    Fetch {
        /// Id of the release, if already known.
        release: Option<ReleaseId>,
        /// Cause of the error.
        #[source]
        source: Box<ReleaseError>,
    },
    /// The release was downloaded but failed its checks.
    #[error("release {release} cannot be served")]
    Unfit {
        /// Id of the release.
        release: ReleaseId,
        /// Cause of the error.
        #[source]
        source: PrepareError,
    },
    /// Opening the release panicked.
    #[error("opening release {release} failed unexpectedly")]
    Aborted {
        /// Id of the release.
        release: ReleaseId,
        /// Cause of the error.
        #[source]
        source: tokio::task::JoinError,
    },
}

fn unread(release: Option<&ReleaseId>) -> String {
    match release {
        Some(release) => format!("release {release} cannot be downloaded"),
        None => "the name of the current release cannot be read".to_owned(),
    }
}

/// Outcome of a check for a newer release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Followed {
    /// No release has been published yet.
    Nothing,
    /// The current release is already being served.
    Same(ReleaseId),
    /// The server switched to this release.
    Swapped(ReleaseId),
    /// The release store cannot be read. The server uses this release from its cache, which was current at the last
    /// successful read.
    Stale(ReleaseId),
}

/// Maximum time in milliseconds to wait for the name of the current release, if the server has no open release and the
/// cache has one.
const FIRST_ANSWER_MS: u64 = 3_000;
/// Number of release checks between two checks for discount code tests.
const DISCOUNTS_AFTER: u32 = 30;

impl QueryServer {
    /// Checks once for a newer release, and serves it if it passes its checks. Until then, or on failure, the previous
    /// release stays. A new server loads the previous release from its cache.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn refresh(&self) -> Result<Followed, FollowError> {
        let looked = self.look().await;
        let Err(error) = looked else {
            self.set_stale(false);
            return looked;
        };
        if let FollowError::Fetch { source, .. } = &error
            && let ReleaseError::Local { .. } = source.as_ref()
        {
            metrics::counter!("query_cache_failures_total").increment(1);
        }
        if self.0.served.load().is_some() {
            self.set_stale(true);
            return Err(error);
        }
        match self.open_remembered().await {
            Ok(Some(id)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    release = %id,
                    "the storage of releases cannot be read: the served release is from the cache and may be stale"
                );
                self.set_stale(true);
                Ok(Followed::Stale(id))
            }
            Ok(None) => Err(error),
            Err(unopened) => {
                // Loading the cached release is tried at each check, but its failure is logged only once.
                if !self.0.remembered_failed.swap(true, Ordering::Relaxed) {
                    let error = &unopened as &dyn std::error::Error;
                    tracing::warn!(error, "the release in the cache cannot be served");
                }
                Err(error)
            }
        }
    }

    async fn look(&self) -> Result<Followed, FollowError> {
        let inner = &self.0;
        let fetch = |release| {
            move |source| FollowError::Fetch {
                release,
                source: Box::new(source),
            }
        };
        let Some(current) = self.current().await? else {
            return Ok(Followed::Nothing);
        };
        let is_current = |served: &Arc<ReleaseView>| {
            // Pinning a release adds an event to the release log, but the release stays the same.
            (served.current.id, served.current.published_at) == (current.id, current.published_at)
        };
        if inner.served.load().as_ref().is_some_and(is_current) {
            return Ok(Followed::Same(current.id));
        }
        let started = Instant::now();
        let manifest = inner.store.manifest(current.id).await;
        let manifest = manifest.map_err(fetch(Some(current.id)))?;
        let local = inner.store.fetch(&manifest, &inner.cache).await;
        let local = local.map_err(fetch(Some(current.id)))?;
        self.open(local, current, started).await?;
        if let Err(error) = inner.store.remember(&inner.cache, &current, &manifest) {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the release cannot be recorded in the cache: a restart needs the storage of releases"
            );
        }
        self.clean_cache();
        Ok(Followed::Swapped(current.id))
    }

    /// Reads the current release. If the server has no open release and the cache has one, the wait is short and not
    /// all retries are used.
    async fn current(&self) -> Result<Option<Current>, FollowError> {
        let inner = &self.0;
        let fetch = |source| FollowError::Fetch {
            release: None,
            source: Box::new(source),
        };
        if inner.served.load().is_some() || !inner.store.remembers(&inner.cache) {
            return inner.store.current().await.map_err(fetch);
        }
        let waited = tokio::time::timeout(Duration::from_millis(FIRST_ANSWER_MS), inner.store.current());
        let waited_ms = FIRST_ANSWER_MS;
        let answered = waited.await.map_err(|_| FollowError::NoAnswer { waited_ms })?;
        answered.map_err(fetch)
    }

    /// Serves the release that the cache remembers: the last one that this server or a neighbour served. Returns `None`
    /// if there is none.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn open_remembered(&self) -> Result<Option<ReleaseId>, FollowError> {
        let started = Instant::now();
        let remembered = self.0.store.remembered(&self.0.cache).await;
        let remembered = remembered.map_err(|source| FollowError::Fetch {
            release: None,
            source: Box::new(source),
        })?;
        let Some((current, local)) = remembered else {
            return Ok(None);
        };
        self.open(local, current, started).await?;
        Ok(Some(current.id))
    }

    /// Opens a downloaded release, and serves it if it passes its checks.
    async fn open(&self, local: LocalRelease, current: Current, started: Instant) -> Result<(), FollowError> {
        let inner = &self.0;
        let (embedder, synonyms) = (inner.config.embedder.clone(), inner.config.synonyms.clone());
        let settings = inner.config.digest();
        let adult = inner.config.adult;
        let previous = inner.served.load_full();
        let prepared = tokio::task::spawn_blocking(move || {
            let previous = previous.as_ref().map(|previous| previous.release.as_ref());
            prepare(local, current, previous, embedder.as_ref(), synonyms, &settings, adult)
        });
        let release = current.id;
        let aborted = |source| FollowError::Aborted { release, source };
        let unfit = |source| FollowError::Unfit { release, source };
        let served = prepared.await.map_err(aborted)?.map_err(unfit)?;
        self.swap(served, started.elapsed());
        Ok(())
    }

    fn set_stale(&self, stale: bool) {
        metrics::gauge!("query_release_stale").set(f64::from(u8::from(stale)));
        let before = self.0.stale.swap(stale, Ordering::Relaxed);
        if before && !stale {
            tracing::info!("the served release is the current one again");
        }
    }

    fn swap(&self, served: ReleaseView, took: Duration) {
        let (id, products) = (served.release.id(), served.release.counts().products);
        let age_ms = self.0.clock.now().millis_since(served.current.published_at);
        // Prometheus uses timestamps in seconds. An `f64` is exact to the microsecond for some 200 years.
        let seconds = |moment: Timestamp| moment.micros() as f64 / 1e6;
        let (built, published) = (served.release.manifest().built_at, served.current.published_at);
        let (built, published) = (seconds(built), seconds(published));
        let held = served.release.manifest().held.len();
        let known = coverage(&served.release).named();
        served.tell(&self.0.checks.load_full());
        let release = Arc::clone(&served.release);
        let served = Arc::new(served);
        let before = self.0.served.swap(Some(Arc::clone(&served)));
        // The category tree and the lists of siblings are built in the background. An earlier request builds them
        // itself.
        drop(tokio::task::spawn_blocking(move || {
            categories(&served);
            served.search.browse.find_siblings(&served.release);
        }));
        self.tell_checks();
        self.0.released.send_replace(Some(release));
        metrics::counter!("query_releases_opened_total").increment(1);
        metrics::gauge!("query_release_built_timestamp_seconds").set(built);
        metrics::gauge!("query_release_published_timestamp_seconds").set(published);
        metrics::gauge!("query_release_held_brands").set(held as f64);
        for (fact, brands) in known {
            metrics::gauge!("query_release_shipping_known_brands", "fact" => fact).set(brands as f64);
        }
        let before_id = before.as_ref().map(|before| before.release.id().to_string());
        if let Some(before) = before {
            tokio::spawn(retire(before));
        }
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(release = %id, before = before_id, products, took_ms, age_ms, "a release is served");
    }

    /// Removes old cache files that the open release does not need.
    fn clean_cache(&self) {
        let inner = &self.0;
        let Some(served) = inner.served.load_full() else { return };
        let min_age = Duration::from_millis(inner.config.cache_keep_ms);
        match inner
            .store
            .clean_cache(&inner.cache, &[served.release.manifest()], min_age)
        {
            Ok(0) => {}
            Ok(freed_bytes) => tracing::info!(freed_bytes, "files of older releases were deleted from the cache"),
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the cache could not be cleaned"
            ),
        }
    }

    /// Describes the metrics and sets counters to zero. A counter that first appears with value 1 would hide that first
    /// failure.
    fn describe_metrics() {
        metrics::describe_counter!(
            "query_releases_opened_total",
            "Releases that this server has started to serve"
        );
        metrics::describe_counter!(
            "query_releases_failed_total",
            "Checks for a newer release that failed: the release could not be read or did not pass its checks"
        );
        metrics::describe_counter!(
            "query_embedding_failures_total",
            "Queries that could not be embedded and were answered by lexical search only"
        );
        metrics::describe_gauge!(
            "query_release_built_timestamp_seconds",
            metrics::Unit::Seconds,
            "Build time of the served release, in seconds since 1970"
        );
        metrics::describe_gauge!(
            "query_release_published_timestamp_seconds",
            metrics::Unit::Seconds,
            "Time at which the served release became the current one, in seconds since 1970"
        );
        metrics::describe_gauge!(
            "query_release_held_brands",
            "Brands that the served release contains in an earlier state, because the lake's data on them is doubted"
        );
        metrics::describe_gauge!(
            "query_release_shipping_known_brands",
            "Brands of the served release for which a shipping fact is known, by fact"
        );
        metrics::describe_gauge!(
            "query_release_stale",
            "1 if the last check for a newer release failed, so that the served release may be stale, otherwise 0"
        );
        metrics::describe_counter!(
            "query_cache_failures_total",
            "Checks for a newer release that failed because the cache could not be written or read"
        );
        for counter in [
            "query_cache_failures_total",
            "query_releases_opened_total",
            "query_releases_failed_total",
            "query_embedding_failures_total",
        ] {
            metrics::counter!(counter).increment(0);
        }
    }

    /// Checks for newer releases, store checks and discount code tests until `stop`. Failures are logged and retried,
    /// and never end this loop.
    pub async fn follow(&self, stop: CancellationToken) {
        tokio::join!(self.follow_releases(&stop), self.follow_discounts(&stop));
    }

    async fn follow_releases(&self, stop: &CancellationToken) {
        Self::describe_metrics();
        Self::describe_checks();
        let mut ticks = tokio::time::interval(Duration::from_millis(self.0.config.poll_ms.max(10)));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut repeats = Repeats::default();
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            let look = async { tokio::join!(self.refresh(), self.refresh_checks()).0 };
            let Some(looked) = stop.run_until_cancelled(look).await else {
                return;
            };
            match looked {
                Ok(Followed::Stale(_)) => metrics::counter!("query_releases_failed_total").increment(1),
                Ok(_) => repeats.succeeded(),
                Err(error) => {
                    metrics::counter!("query_releases_failed_total").increment(1);
                    if let Some(looks) = repeats.failed(&error) {
                        tracing::warn!(error = with_causes(&error), looks, "the newest release is not served");
                    }
                }
            }
        }
    }

    /// Checks once for new discount code tests, which products then show. If the tests cannot be read, the old ones
    /// stay. Each failure is counted, and the first in a row is logged.
    pub async fn refresh_discounts(&self) {
        let inner = &self.0;
        let Some(storage) = &inner.config.checks else { return };
        let newer = inner.discounts.load_full().newer(storage, inner.clock.now()).await;
        match newer {
            Ok(newer) => {
                inner.discounts_unread.store(false, Ordering::Relaxed);
                inner.discounts.store(Arc::new(newer));
            }
            Err(error) => {
                metrics::counter!("query_discounts_failed_total").increment(1);
                if !inner.discounts_unread.swap(true, Ordering::Relaxed) {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "the results of discount code tests cannot be read");
                }
            }
        }
    }

    async fn follow_discounts(&self, stop: &CancellationToken) {
        metrics::describe_counter!(
            "query_discounts_failed_total",
            "Failed attempts to read the results of discount code tests"
        );
        metrics::counter!("query_discounts_failed_total").increment(0);
        let pause = Duration::from_millis(self.0.config.poll_ms.max(10)) * DISCOUNTS_AFTER;
        let mut ticks = tokio::time::interval(pause);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if stop.run_until_cancelled(self.refresh_discounts()).await.is_none() {
                return;
            }
        }
    }
}

/// Formats an error with its causes in one line. A cause that a message already contains is not repeated; object store
/// clients include it.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut line = String::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        let text = cause.to_string();
        if !line.contains(&text) {
            line.push_str(if line.is_empty() { "" } else { ": " });
            line.push_str(&text);
        }
        next = cause.source();
    }
    line
}

/// Pause between two checks for users of an old release, in milliseconds.
const RETIRE_MS: u64 = 20;

/// Frees an old release in the background, because unmapping its files takes longer than a request.
async fn retire(before: Arc<ReleaseView>) {
    while Arc::strong_count(&before) > 1 {
        tokio::time::sleep(Duration::from_millis(RETIRE_MS)).await;
    }
    // The blocking task frees the release even if the runtime stops first.
    let _ = tokio::task::spawn_blocking(move || drop(before)).await;
}

#[tracing::instrument(target = "trace::release", name = "release open", level = "info", skip_all, fields(release = %current.id))]
fn prepare(
    local: LocalRelease,
    current: Current,
    previous: Option<&Release>,
    embedder: Option<&Arc<dyn Embedder>>,
    synonyms: Synonyms,
    settings: &str,
    adult: bool,
) -> Result<ReleaseView, PrepareError> {
    let release = local
        .open_after(previous)
        .map_err(|error| PrepareError::Open(Box::new(error)))?;
    ReleaseView::prepare(release, current, embedder, synonyms, settings, adult)
}
