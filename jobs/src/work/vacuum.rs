use pipeline_release::vacuum_lake;

use crate::end::{JobFailure, JobReport};
use crate::market::Market;

/// Removes lake files that are outside of the retention period and that no kept release needs, as `haat lake vacuum`
/// does.
pub(super) async fn run(market: &Market) -> Result<JobReport, JobFailure> {
    let lake = market.lake().await?;
    let vacuumed = vacuum_lake(&lake, &market.releases(), market.lake_retention, false).await?;
    let done = JobReport::done()
        .count("files", vacuumed.report.files.len() as u64)
        .count("bytes", vacuumed.report.bytes)
        .count("log_files", vacuumed.report.log_files as u64);
    Ok(match vacuumed.unreadable.first() {
        Some(first) => done.partial(format!("{first}; the files of the lake that it needs are unknown")),
        None => done,
    })
}
