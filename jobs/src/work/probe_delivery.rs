use pipeline_probe::{ProbeOutcome, probe};

use super::Turn;
use crate::end::{JobFailure, JobReport};
use crate::market::Market;

/// Queries stores for delivery costs, within each store's daily budget, as `haat delivery probe` does.
pub(super) async fn run(market: &Market, turn: Turn) -> Result<JobReport, JobFailure> {
    let deps = market.store_deps(turn.cancel).await?;
    let report = probe(&deps, &market.delivery.options()).await?;
    let (failed, skipped) = (report.count(ProbeOutcome::Failed), report.count(ProbeOutcome::Skipped));
    let done = JobReport::done()
        .count("brands", report.brands.len() as u64)
        .count("asked", report.asked() as u64)
        .count("complete", report.count(ProbeOutcome::Complete) as u64)
        .count("failed", failed as u64)
        .count("skipped", skipped as u64);
    let left =
        format!("{failed} stores could not be asked; {skipped} were skipped because another process is asking them");
    Ok(done.of_stores(deps.cancel.is_cancelled(), (failed + skipped) as u64, left))
}
