use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use super::{JobRow, JobWork};
use crate::database::{State, values};
use crate::error::StateError;
use crate::lease::LeaseToken;

data_model::named! {
    /// The cause of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum JobCause {
        /// The scheduled time has come.
        Schedule = "schedule",
        /// Scheduled times passed while no process ran jobs: one run covers all that were missed.
        CatchUp = "catch_up",
        /// The previous run was not successful.
        Retry = "retry",
        /// Somebody requested the run.
        Trigger = "trigger",
    }
}

data_model::named! {
    /// The outcome of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum JobRunOutcome {
        /// The run is in progress.
        Running = "running",
        /// The run is complete.
        Done = "done",
        /// The run did its work, but something in it needs the operator.
        Partial = "partial",
        /// The run failed.
        Failed = "failed",
        /// The run exceeded its time limit and was ended.
        TimedOut = "timed_out",
        /// The worker received a stop signal.
        Interrupted = "interrupted",
        /// The worker is gone.
        Lost = "lost",
    }
}

impl JobRunOutcome {
    /// Returns true if the run did its work.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Done | Self::Partial)
    }
}

/// A run that is about to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJobRun {
    /// The cause of the run.
    pub cause: JobCause,
    /// Scheduled time of the run. A triggered run has the time of the request.
    pub scheduled_at: Timestamp,
    /// Number of earlier scheduled times that the run also covers.
    pub missed: u32,
    /// Number of attempts, including this one.
    pub attempt: u32,
    /// Time up to which the schedule is covered, including this run.
    pub accounted_to: Timestamp,
    /// Readable name of the worker: a machine and a process.
    pub worker: String,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRunEnd {
    /// The outcome of the run.
    pub outcome: JobRunOutcome,
    /// Results of the run as numbers.
    pub counts: BTreeMap<String, u64>,
    /// Message for the operator about the run.
    pub detail: Option<String>,
    /// Time at which the run is retried.
    pub retry_at: Option<Timestamp>,
}

/// Number of runs to keep per job.
const RUNS_KEPT: i64 = 1_000;

impl State {
    /// Starts a run if `row` is still the current state of the job, and returns the run's number. The caller then holds
    /// the job under `lease`. Returns `None` if another process decided first.
    ///
    /// # Errors
    /// [`StateError`]. After [`StateError::Unavailable`] the run may have started, and then counts as one without a
    /// worker.
    #[boxed]
    pub async fn begin_job(
        &self,
        row: &JobRow,
        run: &NewJobRun,
        lease: &LeaseToken,
        now: Timestamp,
    ) -> Result<Option<i64>, StateError> {
        let mut writing = self.begin().await?;
        let sql = "UPDATE jobs SET revision = revision + 1, accounted_to = $4, last_run = last_run + 1, attempt = $5, \
                   retry_at = NULL, running = 1, lease = $3, beat = beat + 1, triggered_at = NULL, triggered_by = NULL \
                   WHERE name = $1 AND revision = $2 AND running = 0 RETURNING last_run";
        let values = values![&row.name, row.revision, lease.text(), run.accounted_to, run.attempt];
        let Some((number,)): Option<(i64,)> = writing.row(sql, values).await? else {
            return Ok(None);
        };
        let sql = "INSERT INTO job_runs (job, number, cause, outcome, worker, scheduled_at, missed, attempt, started_at, counts) \
                   VALUES ($1, $2, $3, 'running', $4, $5, $6, $7, $8, '{}')";
        let values = values![
            &row.name,
            number,
            run.cause.as_str(),
            &run.worker,
            run.scheduled_at,
            run.missed,
            run.attempt,
            now
        ];
        writing.execute(sql, values).await?;
        let sql = "DELETE FROM job_runs WHERE job = $1 AND number <= $2";
        let values = values![&row.name, number - RUNS_KEPT];
        writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(Some(number))
    }

    /// Increments the heartbeat of a job. Returns `false` if the caller no longer has the job and must stop now.
    #[boxed]
    pub async fn beat_job(&self, name: &str, lease: &LeaseToken) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET beat = beat + 1 WHERE name = $1 AND lease = $2";
        self.changed(sql, values![name, lease.text()]).await
    }

    /// Ends a run under its lease. Returns `false` and changes nothing if the run was declared lost meanwhile.
    #[boxed]
    pub async fn end_job(
        &self,
        name: &str,
        number: i64,
        lease: &LeaseToken,
        end: &JobRunEnd,
        now: Timestamp,
    ) -> Result<bool, StateError> {
        let mut writing = self.begin().await?;
        let sql = "UPDATE jobs SET revision = revision + 1, running = 0, lease = NULL, retry_at = $4, \
                   good_at = COALESCE($5, good_at) WHERE name = $1 AND last_run = $2 AND lease = $3";
        let good_at = end.outcome.is_good().then(|| now.micros());
        let values = values![name, number, lease.text(), end.retry_at, good_at];
        if writing.execute(sql, values).await? != 1 {
            return Ok(false);
        }
        let counts = serde_json::to_string(&end.counts).map_err(|_| StateError::Damaged { what: "count" })?;
        let sql = "UPDATE job_runs SET outcome = $3, ended_at = $4, counts = $5, detail = $6 \
                   WHERE job = $1 AND number = $2";
        let values = values![name, number, end.outcome.as_str(), now, counts, end.detail.clone()];
        writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(true)
    }

    /// Declares the run of a job lost if the heartbeat did not change since `row` was read. The job becomes free, and
    /// due again at `retry_at`. Returns `false` if the worker lives or another process was first.
    #[boxed]
    pub async fn lose_job(
        &self,
        row: &JobRow,
        retry_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StateError> {
        let (JobWork::Held { beat } | JobWork::Abandoned { beat }) = row.work else {
            return Ok(false);
        };
        let mut writing = self.begin().await?;
        let sql = "UPDATE jobs SET revision = revision + 1, running = 0, lease = NULL, retry_at = $4 \
                   WHERE name = $1 AND revision = $2 AND beat = $3 AND running = 1";
        let values = values![&row.name, row.revision, beat, retry_at];
        if writing.execute(sql, values).await? != 1 {
            return Ok(false);
        }
        let sql = "UPDATE job_runs SET outcome = 'lost', ended_at = $3 WHERE job = $1 AND number = $2";
        let values = values![&row.name, row.last_run, now];
        writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(true)
    }
}
