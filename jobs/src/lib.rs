//! Keeps the catalogue fresh by itself: what is due when, who runs it, and what every run did.
//!
//! In: schedules (cron expressions in the market's time zone), the state database, and operations of the pipeline. Out:
//! each moment of a schedule is run once by one of any number of processes, or is covered by one run that stands for
//! all that were missed; a ledger of runs with their outcomes and counts.
//!
//! - [`Schedule`], [`decide`], [`Watch`], [`cadence`]: pure. When something is due, what is to be done about a job as it
//!   stands, whether its holder is dead, how often a brand is to be asked.
//! - [`Scheduler`]: the rim. Reads the state, decides, begins runs, beats for them, ends them.
//! - [`QueueWorker`]: takes stores from the queue in the state, one right a store, and commits what all workers stage where
//!   nobody else does.
//! - `work/`: one file per job. Each is idempotent and calls the operation that the command line calls too.
//!
//! It never decides how a store is asked or what a release holds, never reads a clock but [`data_model::Clock`], and never
//! begins a job that somebody else is at work on.

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
