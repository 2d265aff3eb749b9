//! Work of each job, in one file per job. A new job needs a name in [`crate::JobName`], a schedule in
//! [`crate::JobsConfig`], a file here, and a case in `MarketWork`.

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
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::end::{JobFailure, JobReport};
use crate::market::Market;
use crate::name::JobName;

/// Context of one run, as passed to its job.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Token that is cancelled when the job must stop. The job finishes its current work and leaves the rest to its
    /// next run.
    pub cancel: CancellationToken,
    /// Scheduled time of the run.
    pub scheduled_at: Timestamp,
}

/// Work of a job. The work must be idempotent, because a run may be interrupted at any time and started again.
#[async_trait]
pub trait Work: Send + Sync + fmt::Debug {
    /// Returns the job's name.
    fn name(&self) -> JobName;

    /// Does the work of one run.
    async fn run(&self, turn: Turn) -> Result<JobReport, JobFailure>;
}

/// Work of a job of a market.
#[derive(Debug)]
struct MarketWork {
    name: JobName,
    market: Arc<Market>,
}

#[async_trait]
impl Work for MarketWork {
    fn name(&self) -> JobName {
        self.name
    }

    async fn run(&self, turn: Turn) -> Result<JobReport, JobFailure> {
        let market = &self.market;
        let run: BoxFuture<'_, _> = match self.name {
            JobName::RefreshCatalogue => Box::pin(refresh_catalogue::run(market, turn)),
            JobName::RefreshShipping => Box::pin(refresh_shipping::run(market, turn)),
            JobName::RefreshReviews => Box::pin(refresh_reviews::run(market, turn)),
            JobName::BuildRelease => Box::pin(build_release::run(market, turn)),
            JobName::Compact => Box::pin(compact::run(market)),
            JobName::Vacuum => Box::pin(vacuum::run(market)),
            JobName::CollectGarbage => Box::pin(collect_garbage::run(market)),
            JobName::CheckQuality => Box::pin(check_quality::run(market)),
            JobName::ProbeDelivery => Box::pin(probe_delivery::run(market, turn)),
        };
        run.await
    }
}

/// Returns the work of all jobs of a market.
#[must_use]
pub fn works(market: &Arc<Market>) -> Vec<Arc<dyn Work>> {
    let work = |name| MarketWork {
        name,
        market: Arc::clone(market),
    };
    JobName::ALL.map(|name| Arc::new(work(name)) as Arc<dyn Work>).into()
}
