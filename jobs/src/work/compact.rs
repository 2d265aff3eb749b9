use crate::end::{JobFailure, JobReport};
use crate::market::Market;

/// Merges small files of the lake, as `haat lake compact` does.
pub(super) async fn run(market: &Market) -> Result<JobReport, JobFailure> {
    let lake = market.lake().await?;
    let report = lake.compact(false).await?;
    let merged = &report.merged;
    Ok(JobReport::done()
        .count("merges", merged.len() as u64)
        .count("files", merged.iter().map(|merged| merged.files as u64).sum())
        .count("bytes", merged.iter().map(|merged| merged.bytes).sum()))
}
