//! Workers that take stores from the queue in the state database, with a single committer among them.

mod committer;
mod config;
mod enqueue;
mod hold;
mod keeper;
mod rights;
mod run;
mod source;
mod store;
mod worker;

pub use config::{QueueConfig, QueueConfigError};
pub use enqueue::{EnqueueError, EnqueueRequest, EnqueuedRun, enqueue_run};
pub use rights::StoreLeases;
pub use run::WorkerReport;
pub use worker::{QueueDeps, QueueWorker};
