use async_recursion::async_recursion as boxed;
use data_model::Timestamp;

use super::row::{JobRow, enrol};
use crate::database::{State, Value};
use crate::error::StateError;

impl State {
    /// Lets a job rest: its schedule does not begin runs until [`State::resume_job`]. A run that is at work goes on.
    /// Answers `false` where it rests already.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn pause_job(&self, name: &str, by: &str, now: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET paused_at = $3, paused_by = $2, revision = revision + 1 \
                   WHERE name = $1 AND paused_at IS NULL";
        self.marked(sql, name, by, now).await
    }

    /// Ends a job's rest. What was due meanwhile is not caught up. Answers `false` where it did not rest.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn resume_job(&self, name: &str, now: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET paused_at = NULL, paused_by = NULL, retry_at = NULL, revision = revision + 1, \
                   accounted_to = CASE WHEN accounted_to < $2 THEN $2 ELSE accounted_to END \
                   WHERE name = $1 AND paused_at IS NOT NULL";
        self.changed(sql, vec![Value::text(name), Value::integer(now.micros())])
            .await
    }

    /// Asks whoever runs jobs for a run as soon as may be, whether the job rests or not. Answers `false` where one is
    /// asked for already.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn trigger_job(&self, name: &str, by: &str, now: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET triggered_at = $3, triggered_by = $2, revision = revision + 1 \
                   WHERE name = $1 AND triggered_at IS NULL";
        self.marked(sql, name, by, now).await
    }

    /// Says that the schedule of a job counts from `to` on, if `row` is how the job stands still. For a job whose moments
    /// were accounted for by a clock that was far ahead.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn rewind_job(&self, row: &JobRow, to: Timestamp) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET accounted_to = $3, revision = revision + 1 WHERE name = $1 AND revision = $2";
        let values = vec![
            Value::text(&row.name),
            Value::integer(row.revision),
            Value::integer(to.micros()),
        ];
        self.changed(sql, values).await
    }

    async fn marked(&self, sql: &'static str, name: &str, by: &str, now: Timestamp) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        enrol(&mut writing, name, now).await?;
        let values = vec![Value::text(name), Value::text(by), Value::integer(now.micros())];
        let changed = writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(changed == 1)
    }
}
