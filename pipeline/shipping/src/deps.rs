use std::sync::Arc;

use data_lake::Lake;
use data_model::{Clock, CurrencyCode};
use data_storage::Storage;
use pipeline_crawl::RegisteredBrand;
use storefront::{NotAsked, StoreError, StoreRights, Storefront};
use tokio_util::sync::CancellationToken;

use crate::model::TermsModel;

/// The things that a refresh works with.
#[derive(Debug, Clone)]
pub struct ShippingDeps {
    /// The home.
    pub storage: Storage,
    /// The lake.
    pub lake: Lake,
    /// The client of every store.
    pub storefront: Storefront,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The right to ask a store; `None`: nobody else asks.
    pub rights: Option<Arc<dyn StoreRights>>,
    /// The language model that reads what rules leave open.
    pub model: Option<Arc<TermsModel>>,
    /// Ends the refresh after the stores that are under way.
    pub cancel: CancellationToken,
}

/// A brand that is asked.
#[derive(Debug, Clone)]
pub(crate) struct DueBrand {
    pub(crate) brand: RegisteredBrand,
    pub(crate) currency: CurrencyCode,
}

/// The reason why a store did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NotAsked(#[from] NotAsked),
    #[error("a worker broke off")]
    Worker(#[from] tokio::task::JoinError),
}
