use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use super::{JobCause, JobRunOutcome};
use crate::database::{State, values};
use crate::error::StateError;

/// A run of a job, for lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobRun {
    /// Name of the job.
    pub job: String,
    /// Number of the run within the job.
    pub number: i64,
    /// The cause of the run.
    pub cause: JobCause,
    /// The outcome of the run.
    pub outcome: JobRunOutcome,
    /// Scheduled time of the run. A triggered run has the time of the request.
    pub scheduled_at: Timestamp,
    /// Number of earlier scheduled times that the run also covers.
    pub missed: u32,
    /// Number of attempts, including this one.
    pub attempt: u32,
    /// Start of the run.
    pub started_at: Timestamp,
    /// End of the run.
    pub ended_at: Option<Timestamp>,
    /// Name of the worker that ran the job.
    pub worker: String,
    /// Results of the run as numbers.
    pub counts: BTreeMap<String, u64>,
    /// Message for the operator about the run.
    pub detail: Option<String>,
}

type Row = (
    String,
    i64,
    String,
    String,
    String,
    i64,
    i64,
    i64,
    i64,
    Option<i64>,
    String,
    Option<String>,
);

fn read(row: Row) -> Result<JobRun, StateError> {
    const DAMAGED: StateError = StateError::Damaged { what: "run of a job" };
    let (job, number, cause, outcome, worker, scheduled_at, missed, attempt, started_at, ended_at, counts, detail) =
        row;
    Ok(JobRun {
        job,
        number,
        cause: JobCause::named(&cause).ok_or(DAMAGED)?,
        outcome: JobRunOutcome::named(&outcome).ok_or(DAMAGED)?,
        scheduled_at: Timestamp::from_micros(scheduled_at),
        missed: u32::try_from(missed).map_err(|_| DAMAGED)?,
        attempt: u32::try_from(attempt).map_err(|_| DAMAGED)?,
        started_at: Timestamp::from_micros(started_at),
        ended_at: ended_at.map(Timestamp::from_micros),
        worker,
        counts: serde_json::from_str(&counts).map_err(|_| DAMAGED)?,
        detail,
    })
}

impl State {
    /// Returns the newest runs of this job, or of all jobs, newest first.
    #[boxed]
    pub async fn job_runs(&self, job: Option<&str>, limit: u32) -> Result<Vec<JobRun>, StateError> {
        // A clock may be set back between two runs of a job, so that `started_at` does not order them.
        let sql = "SELECT job, number, cause, outcome, worker, scheduled_at, missed, attempt, started_at, ended_at, \
                   counts, detail FROM job_runs WHERE $1 = '' OR job = $1 \
                   ORDER BY CASE WHEN $1 = '' THEN started_at ELSE 0 END DESC, number DESC, job LIMIT $2";
        let values = values![job.unwrap_or_default(), limit];
        let rows: Vec<Row> = self.rows(sql, values).await?;
        rows.into_iter().map(read).collect()
    }

    /// Returns the last run of each job that has one, sorted by job name.
    #[boxed]
    pub async fn last_job_runs(&self) -> Result<Vec<JobRun>, StateError> {
        let sql = "SELECT runs.job, runs.number, runs.cause, runs.outcome, runs.worker, runs.scheduled_at, runs.missed, \
                   runs.attempt, runs.started_at, runs.ended_at, runs.counts, runs.detail \
                   FROM jobs JOIN job_runs runs ON runs.job = jobs.name AND runs.number = jobs.last_run \
                   ORDER BY runs.job";
        let rows: Vec<Row> = self.rows(sql, vec![]).await?;
        rows.into_iter().map(read).collect()
    }
}
