use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::row::{JobRow, enrol};
use crate::database::{State, values};
use crate::error::StateError;

impl State {
    /// Pauses a job. The schedule starts no runs until [`State::resume_job`]. A current run continues. Returns `false`
    /// if the job is paused already.
    #[boxed]
    pub async fn pause_job(&self, name: &str, by: &str, now: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET paused_at = $3, paused_by = $2, revision = revision + 1 \
                   WHERE name = $1 AND paused_at IS NULL";
        self.marked(sql, name, by, now).await
    }

    /// Resumes a paused job. Runs that were due during the pause are skipped. Returns `false` if the job was not
    /// paused.
    #[boxed]
    pub async fn resume_job(&self, name: &str, now: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET paused_at = NULL, paused_by = NULL, retry_at = NULL, revision = revision + 1, \
                   accounted_to = CASE WHEN accounted_to < $2 THEN $2 ELSE accounted_to END \
                   WHERE name = $1 AND paused_at IS NOT NULL";
        self.changed(sql, values![name, now]).await
    }

    /// Requests a run of a job as soon as possible, even if the job is paused. Returns `false` if a run was already
    /// requested.
    #[boxed]
    pub async fn trigger_job(&self, name: &str, by: &str, now: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET triggered_at = $3, triggered_by = $2, revision = revision + 1 \
                   WHERE name = $1 AND triggered_at IS NULL";
        self.marked(sql, name, by, now).await
    }

    /// Makes the schedule of a job count from `to` on, if `row` is still the current state of the job. A clock that was
    /// far ahead may have marked the schedule as done.
    #[boxed]
    pub async fn rewind_job(&self, row: &JobRow, to: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET accounted_to = $3, revision = revision + 1 WHERE name = $1 AND revision = $2";
        let values = values![&row.name, row.revision, to];
        self.changed(sql, values).await
    }

    async fn marked(&self, sql: &'static str, name: &str, by: &str, now: Timestamp) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        enrol(&mut writing, name, now).await?;
        let values = values![name, by, now];
        let changed = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(changed == 1)
    }
}
