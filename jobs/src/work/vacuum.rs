use std::sync::Arc;

use async_trait::async_trait;
use pipeline_release::vacuum_lake;

use super::{Turn, Work};
use crate::end::{JobFailure, JobReport};
use crate::market::Market;
use crate::name::JobName;

/// Removes lake files that are outside of the retention period and that no kept release needs, as `haat lake vacuum`
/// does.
#[derive(Debug)]
pub(super) struct Vacuum(pub(super) Arc<Market>);

#[async_trait]
impl Work for Vacuum {
    fn name(&self) -> JobName {
        JobName::Vacuum
    }

    async fn run(&self, _turn: Turn) -> Result<JobReport, JobFailure> {
        let lake = self.0.lake().await?;
        let vacuumed = vacuum_lake(&lake, &self.0.releases(), self.0.lake_retention, false).await;
        let vacuumed = vacuumed.map_err(|error| JobFailure::of(&error))?;
        let done = JobReport::done()
            .count("files", vacuumed.report.files.len() as u64)
            .count("bytes", vacuumed.report.bytes)
            .count("log_files", vacuumed.report.log_files as u64);
        Ok(match vacuumed.unreadable.first() {
            Some(first) => done.partial(format!("{first}; the files of the lake that it needs are unknown")),
            None => done,
        })
    }
}
