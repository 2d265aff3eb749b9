//! Runs the jobs that keep the catalogue fresh: decides when they are due, runs them, and records each run.
//!
//! Input: schedules (cron expressions in the market's time zone), the state database, and the operations of the
//! pipeline. Output: at each scheduled time, exactly one of the processes runs the job. One run may replace several
//! missed runs. A ledger contains the runs with their outcomes and counts.
//!
//! - [`Schedule`], [`decide`], [`Watch`], [`cadence`]: pure functions that compute when a job is due, if its process is
//!   dead, the next action, and how often a brand is queried.
//! - [`Scheduler`]: I/O of the decisions. Reads the state, decides, starts runs, sends heartbeats for them, and ends
//!   them.
//! - [`QueueWorker`]: takes stores from the queue in the state, with one lease per store. Commits the stores that all
//!   workers stage, unless another worker is the committer.
//! - `work/`: one file per job. Each job is idempotent and calls the same operation as the command line.
//!
//! This crate does not decide how a store is queried or what a release contains. The crate reads the time only from
//! [`data_model::Clock`], and never starts a job that another process is running.

pub mod cadence;
mod config;
mod decide;
mod end;
mod market;
mod metrics;
mod monotonic_clock;
mod name;
mod ops;
mod queue;
mod schedule;
mod scheduler;
mod watch;
mod work;

pub use cadence::CadenceConfig;
pub use config::{JobConfig, JobsConfig, JobsConfigError};
pub use decide::{Decision, Policy, decide};
pub use end::{Counts, JobFailure, JobOutcome, JobReport};
pub use market::Market;
pub use monotonic_clock::{Clocks, MonotonicClock, ProcessTime};
pub use name::{JobName, UnknownJob};
pub use ops::{Readiness, ops_router};
pub use queue::{
    EnqueueError, EnqueueRequest, EnqueuedRun, QueueConfig, QueueConfigError, QueueDeps, QueueWorker, StoreLeases,
    WorkerReport, enqueue_run,
};
pub use schedule::{DueRun, Schedule, ScheduleError};
pub use scheduler::{Scheduler, SchedulerDeps, TriggerOutcome};
pub use watch::{BEAT_EVERY, DEAD_AFTER, Watch};
pub use work::{Turn, Work, works};
