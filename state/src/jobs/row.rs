use async_recursion::async_recursion as boxed;
use data_model::Timestamp;
use serde::Serialize;

use crate::database::{State, Value, WriteTransaction};
use crate::error::StateError;

/// A job as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Its name.
    pub name: String,
    /// Counted up with every decision about the job.
    pub revision: i64,
    /// Every moment of the schedule up to this one was run, or is covered by a run that stands for it.
    pub accounted_to: Timestamp,
    /// The number of the last run; 0 where there was none.
    pub last_run: i64,
    /// Tries of what the last run is about.
    pub attempt: u32,
    /// The moment at which it is to be tried again.
    pub retry_at: Option<Timestamp>,
    /// The last run is at work, or not.
    pub work: JobWork,
    /// Since when, and by whom, the job rests.
    pub paused: Option<JobMark>,
    /// Since when, and for whom, a run is asked for.
    pub triggered: Option<JobMark>,
    /// The end of the last run that did its work.
    pub good_at: Option<Timestamp>,
}

/// The worker of the last run, who is at work or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobWork {
    /// The job has no worker.
    Idle,
    /// Somebody is, who counts this up while they live.
    Held {
        /// The count.
        beat: i64,
    },
    /// Whoever was is known to be gone, and left the run unfinished.
    Abandoned {
        /// The last count.
        beat: i64,
    },
}

/// Somebody's request, with its moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobMark {
    /// Its moment.
    pub at: Timestamp,
    /// The one who made it: a machine and a program, for people to read.
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

/// The columns of [`Row`].
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

/// Writes a job down that was never seen.
pub(super) async fn enrol(writing: &mut WriteTransaction, name: &str, now: Timestamp) -> Result<(), StateError> {
    let sql = "INSERT INTO jobs (name, revision, accounted_to, last_run, attempt, running, beat) \
               VALUES ($1, 1, $2, 0, 0, 0, 0) ON CONFLICT DO NOTHING";
    let values = vec![Value::text(name), Value::integer(now.micros())];
    writing.execute(sql, values).await.map(|_| ())
}

impl State {
    /// Every job that was ever seen, by name.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn jobs(&self) -> Result<Vec<JobRow>, StateError> {
        let rows: Vec<Row> = self.rows(select!("ORDER BY name"), vec![]).await?;
        rows.into_iter().map(read).collect()
    }

    /// The job of this name. One that was never seen is written down first: its schedule counts from `now` on.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn job(&self, name: &str, now: Timestamp) -> Result<JobRow, StateError> {
        let find = || self.rows(select!("WHERE name = $1"), vec![Value::text(name)]);
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
