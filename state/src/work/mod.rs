//! The queue of stores that are to be refreshed.
//!
//! A run puts stores into it; any number of workers take them, each under a lease that names one store, whatever run asked
//! for it: nobody else is given that store until the lease ends. A lease has a fence that rises with each taking. Whoever
//! was taken for gone and lives after all has a lower one, and can change nothing any more. What a worker finished is
//! staged; one committer, who holds a lease of its own, brings it to the lake and says so.
//!
//! Moments are the caller's. Clocks of machines that share a queue must agree to within a part of a lease.

mod enqueue;
mod fold;
mod lease;
mod letter;
mod rights;
mod row;
mod take;

pub use enqueue::{EnqueueOutcome, NewWorkRun, WorkStore};
pub use fold::StagedWork;
pub use lease::{WORK_LEASE_S_MAX, WorkLease};
pub use rights::StoreRight;
pub use row::{DeadLetter, WorkCounts, WorkItem, WorkRun, WorkState};
pub use take::TakenWork;

/// Most stores that a run may have, and that are put into the queue at once.
pub const WORK_STORES_MAX: usize = 100_000;
/// Most runs that are open at the same time.
pub const WORK_RUNS_MAX: u32 = 64;
/// Runs that are over and still listed.
const RUNS_KEPT: i64 = 200;
/// The name of the committer's lease. No store is called so: a host has a dot.
const COMMITTER: &str = "committer";
/// Longest reason that is kept, in characters.
const LETTER_CHARS_MAX: usize = 500;
