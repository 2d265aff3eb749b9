//! Last crawl of a store that is in the lake: `crawl-state/{store}.json`. It is written only after the commit, because
//! a state newer than the lake would make the next run skip work.

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};
use data_storage::Storage;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::document::{load_document, save_document};
use crate::landing::{LandingError, StoreCrawl};

/// State of the last crawl that is in the lake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrawlState {
    /// Fingerprint, defined by the caller, of the lake's data about the store after the crawl. If it differs now,
    /// something else changed the data, and this state is obsolete.
    pub taken_as: String,
    /// Earlier product counts of the last days. They are kept because several losses add up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peaks: Vec<Peak>,
    /// Result of the crawl.
    #[serde(flatten)]
    pub crawl: StoreCrawl,
}

/// Earlier product count of a brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peak {
    /// Time until which the brand had this number of products.
    pub until: Timestamp,
    /// Number of products.
    pub products: u64,
}

/// Returns the path of a store's state. Without the file, the next crawl reads the whole catalogue.
#[must_use]
pub fn state_at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}.json")])
}

/// Returns `None` if this store has no state or it cannot be parsed, because it only saves work.
#[boxed]
pub async fn load_state(storage: &Storage, store: &StoreHost) -> Result<Option<CrawlState>, LandingError> {
    let state: Option<CrawlState> = load_document(storage, &state_at(store)).await?;
    Ok(state.filter(|state| state.crawl.store == *store))
}

/// Records that this crawl is in the lake.
#[boxed]
pub async fn save_state(storage: &Storage, state: &CrawlState) -> Result<(), LandingError> {
    Ok(save_document(storage, &state_at(&state.crawl.store), state).await?)
}
