use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::{ArcSwap, ArcSwapOption};
use data_checks::Checks;
use data_index::Release;
use data_model::{Clock, ReleaseId};
use data_release::ReleaseStore;
use tokio::sync::watch;

use crate::config::QueryConfig;
use crate::discounts::KnownDiscounts;
use crate::error::OperationError;
use crate::searches::{Places, Searches};
use crate::served::ReleaseView;

/// Answers requests from the current release; cheap to clone.
#[derive(Debug, Clone)]
pub struct QueryServer(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) config: QueryConfig,
    pub(crate) store: Arc<ReleaseStore>,
    pub(crate) cache: PathBuf,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) searches: Searches,
    pub(crate) served: ArcSwapOption<ReleaseView>,
    /// Tells what else answers from releases which one is served.
    pub(crate) released: watch::Sender<Option<Arc<Release>>>,
    /// True where the last look for a newer release failed.
    pub(crate) stale: AtomicBool,
    /// True from the moment when it is about to stop.
    pub(crate) leaving: api::DrainState,
    /// True once it was logged that the release that the cache remembers cannot be served.
    pub(crate) remembered_failed: AtomicBool,
    /// When each store was last asked, as far as it is known.
    pub(crate) checks: ArcSwap<Checks>,
    /// True where the last attempt to read the checks failed.
    pub(crate) checks_unread: AtomicBool,
    /// The codes that were tested at stores.
    pub(crate) discounts: ArcSwap<KnownDiscounts>,
    /// True where the last attempt to read them failed.
    pub(crate) discounts_unread: AtomicBool,
}

impl QueryServer {
    /// Builds a server over the releases of `store`; their files are kept in `cache`. It serves nothing until
    /// [`QueryServer::refresh`] or [`QueryServer::follow`] has opened a release.
    #[must_use]
    pub fn new(store: ReleaseStore, cache: PathBuf, clock: Arc<dyn Clock>, config: QueryConfig) -> Self {
        let searches = Searches::new(Places {
            here_max: config.searches_here_max,
            beside_max: config.searches_beside_max,
            waiting_max: config.searches_waiting_max,
            overload_waiting_max: config.searches_overload_waiting_max,
        });
        Self(Arc::new(Inner {
            config,
            store: Arc::new(store),
            cache,
            clock,
            searches,
            served: ArcSwapOption::empty(),
            released: watch::Sender::new(None),
            stale: AtomicBool::new(false),
            leaving: api::DrainState::default(),
            remembered_failed: AtomicBool::new(false),
            checks: ArcSwap::default(),
            checks_unread: AtomicBool::new(false),
            discounts: ArcSwap::default(),
            discounts_unread: AtomicBool::new(false),
        }))
    }

    /// A server that answers from the release that is served now, for as long as it is kept: for whatever asks several
    /// things of one release. It searches where it is asked, however many do, and follows nothing. `None` before there is a release.
    #[must_use]
    pub fn pinned(&self) -> Option<Self> {
        let inner = &self.0;
        let served = inner.served.load_full()?;
        let release = Arc::clone(&served.release);
        Some(Self(Arc::new(Inner {
            config: inner.config.clone(),
            store: Arc::clone(&inner.store),
            cache: inner.cache.clone(),
            clock: Arc::clone(&inner.clock),
            // However low its priority is, it keeps no place from a shopper's search.
            searches: Searches::new(Places {
                here_max: usize::MAX,
                beside_max: 1,
                waiting_max: 0,
                overload_waiting_max: 0,
            }),
            served: ArcSwapOption::new(Some(served)),
            released: watch::Sender::new(Some(release)),
            stale: AtomicBool::new(false),
            leaving: api::DrainState::default(),
            remembered_failed: AtomicBool::new(false),
            checks: ArcSwap::new(inner.checks.load_full()),
            checks_unread: AtomicBool::new(false),
            discounts: ArcSwap::new(inner.discounts.load_full()),
            discounts_unread: AtomicBool::new(false),
        })))
    }

    /// The release that is served now.
    #[must_use]
    pub fn release(&self) -> Option<ReleaseId> {
        self.0.served.load().as_ref().map(|served| served.release.id())
    }

    /// The release that is served, now and whenever it is another one: for what answers from it besides.
    #[must_use]
    pub fn releases(&self) -> watch::Receiver<Option<Arc<Release>>> {
        self.0.released.subscribe()
    }

    /// True where a newer release than the one that is served may be current, since the last look for one failed.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.0.stale.load(Ordering::Relaxed)
    }

    /// Says from now on that it is not ready, so that proxies ask another server. It answers as before.
    pub fn leave(&self) {
        self.0.leaving.begin();
    }

    /// Answers from the release as it is now, at once. Unlike [`QueryServer::served`] it counts no holder, on a line of
    /// memory that every thread writes to: for what takes little longer than that.
    pub(crate) fn at_once<T>(
        &self,
        answer: impl FnOnce(&ReleaseView) -> Result<T, OperationError>,
    ) -> Result<T, OperationError> {
        match self.0.served.load().as_deref() {
            Some(served) => answer(served),
            None => Err(OperationError::NotReady),
        }
    }

    /// The release that this request is answered from, whole.
    pub(crate) fn served(&self) -> Result<Arc<ReleaseView>, OperationError> {
        self.0.served.load_full().ok_or(OperationError::NotReady)
    }
}
