//! The queue of stores to refresh.
//!
//! A run puts stores into the queue, and any number of workers take them. A worker takes a store with a lease: no other
//! worker gets the store until the lease ends. Every new lease on a store has a higher fence. A worker that was wrongly
//! considered dead has a lower fence, and cannot make changes any more. The result of a finished worker is staged. A
//! single committer, with a separate lease, writes the result to the lake and marks it as committed.
//!
//! Times are passed by the caller. The clocks of machines that share a queue must agree to within a fraction of a
//! lease.

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

/// Maximum number of stores in a run and in one call.
pub const WORK_STORES_MAX: usize = 100_000;
/// Maximum number of open runs.
pub const WORK_RUNS_MAX: u32 = 64;
/// Number of ended runs to keep.
const RUNS_KEPT: i64 = 200;
/// Name of the committer's lease. A host contains a dot, so no store has this name.
const COMMITTER: &str = "committer";
/// Length limit of a stored failure reason.
const LETTER_CHARS_MAX: usize = 500;
