//! Scheduled jobs: their due times, their workers and the results of their runs.
//!
//! Each job has a row with a revision, which every decision about the job increments. A process reads the row, decides,
//! and writes only if the revision is unchanged. If several processes decide at the same time, one succeeds and the
//! others read again. The process that runs a job holds a [`crate::LeaseToken`] and increments `beat` while it lives.
//! No clock decides that a holder is dead: other processes observe that `beat` no longer increases.

mod change;
mod history;
mod row;
mod run;

pub use history::JobRun;
pub use row::{JobMark, JobRow, JobWork};
pub use run::{JobCause, JobRunEnd, JobRunOutcome, NewJobRun};
