use pipeline_reviews::{ReviewsOptions, refresh_reviews};

use super::Turn;
use crate::end::{JobFailure, JobReport};
use crate::market::Market;

/// Reads what stores' review apps publish, as `haat reviews refresh` does. The next run continues with the stores that
/// a run did not reach.
pub(super) async fn run(market: &Market, turn: Turn) -> Result<JobReport, JobFailure> {
    let deps = market.store_deps(turn.cancel).await?;
    let options = ReviewsOptions {
        keep_days: market.refresh.crawl.landing_keep_days,
        ..ReviewsOptions::default()
    };
    let report = refresh_reviews(&options, &deps, &market.widgets).await?;
    let count = |outcome| report.asked.iter().filter(|one| one.outcome == outcome).count() as u64;
    let (failed, skipped) = (count("failed"), count("skipped"));
    let done = JobReport::done()
        .count("brands", report.run.brands)
        .count("due", report.run.due)
        .count("changed", report.changed)
        .count("added", report.added)
        .count("edited", report.edited)
        .count("removed", report.removed)
        .count("failed", failed)
        .count("skipped", skipped)
        .count("requests", report.requests);
    let left = format!(
        "reviews of {failed} stores could not be read; {skipped} stores were skipped because another process is \
         asking them"
    );
    Ok(done.of_stores(report.run.interrupted, failed + skipped, left))
}
