use pipeline_shipping::{ShippingOptions, refresh_shipping};

use super::Turn;
use crate::end::{JobFailure, JobReport};
use crate::market::Market;

/// Age in seconds after which a store's terms are requested again. Terms rarely change.
const AFTER_S: u64 = 7 * 24 * 3600;

/// Queries stores for their shipping terms, as `haat shipping refresh` does. Stores that a run did not reach are due in
/// the next one.
pub(super) async fn run(market: &Market, turn: Turn) -> Result<JobReport, JobFailure> {
    let deps = market.store_deps(turn.cancel).await?;
    let options = ShippingOptions {
        after_s: AFTER_S,
        keep_days: market.refresh.crawl.landing_keep_days,
        ..ShippingOptions::default()
    };
    let report = refresh_shipping(&options, &deps, market.terms_model.as_deref()).await?;
    let count = |outcome| report.asked.iter().filter(|one| one.outcome == outcome).count() as u64;
    let (failed, skipped) = (count("failed"), count("skipped"));
    let done = JobReport::done()
        .count("brands", report.run.brands)
        .count("due", report.run.due)
        .count("changed", report.changed)
        .count("failed", failed)
        .count("skipped", skipped)
        .count("requests", report.requests);
    let left =
        format!("{failed} stores could not be asked; {skipped} were skipped because another process is asking them");
    Ok(done.of_stores(report.run.interrupted, failed + skipped, left))
}
