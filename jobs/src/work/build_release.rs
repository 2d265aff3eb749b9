use std::sync::Arc;

use pipeline_release::{BuildOutcome, NoProgress, ReleaseOutcome, UpkeepReport, make_release, tidy};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Turn;
use crate::end::{JobFailure, JobOutcome, JobReport};
use crate::market::Market;

/// Builds a release from the lake and publishes it if it differs from the current one, as `haat release build` does.
pub(super) async fn run(market: &Arc<Market>, turn: Turn) -> Result<JobReport, JobFailure> {
    let (market, runtime) = (Arc::clone(market), Handle::current());
    // On a separate thread, so that heartbeats continue during CPU-heavy builds. The build stops when `turn.cancel`
    // is cancelled, even if the caller has gone.
    let building = tokio::task::spawn_blocking(move || runtime.block_on(build(&market, &turn.cancel)));
    building
        .await
        .unwrap_or_else(|_| Err(JobFailure::new("the build crashed: see the log")))
}

async fn build(market: &Market, cancel: &CancellationToken) -> Result<JobReport, JobFailure> {
    let (lake, releases, options) = (market.lake().await?, market.releases(), market.release_options());
    let making = make_release(&lake, &releases, &options, Arc::new(NoProgress), market.clock.as_ref());
    // The future is boxed because it is large. A build can be dropped at any time before it is published.
    let Some(made) = cancel.run_until_cancelled(Box::pin(making)).await else {
        return Ok(JobReport {
            ended: JobOutcome::Stopped,
            ..JobReport::done()
        });
    };
    let built = made?;
    let published = built.report.outcome == ReleaseOutcome::Published;
    let (upkeep, cache, build) = (market.tidy_options(), &market.cache_dir, &market.build_dir);
    // The future is boxed because it is large. The next build continues upkeep that fails or is not finished.
    let tidying = Box::pin(tidy(&lake, &releases, &upkeep, published, cache, build));
    let tidied = match cancel.run_until_cancelled(tidying).await {
        Some(Ok(tidied)) => tidied,
        Some(Err(error)) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "maintenance is postponed to the next build");
            UpkeepReport::default()
        }
        None => UpkeepReport::default(),
    };
    Ok(told(&built, tidied))
}

fn told(built: &BuildOutcome, tidied: UpkeepReport) -> JobReport {
    let report = &built.report;
    let done = JobReport::done()
        .count("published", u64::from(report.outcome == ReleaseOutcome::Published))
        .count("products", report.counts.products)
        .count("brands", report.counts.brands)
        .count("brands_held", report.held.len() as u64)
        .count("products_indexed", report.products_indexed)
        .count("parts_built", report.parts_built as u64)
        .count("merges", tidied.merges as u64)
        .count("files_removed", tidied.files as u64)
        .count("releases_removed", tidied.releases as u64);
    let release = report.release;
    if let Some(first) = report.unreadable.first() {
        let file = first.files.first().map_or("its rows were dropped", String::as_str);
        return done.partial(format!(
            "release {release}: {} brands cannot be read, among them {} ({file})",
            report.unreadable.len(),
            first.brand
        ));
    }
    if let Some(first) = report.held.first() {
        return done.partial(format!(
            "release {release}: {} brands are held at earlier data, among them {} ({})",
            report.held.len(),
            first.slug,
            first.reasons.join("; ")
        ));
    }
    match report.outcome {
        ReleaseOutcome::Pinned => done.partial(format!("release {release} is pinned: nothing was published")),
        ReleaseOutcome::Lost => done.partial("another writer published first"),
        _ => match built.rolled_back {
            Some(back) => done.partial(format!("release {release} was published after {back} was rolled back")),
            None => JobReport {
                detail: Some(format!("release {release}")),
                ..done
            },
        },
    }
}
