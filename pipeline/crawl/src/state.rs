//! Last crawl of a store that is in the lake: `crawl-state/{store}.json`. The file is written only after the commit,
//! because a state newer than the lake would make the next run skip work.

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
    /// Fingerprint, defined by the caller, of the lake's data about the store after the crawl. If the fingerprint
    /// differs now, something else changed the lake's data, and the crawl state no longer describes it.
    pub taken_as: String,
    /// Product counts of the brand from before they changed, over the last days. The counts are kept because several
    /// losses add up.
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

/// Returns the path of a store's state. If the file is missing, the next crawl reads the whole catalogue.
#[must_use]
pub fn state_at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}.json")])
}

/// Loads the last crawl of this store that is in the lake. Returns `None` if there is none or if it cannot be parsed,
/// because it only saves work.
///
/// # Errors
/// [`LandingError`].
#[boxed]
pub async fn load_state(storage: &Storage, store: &StoreHost) -> Result<Option<CrawlState>, LandingError> {
    let state: Option<CrawlState> = load_document(storage, &state_at(store)).await?;
    Ok(state.filter(|state| state.crawl.store == *store))
}

/// Records that this crawl is in the lake.
///
/// # Errors
/// [`LandingError`].
#[boxed]
pub async fn save_state(storage: &Storage, state: &CrawlState) -> Result<(), LandingError> {
    Ok(save_document(storage, &state_at(&state.crawl.store), state).await?)
}
