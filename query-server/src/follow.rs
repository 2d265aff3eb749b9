use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use data_embedding::Embedder;
use data_index::{Current, LocalRelease, Release, ReleaseError};
use data_model::{ReleaseId, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::lexical::Synonyms;
use crate::served::{PrepareError, Served};
use crate::server::QueryServer;

/// Why a newer release could not replace the one that is served.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// Which release is current, or what it is made of, could not be read, or its files could not be fetched.
    #[error("release {release:?} cannot be fetched")]
    Fetch {
        /// The release, once it is known.
        release: Option<ReleaseId>,
        /// Why.
        #[source]
        source: Box<ReleaseError>,
    },
    /// The release was fetched but is not fit to be served.
    #[error("release {release} cannot be served")]
    Unfit {
        /// The release.
        release: ReleaseId,
        /// Why.
        #[source]
        source: PrepareError,
    },
    /// Opening did not end: it panicked.
    #[error("opening release {release} did not end")]
    Aborted {
        /// The release.
        release: ReleaseId,
        /// Why.
        #[source]
        source: tokio::task::JoinError,
    },
}

/// What a look for a newer release led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Followed {
    /// Nothing has been published yet.
    Nothing,
    /// The current release is served already.
    Same(ReleaseId),
    /// This release is served from now on.
    Swapped(ReleaseId),
}

impl QueryServer {
    /// Looks once for a newer release, and serves it when it is fit. Until then, and when it is not, the release
    /// before is served.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn refresh(&self) -> Result<Followed, FollowError> {
        let inner = &self.0;
        let fetch = |release| {
            move |source| FollowError::Fetch {
                release,
                source: Box::new(source),
            }
        };
        let Some(current) = inner.store.current().await.map_err(fetch(None))? else {
            return Ok(Followed::Nothing);
        };
        if inner
            .served
            .load()
            .as_ref()
            .is_some_and(|served| served.current == current)
        {
            return Ok(Followed::Same(current.id));
        }
        let started = Instant::now();
        let manifest = inner
            .store
            .manifest(current.id)
            .await
            .map_err(fetch(Some(current.id)))?;
        let local = inner
            .store
            .fetch(&manifest, &inner.cache)
            .await
            .map_err(fetch(Some(current.id)))?;
        let (embedder, synonyms) = (inner.config.embedder.clone(), inner.config.synonyms.clone());
        let settings = inner.config.digest();
        let previous = inner.served.load_full();
        let prepared = tokio::task::spawn_blocking(move || {
            let previous = previous.as_ref().map(|previous| &previous.release);
            prepare((local, current), previous, embedder.as_ref(), (synonyms, &settings))
        });
        let prepared = prepared.await;
        let aborted = |source| FollowError::Aborted {
            release: current.id,
            source,
        };
        let unfit = |source| FollowError::Unfit {
            release: current.id,
            source,
        };
        let served = prepared.map_err(aborted)?.map_err(unfit)?;
        self.swap(served, started.elapsed());
        self.clean_cache();
        Ok(Followed::Swapped(current.id))
    }

    fn swap(&self, served: Served, took: Duration) {
        let (id, products) = (served.release.id(), served.release.counts().products);
        let age_ms = self.0.clock.now().millis_since(served.current.published_at);
        // Prometheus counts moments in seconds; to the microsecond they are exact for some 200 years to come.
        let seconds = |moment: Timestamp| moment.micros() as f64 / 1e6;
        let (built, published) = (served.release.manifest().built_at, served.current.published_at);
        let (built, published) = (seconds(built), seconds(published));
        let before = self.0.served.swap(Some(Arc::new(served)));
        metrics::counter!("query_releases_opened_total").increment(1);
        metrics::gauge!("query_release_built_timestamp_seconds").set(built);
        metrics::gauge!("query_release_published_timestamp_seconds").set(published);
        let before_id = before.as_ref().map(|before| before.release.id().to_string());
        if let Some(before) = before {
            tokio::spawn(retire(before));
        }
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(release = %id, before = before_id, products, took_ms, age_ms, "a release is served");
    }

    /// Removes files of the cache that the served release does not need and that are not new.
    fn clean_cache(&self) {
        let inner = &self.0;
        let Some(served) = inner.served.load_full() else { return };
        let min_age = Duration::from_millis(inner.config.cache_keep_ms);
        match inner
            .store
            .clean_cache(&inner.cache, &[served.release.manifest()], min_age)
        {
            Ok(0) => {}
            Ok(freed_bytes) => tracing::info!(freed_bytes, "files of older releases were removed from the cache"),
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the cache could not be cleaned"
            ),
        }
    }

    /// Says what this server counts, and counts from nothing: a counter that begins with its first failure hides it.
    fn describe_metrics() {
        metrics::describe_counter!(
            "query_releases_opened_total",
            "Releases that this server has begun to serve"
        );
        metrics::describe_counter!(
            "query_releases_failed_total",
            "Looks for a newer release that ended in none: it could not be read, or is not fit to be served"
        );
        metrics::describe_counter!(
            "query_embedding_failures_total",
            "Queries that could not be embedded and were answered by words alone"
        );
        metrics::describe_gauge!(
            "query_release_built_timestamp_seconds",
            metrics::Unit::Seconds,
            "When the release that is served was built, in seconds since 1970"
        );
        metrics::describe_gauge!(
            "query_release_published_timestamp_seconds",
            metrics::Unit::Seconds,
            "When the release that is served became the current one, in seconds since 1970"
        );
        for counter in [
            "query_releases_opened_total",
            "query_releases_failed_total",
            "query_embedding_failures_total",
        ] {
            metrics::counter!(counter).increment(0);
        }
    }

    /// Looks for newer releases until `stop`. A failure is logged and tried again; it never ends the following.
    pub async fn follow(&self, stop: CancellationToken) {
        Self::describe_metrics();
        let mut ticks = tokio::time::interval(Duration::from_millis(self.0.config.poll_ms.max(10)));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // The same failure is told once, not with every look.
        let mut told = None;
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            let Some(looked) = stop.run_until_cancelled(self.refresh()).await else {
                return;
            };
            let Err(error) = looked else {
                told = None;
                continue;
            };
            metrics::counter!("query_releases_failed_total").increment(1);
            let source = error.source().map(ToString::to_string);
            let failure = (error.to_string(), source);
            if told.as_ref() != Some(&failure) {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the newest release is not served"
                );
                told = Some(failure);
            }
        }
    }
}

/// How often to look whether a release is still answered from.
const RETIRE_MS: u64 = 20;

/// Frees a release where no request waits for that: unmapping it takes longer than an answer.
async fn retire(before: Arc<Served>) {
    while Arc::strong_count(&before) > 1 {
        tokio::time::sleep(Duration::from_millis(RETIRE_MS)).await;
    }
    // Dropped even when the runtime ends before that.
    let _ = tokio::task::spawn_blocking(move || drop(before)).await;
}

#[tracing::instrument(target = "trace::release", name = "release open", level = "info", skip_all, fields(release = %current.id))]
fn prepare(
    (local, current): (LocalRelease, Current),
    previous: Option<&Release>,
    embedder: Option<&Arc<dyn Embedder>>,
    (synonyms, settings): (Synonyms, &str),
) -> Result<Served, PrepareError> {
    let release = Release::open_after(local, previous).map_err(|error| PrepareError::Open(Box::new(error)))?;
    Served::prepare(release, current, embedder, synonyms, settings)
}
