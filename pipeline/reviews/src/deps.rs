use std::sync::Arc;

use data_lake::{Lake, LakeError};
use data_model::{BrandSlug, Clock, Timestamp};
use data_storage::{Storage, StorageError};
use pipeline_crawl::RegistryError;
use storefront::{StoreRights, Storefront};
use tokio_util::sync::CancellationToken;

use crate::config::Widgets;

/// The things that a refresh works with.
#[derive(Debug, Clone)]
pub struct ReviewsDeps {
    /// The home.
    pub storage: Storage,
    /// The lake.
    pub lake: Lake,
    /// The client of every store.
    pub storefront: Storefront,
    /// The client of review apps.
    pub widgets: Widgets,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The right to ask a store; `None`: nobody else asks. Apps are asked without it.
    pub rights: Option<Arc<dyn StoreRights>>,
    /// Ends the refresh after the requests that are under way.
    pub cancel: CancellationToken,
}

/// The brands that are to be refreshed.
#[derive(Debug, Clone, Default)]
pub struct ReviewsOptions {
    /// These brands, whenever they were read last; all that are due when `None`.
    pub only: Option<Vec<BrandSlug>>,
    /// Reads every list to its end, changed or not.
    pub sweep: bool,
    /// Days for which what apps answered stays landed; what the last whole reading of a list and those since said always stays.
    pub keep_days: u32,
    /// Asks and reads, and writes nothing.
    pub dry_run: bool,
}

/// The reason why a refresh could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RefreshReviewsError {
    /// The registry cannot be read.
    #[error("the registry cannot be read")]
    Registry(#[from] RegistryError),
    /// The lake cannot be read or written.
    #[error("the lake cannot be read or written")]
    Lake(#[from] LakeError),
    /// The reading cannot be noted.
    #[error("the state of readings cannot be read or written")]
    Storage(#[from] StorageError),
    /// A brand is not registered.
    #[error("no brand is registered as {0}")]
    Brand(BrandSlug),
}

/// True of a moment that is unknown or so long ago.
pub(crate) fn is_older(moment: Option<Timestamp>, now: Timestamp, after_s: u64) -> bool {
    let after_ms = i64::try_from(after_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    moment.is_none_or(|moment| moment.is_past_by(now, after_ms))
}
