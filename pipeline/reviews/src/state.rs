//! Saves each store's known review app, and how far its reviews were read.

use std::collections::BTreeSet;

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, StorageError};
use pipeline_crawl::{load_packed, packed_at, save_packed};
use pipeline_widgets::{Next, WidgetKey};
use serde::{Deserialize, Serialize};

const NAME: &str = "widget";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StoreState {
    /// Review app that the store uses.
    pub(crate) widget: Option<WidgetKey>,
    /// Time at which the store's pages were last checked for its app.
    pub(crate) looked_at: Option<Timestamp>,
    /// Number of consecutive checks that did not find the known app.
    pub(crate) missed: u32,
    /// Time at which the app was last requested for this store.
    pub(crate) asked_at: Option<Timestamp>,
    /// Time at which the review list was last read to its end.
    pub(crate) swept_at: Option<Timestamp>,
    /// Validator of the app's first answer, which is set only while everything is consistent.
    pub(crate) etag: Option<String>,
    /// Count of the app when everything was last consistent.
    pub(crate) known: Option<KnownCount>,
    /// Reviews that the app counts but the lake does not store, because their product is not listed or they were
    /// refused.
    pub(crate) aside: BTreeSet<String>,
    /// A reading of the list that has not reached its end.
    pub(crate) walk: Option<Walk>,
    /// The app's count and the number of reviews seen, if the last reading saw fewer than the count.
    pub(crate) short: Option<(u64, u64)>,
    /// Number of reviews that the last reading would have removed, if it was too large to trust a single reading.
    pub(crate) steep: Option<u64>,
    pub(crate) pending: BTreeSet<u64>,
    /// Product whose ratings were requested last. The next run continues after it.
    pub(crate) rated_to: Option<u64>,
    /// Start of the last complete reading of the whole list. The answers landed since then contain all reviews.
    pub(crate) whole_since: Option<Timestamp>,
}

/// Count of an app, and the number of reviews stored at that time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct KnownCount {
    /// Number of reviews by the app's count. `None` if the app states none.
    pub(crate) total: Option<u64>,
    /// Sum of the reviews' stars, if the app states it.
    pub(crate) stars: Option<f64>,
    /// Number of reviews in the lake at that time.
    pub(crate) kept: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Walk {
    pub(crate) next: Next,
    /// Reviews seen on the previous pages.
    pub(crate) seen: BTreeSet<String>,
    /// True if the list is read to its end, even if all reviews are known.
    pub(crate) sweeps: bool,
    /// Count that the app stated with the last page.
    #[serde(default)]
    pub(crate) counted: Option<u64>,
    /// True if the app's count fell during the reading. Pages have shifted, and a review may have moved to a page that
    /// was already read.
    #[serde(default)]
    pub(crate) has_shrunk: bool,
    #[serde(default)]
    pub(crate) began_at: Option<Timestamp>,
}

impl Walk {
    pub(crate) fn new(sweeps: bool) -> Self {
        Self {
            next: Next::Page(1),
            seen: BTreeSet::new(),
            sweeps,
            counted: None,
            has_shrunk: false,
            began_at: None,
        }
    }

    /// The start of a landed reading without a page is unknown.
    pub(crate) fn has_begun(&self) -> bool {
        !self.seen.is_empty() || self.next != Next::Page(1)
    }

    pub(crate) fn is_all(&self) -> bool {
        self.counted.is_some_and(|counted| self.seen.len() as u64 >= counted)
    }
}

/// Returns an empty state if the state is missing or unreadable, because the app can be read again.
pub(crate) async fn load(storage: &Storage, store: &StoreHost) -> Result<StoreState, StorageError> {
    Ok(load_packed(storage, &packed_at(store, NAME)).await?.unwrap_or_default())
}

/// The state may be saved only after the lake has the reviews.
pub(crate) async fn save(storage: &Storage, store: &StoreHost, state: &StoreState) -> Result<(), StorageError> {
    save_packed(storage, &packed_at(store, NAME), state).await
}
