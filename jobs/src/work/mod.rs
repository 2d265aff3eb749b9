//! Work of each job, in one file per job. A new job needs a name in [`crate::JobName`], a schedule in
//! [`crate::JobsConfig`], a file here, and an entry in [`works`].

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

/// Context of one run, as passed to its job.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Cancelled when the job must stop: it finishes what is in progress and leaves the remaining work to its next run.
    pub cancel: CancellationToken,
    /// Scheduled time of the run.
    pub scheduled_at: Timestamp,
}

/// Work of a job. A job must be idempotent, because a run may be interrupted at any time and started again.
#[async_trait]
pub trait Work: Send + Sync + fmt::Debug {
    /// Returns the job's name.
    fn name(&self) -> JobName;

    /// Does the work of one run.
    async fn run(&self, turn: Turn) -> Result<JobReport, JobFailure>;
}

/// Returns the work of all jobs of a market.
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
