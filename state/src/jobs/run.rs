use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use super::{JobRow, JobWork};
use crate::database::{State, Value};
use crate::error::StateError;
use crate::lease::LeaseToken;

/// The cause of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobCause {
    /// It is time.
    Schedule,
    /// It was time while nobody ran jobs: one run stands for all that were missed.
    CatchUp,
    /// The run before did not do its work.
    Retry,
    /// Somebody asked for it.
    Trigger,
}

impl JobCause {
    const ALL: [Self; 4] = [Self::Schedule, Self::CatchUp, Self::Retry, Self::Trigger];

    /// The cause in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::CatchUp => "catch_up",
            Self::Retry => "retry",
            Self::Trigger => "trigger",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == text)
    }
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobRunOutcome {
    /// It is at work.
    Running,
    /// All is done.
    Done,
    /// It did its work, and something in it needs somebody.
    Partial,
    /// It failed.
    Failed,
    /// It took too long and was ended.
    TimedOut,
    /// Whoever ran it was told to stop.
    Interrupted,
    /// Whoever ran it is gone.
    Lost,
}

impl JobRunOutcome {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Done,
        Self::Partial,
        Self::Failed,
        Self::TimedOut,
        Self::Interrupted,
        Self::Lost,
    ];

    /// The outcome in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::Lost => "lost",
        }
    }

    /// True where the work is done.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Done | Self::Partial)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }
}

/// A run that is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJobRun {
    /// The cause of the run.
    pub cause: JobCause,
    /// The moment of the schedule that it stands for; of a triggered run, when it was asked for.
    pub scheduled_at: Timestamp,
    /// Earlier moments of the schedule that it stands for too.
    pub missed: u32,
    /// Tries of it, with this one.
    pub attempt: u32,
    /// Up to where the schedule is accounted for with it.
    pub accounted_to: Timestamp,
    /// The worker that runs it: a machine and a process, for people to read.
    pub worker: String,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRunEnd {
    /// Its outcome.
    pub outcome: JobRunOutcome,
    /// Its work, in numbers.
    pub counts: BTreeMap<String, u64>,
    /// Things that need saying, in words.
    pub detail: Option<String>,
    /// The moment at which it is to be tried again.
    pub retry_at: Option<Timestamp>,
}

/// Runs of a job that are listed, the newest.
const RUNS_KEPT: i64 = 1_000;

impl State {
    /// Begins a run, if `row` is how the job stands still, and answers its number. Whoever asks then holds the job under
    /// `lease`; `None`: somebody else decided first.
    ///
    /// # Errors
    /// [`StateError`]. After [`StateError::Unavailable`] the run may have begun: it is then found as one of nobody.
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
        let values = vec![
            Value::text(&row.name),
            Value::integer(row.revision),
            Value::text(lease.text()),
            Value::integer(run.accounted_to.micros()),
            Value::integer(i64::from(run.attempt)),
        ];
        let Some((number,)): Option<(i64,)> = writing.row(sql, values).await? else {
            return Ok(None);
        };
        let sql = "INSERT INTO job_runs (job, number, cause, outcome, worker, scheduled_at, missed, attempt, started_at, counts) \
                   VALUES ($1, $2, $3, 'running', $4, $5, $6, $7, $8, '{}')";
        let values = vec![
            Value::text(&row.name),
            Value::integer(number),
            Value::text(run.cause.as_str()),
            Value::text(&run.worker),
            Value::integer(run.scheduled_at.micros()),
            Value::integer(i64::from(run.missed)),
            Value::integer(i64::from(run.attempt)),
            Value::integer(now.micros()),
        ];
        writing.execute(sql, values).await?;
        let sql = "DELETE FROM job_runs WHERE job = $1 AND number <= $2";
        let values = vec![Value::text(&row.name), Value::integer(number - RUNS_KEPT)];
        writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(Some(number))
    }

    /// Says that whoever runs a job lives. Answers `false` where the job is theirs no more: then they stop at once.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn beat_job(&self, name: &str, lease: &LeaseToken) -> Result<bool, StateError> {
        let sql = "UPDATE jobs SET beat = beat + 1 WHERE name = $1 AND lease = $2";
        self.changed(sql, vec![Value::text(name), Value::text(lease.text())])
            .await
    }

    /// Ends a run under its lease. Answers `false` where the job was taken for left by everybody meanwhile: then
    /// nothing is changed, and the run stays listed as lost.
    ///
    /// # Errors
    /// [`StateError`].
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
        let values = vec![
            Value::text(name),
            Value::integer(number),
            Value::text(lease.text()),
            Value::Integer(end.retry_at.map(Timestamp::micros)),
            Value::Integer(good_at),
        ];
        if writing.execute(sql, values).await? != 1 {
            return Ok(false);
        }
        let counts = serde_json::to_string(&end.counts).map_err(|_| StateError::Damaged { what: "count" })?;
        let sql = "UPDATE job_runs SET outcome = $3, ended_at = $4, counts = $5, detail = $6 \
                   WHERE job = $1 AND number = $2";
        let values = vec![
            Value::text(name),
            Value::integer(number),
            Value::text(end.outcome.as_str()),
            Value::integer(now.micros()),
            Value::text(counts),
            Value::Text(end.detail.clone()),
        ];
        writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(true)
    }

    /// Says that the run of a job is lost, if `row` is how the job stands still: whoever ran it has not counted since. The
    /// job is free then, and due again at `retry_at`. Answers `false` where the holder lives or somebody else was first.
    ///
    /// # Errors
    /// [`StateError`].
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
        let values = vec![
            Value::text(&row.name),
            Value::integer(row.revision),
            Value::integer(beat),
            Value::Integer(retry_at.map(Timestamp::micros)),
        ];
        if writing.execute(sql, values).await? != 1 {
            return Ok(false);
        }
        let sql = "UPDATE job_runs SET outcome = 'lost', ended_at = $3 WHERE job = $1 AND number = $2";
        let values = vec![
            Value::text(&row.name),
            Value::integer(row.last_run),
            Value::integer(now.micros()),
        ];
        writing.execute(sql, values).await?;
        writing.commit().await?;
        Ok(true)
    }
}
