use std::sync::Arc;

use async_trait::async_trait;

use super::{Turn, Work};
use crate::end::{JobFailure, JobReport};
use crate::market::Market;
use crate::name::JobName;

/// Merges small files of the lake, as `haat lake compact` does.
#[derive(Debug)]
pub(super) struct Compact(pub(super) Arc<Market>);

#[async_trait]
impl Work for Compact {
    fn name(&self) -> JobName {
        JobName::Compact
    }

    async fn run(&self, _turn: Turn) -> Result<JobReport, JobFailure> {
        let lake = self.0.lake().await?;
        let report = lake.compact(false).await.map_err(|error| JobFailure::of(&error))?;
        let merged = &report.merged;
        Ok(JobReport::done()
            .count("merges", merged.len() as u64)
            .count("files", merged.iter().map(|merged| merged.files as u64).sum())
            .count("bytes", merged.iter().map(|merged| merged.bytes).sum()))
    }
}
