use std::sync::Arc;

use async_trait::async_trait;
use pipeline_probe::{ProbeDeps, ProbeOutcome, probe};

use super::{Turn, Work};
use crate::end::{JobFailure, JobOutcome, JobReport};
use crate::market::Market;
use crate::name::JobName;

/// Asks stores what delivery costs, as far as each one's budget of the day goes: as `haat delivery probe` does.
#[derive(Debug)]
pub(super) struct ProbeDelivery(pub(super) Arc<Market>);

#[async_trait]
impl Work for ProbeDelivery {
    fn name(&self) -> JobName {
        JobName::ProbeDelivery
    }

    async fn run(&self, turn: Turn) -> Result<JobReport, JobFailure> {
        let deps = ProbeDeps {
            lake: self.0.lake().await?,
            storefront: self.0.storefront.clone(),
            clock: Arc::clone(&self.0.clock),
            rights: self.0.rights.clone(),
        };
        let report = Box::pin(probe(&deps, &self.0.delivery.options(), &turn.cancel)).await;
        let report = report.map_err(|error| JobFailure::of(&error))?;
        let (failed, skipped) = (report.count(ProbeOutcome::Failed), report.count(ProbeOutcome::Skipped));
        let done = JobReport::done([
            ("brands", report.brands.len() as u64),
            ("asked", report.asked() as u64),
            ("complete", report.count(ProbeOutcome::Complete) as u64),
            ("failed", failed as u64),
            ("skipped", skipped as u64),
        ]);
        if turn.cancel.is_cancelled() {
            return Ok(JobReport {
                ended: JobOutcome::Stopped,
                ..done
            });
        }
        Ok(match failed + skipped {
            0 => done,
            _ => done.partial(format!(
                "{failed} stores could not be asked, {skipped} are left to those who ask them now"
            )),
        })
    }
}
