use data_release::GcOptions;

use crate::end::{JobFailure, JobReport};
use crate::market::Market;

/// Removes old releases, cached files that no remaining release needs, and remains of builds, as `haat release gc`
/// does.
pub(super) async fn run(market: &Market) -> Result<JobReport, JobFailure> {
    let releases = market.releases();
    // Without a current release, the collection would fail, because it checks that the current release can be read.
    let current = releases.current().await?;
    if current.is_none() {
        return Ok(JobReport::done().count("releases", 0));
    }
    let options = GcOptions {
        keep_last: market.releases_kept,
        min_age: market.gc_min_age,
        drop_damaged: false,
        dry_run: false,
    };
    let collected =
        pipeline_release::collect_garbage(&releases, &options, &market.cache_dir, &market.build_dir).await?;
    let report = &collected.report;
    let done = JobReport::done()
        .count("releases", report.releases.len() as u64)
        .count("files", report.files)
        .count("bytes", report.bytes)
        .count("cache_bytes", collected.cache_bytes);
    Ok(match report.unreadable.first() {
        Some(first) => done.partial(format!("{first}; files that it may need were kept")),
        None => done,
    })
}
