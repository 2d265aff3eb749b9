//! Jobs: what is due when, who runs it, and what every run did.
//!
//! A row has a revision that every decision about the job counts up. Whoever decides reads the row, decides, and writes
//! under the revision that was read: of several that decide at the same time, one is first and the others look again.
//! Whoever runs a job holds a [`crate::LeaseToken`] and counts `beat` up while it lives. No clock says whether a holder is
//! dead: others watch whether the count goes on.

mod change;
mod history;
mod row;
mod run;

pub use history::JobRun;
pub use row::{JobMark, JobRow, JobWork};
pub use run::{JobCause, JobRunEnd, JobRunOutcome, NewJobRun};
