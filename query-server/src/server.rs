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

/// Server that answers requests from the current release. Cloning is cheap.
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
    /// Channel that notifies other crates of the program of a new release.
    pub(crate) released: watch::Sender<Option<Arc<Release>>>,
    /// True if the last check for a newer release failed.
    pub(crate) stale: AtomicBool,
    /// Shows if the server is about to stop.
    pub(crate) leaving: api::DrainState,
    /// True after the server has logged that the remembered release in the cache cannot be served.
    pub(crate) remembered_failed: AtomicBool,
    /// Last known checks of the stores.
    pub(crate) checks: ArcSwap<Checks>,
    /// True if the last attempt to read the checks of stores failed.
    pub(crate) checks_unread: AtomicBool,
    /// Discount codes that were tested at stores.
    pub(crate) discounts: ArcSwap<KnownDiscounts>,
    /// True if the last attempt to read the discount codes failed.
    pub(crate) discounts_unread: AtomicBool,
}

impl QueryServer {
    /// Builds a server over the releases of `store`. `cache` has local copies of their files. The server has no release
    /// until [`QueryServer::refresh`] or [`QueryServer::follow`] has opened one.
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

    /// Returns a server that stays at the current release, for callers that need several answers from one release.
    /// Searches run on the caller's thread without a limit. Returns `None` before the first release.
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
            // A caller with low priority must not take search capacity from shoppers.
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

    /// Returns the id of the release being served.
    #[must_use]
    pub fn release(&self) -> Option<ReleaseId> {
        self.0.served.load().as_ref().map(|served| served.release.id())
    }

    /// Returns a channel with the current release, for other crates of the program.
    #[must_use]
    pub fn releases(&self) -> watch::Receiver<Option<Arc<Release>>> {
        self.0.released.subscribe()
    }

    /// Returns true if a newer release may exist, because the last check failed.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.0.stale.load(Ordering::Relaxed)
    }

    /// Reports the server as not ready from now on, so that proxies use another server. Requests are still handled.
    pub fn leave(&self) {
        self.0.leaving.begin();
    }

    /// Answers from the current release without counting a reference. Every thread writes to the counter of
    /// [`QueryServer::served`], which would slow down very short operations.
    pub(crate) fn at_once<T>(
        &self,
        answer: impl FnOnce(&ReleaseView) -> Result<T, OperationError>,
    ) -> Result<T, OperationError> {
        match self.0.served.load().as_deref() {
            Some(served) => answer(served),
            None => Err(OperationError::NotReady),
        }
    }

    /// Returns the release from which this request is answered.
    pub(crate) fn served(&self) -> Result<Arc<ReleaseView>, OperationError> {
        self.0.served.load_full().ok_or(OperationError::NotReady)
    }
}
