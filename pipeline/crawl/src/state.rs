//! The find of the last crawl that the lake has taken in: `crawl-state/{store}.json`. Written only after the commit; a state
//! that is ahead of the lake would make the next run believe that nothing is left to do.

use async_recursion::async_recursion as boxed;
use data_model::{StoreHost, Timestamp};
use data_storage::Storage;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::document::{load_document, save_document};
use crate::landing::{LandingError, StoreCrawl};

/// A crawl that the lake has taken in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrawlState {
    /// The content that the lake holds of the store since then, in the caller's words. Where the lake holds something else, it
    /// was changed by other means, and the crawl says nothing about it.
    pub taken_as: String,
    /// The number of products that the brand had before they became fewer or more, of the last days: losses add up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peaks: Vec<Peak>,
    /// The crawl.
    #[serde(flatten)]
    pub crawl: StoreCrawl,
}

/// The number of products that a brand had once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peak {
    /// The moment until which it had them.
    pub until: Timestamp,
    /// The number.
    pub products: u64,
}

/// The place of a store's state. Without it the next crawl reads everything.
#[must_use]
pub fn state_at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}.json")])
}

/// The last crawl of this store that the lake has; `None` if there is none, or one that cannot be understood (it is
/// only a way to save work).
///
/// # Errors
/// [`LandingError`].
#[boxed]
pub async fn load_state(storage: &Storage, store: &StoreHost) -> Result<Option<CrawlState>, LandingError> {
    let state: Option<CrawlState> = load_document(storage, &state_at(store)).await?;
    Ok(state.filter(|state| state.crawl.store == *store))
}

/// Remembers that the lake has taken this crawl in.
///
/// # Errors
/// [`LandingError`].
#[boxed]
pub async fn save_state(storage: &Storage, state: &CrawlState) -> Result<(), LandingError> {
    Ok(save_document(storage, &state_at(&state.crawl.store), state).await?)
}
