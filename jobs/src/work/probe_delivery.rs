use std::sync::Arc;

use async_trait::async_trait;
use pipeline_probe::{ProbeOutcome, probe};

use super::{Turn, Work};
use crate::end::{JobFailure, JobReport};
use crate::market::Market;
use crate::name::JobName;

/// Queries stores for delivery costs, within each store's daily budget, as `haat delivery probe` does.
#[derive(Debug)]
pub(super) struct ProbeDelivery(pub(super) Arc<Market>);

#[async_trait]
impl Work for ProbeDelivery {
    fn name(&self) -> JobName {
        JobName::ProbeDelivery
    }

    async fn run(&self, turn: Turn) -> Result<JobReport, JobFailure> {
        let deps = self.0.store_deps(turn.cancel).await?;
        let report = probe(&deps, &self.0.delivery.options()).await;
        let report = report.map_err(|error| JobFailure::of(&error))?;
        let (failed, skipped) = (report.count(ProbeOutcome::Failed), report.count(ProbeOutcome::Skipped));
        let done = JobReport::done()
            .count("brands", report.brands.len() as u64)
            .count("asked", report.asked() as u64)
            .count("complete", report.count(ProbeOutcome::Complete) as u64)
            .count("failed", failed as u64)
            .count("skipped", skipped as u64);
        let left = format!(
            "{failed} stores could not be asked; {skipped} were skipped because another process is asking them"
        );
        Ok(done.of_stores(deps.cancel.is_cancelled(), (failed + skipped) as u64, left))
    }
}
