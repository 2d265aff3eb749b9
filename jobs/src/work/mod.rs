//! The work of each job: one file per job. A job that is added has a name in [`crate::JobName`], a schedule in
//! [`crate::JobsConfig`], a file here, and a line in [`works`].

mod build_release;
mod check_quality;
mod collect_garbage;
mod compact;
mod probe_delivery;
mod refresh_catalogue;
mod refresh_reviews;
mod refresh_shipping;
mod vacuum;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use data_model::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::end::{JobFailure, JobReport};
use crate::market::Market;
use crate::name::JobName;

/// One run, as its job sees it.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Cancelled when the job is to stop: it finishes what is under way, and leaves the rest to its next run.
    pub cancel: CancellationToken,
    /// The moment that it stands for.
    pub scheduled_at: Timestamp,
}

/// The work of a job. A run may be cut short at any moment and begun again: doing a thing twice is doing it once.
#[async_trait]
pub trait Work: Send + Sync + fmt::Debug {
    /// The job's name.
    fn name(&self) -> JobName;

    /// Does it.
    async fn run(&self, turn: Turn) -> Result<JobReport, JobFailure>;
}

/// All jobs of a market.
#[must_use]
pub fn works(market: &Arc<Market>) -> Vec<Arc<dyn Work>> {
    let market = || Arc::clone(market);
    vec![
        Arc::new(refresh_catalogue::RefreshCatalogue(market())),
        Arc::new(refresh_shipping::RefreshShipping(market())),
        Arc::new(refresh_reviews::RefreshReviews(market())),
        Arc::new(build_release::BuildRelease(market())),
        Arc::new(compact::Compact(market())),
        Arc::new(vacuum::Vacuum(market())),
        Arc::new(collect_garbage::CollectGarbage(market())),
        Arc::new(check_quality::CheckQuality(market())),
        Arc::new(probe_delivery::ProbeDelivery(market())),
    ]
}
