use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

/// The current state of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Name of the job.
    pub name: String,
    /// Revision, which every decision about the job increments.
    pub revision: i64,
    /// All scheduled times up to this one were run, or are covered by a later run.
    pub accounted_to: Timestamp,
    /// Number of the last run, or 0 if there was none.
    pub last_run: i64,
    /// Number of attempts of the last run.
    pub attempt: u32,
    /// Time at which the last run is retried.
    pub retry_at: Option<Timestamp>,
    /// Worker status of the last run.
    pub work: JobWork,
    /// Time of the pause and who paused the job. `None` if it is not paused.
    pub paused: Option<JobMark>,
    /// Time of a requested run and who requested it. `None` if none was requested.
    pub triggered: Option<JobMark>,
    /// End of the last successful run.
    pub good_at: Option<Timestamp>,
}

/// The worker status of the last run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobWork {
    /// The job has no worker.
    Idle,
    /// A worker runs the job, and increments `beat` while it lives.
    Held {
        /// Heartbeat count.
        beat: i64,
    },
    /// The worker is dead, and the run is unfinished.
    Abandoned {
        /// Last heartbeat count.
        beat: i64,
    },
}

/// A person's or program's request, with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobMark {
    /// Time of the request.
    pub at: Timestamp,
    /// Readable name of the requester: a machine and a program.
    pub by: String,
}

type Row = (
    String,
    i64,
    i64,
    i64,
    i64,
    Option<i64>,
    i64,
    Option<String>,
    i64,
    Option<i64>,
    Option<String>,
    Option<i64>,
    Option<String>,
    Option<i64>,
);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT name, revision, accounted_to, last_run, attempt, retry_at, running, lease, beat, paused_at, paused_by, \
             triggered_at, triggered_by, good_at FROM jobs ",
            $rest
        )
    };
}

fn read(row: Row) -> Result<JobRow, StateError> {
    let (
        name,
        revision,
        accounted_to,
        last_run,
        attempt,
        retry_at,
        running,
        lease,
        beat,
        paused,
        by,
        asked,
        asker,
        good,
    ) = row;
    let mark = |at: Option<i64>, by: Option<String>| {
        at.map(|at| JobMark {
            at: Timestamp::from_micros(at),
            by: by.unwrap_or_default(),
        })
    };
    let work = match (running, lease) {
        (0, _) => JobWork::Idle,
        (_, Some(_)) => JobWork::Held { beat },
        (_, None) => JobWork::Abandoned { beat },
    };
    Ok(JobRow {
        name,
        revision,
        accounted_to: Timestamp::from_micros(accounted_to),
        last_run,
        attempt: u32::try_from(attempt).map_err(|_| StateError::Damaged { what: "job" })?,
        retry_at: retry_at.map(Timestamp::from_micros),
        work,
        paused: mark(paused, by),
        triggered: mark(asked, asker),
        good_at: good.map(Timestamp::from_micros),
    })
}

pub(super) async fn enrol(writing: &mut WriteTransaction, name: &str, now: Timestamp) -> Result<(), StateError> {
    let sql = "INSERT INTO jobs (name, revision, accounted_to, last_run, attempt, running, beat) \
               VALUES ($1, 1, $2, 0, 0, 0, 0) ON CONFLICT DO NOTHING";
    let values = values![name, now];
    writing.execute(sql, values).await.map(|_| ())
}

impl State {
    /// Returns every known job, sorted by name.
    #[boxed]
    pub async fn jobs(&self) -> Result<Vec<JobRow>, StateError> {
        let rows: Vec<Row> = self.rows(select!("ORDER BY name"), vec![]).await?;
        rows.into_iter().map(read).collect()
    }

    /// Returns the job with this name. An unknown job is created with a schedule that counts from `now` on.
    #[boxed]
    pub async fn job(&self, name: &str, now: Timestamp) -> Result<JobRow, StateError> {
        let find = || self.rows(select!("WHERE name = $1"), values![name]);
        let mut rows: Vec<Row> = find().await?;
        if rows.is_empty() {
            let mut writing = self.begin().await?;
            enrol(&mut writing, name, now).await?;
            writing.commit().await?;
            rows = find().await?;
        }
        let row = rows.into_iter().next();
        row.ok_or(StateError::Damaged { what: "job" }).and_then(read)
    }
}
