//! Read-only SQL statements of analysts over the network, within limits of time, memory and answer size.
//!
//! Input: tables in a DataFusion session (of a release, or of the lake at a point in time), and statements from `POST
//! /v1/sql` or Arrow Flight SQL. Output: rows as an Arrow stream, JSON or CSV, or an error that explains what to change
//! in the statement. Statements run in workers. A worker is a process of the same program with the lowest priority and
//! its own share of memory and disk space. The server stops a worker when the time limit is exceeded or the caller has
//! disconnected. The operating system kills a worker that exceeds its limits. A statement therefore does not slow down
//! other requests. Programs that embed the crate may run workers inside their own process. The crate never writes data
//! or changes a setting, opens no files or addresses that a statement names, and does not depend on the lake or the
//! release.

mod access;
mod bounds;
mod config;
mod dialect;
mod door;
mod encode;
mod engine;
mod error;
#[cfg(feature = "flight")]
mod flight;
mod frame;
#[cfg(feature = "flight")]
mod ipc;
mod limits;
mod mode;
mod names;
mod rewrite;
mod routes;
mod statement;
mod tables;
mod watch;
mod wire;
mod work;
mod worker;
mod workers;

pub use access::{AllowedKeys, InvalidKeys};
pub use bounds::{Bounds, SourceError, StartError};
pub use config::{InvalidConfig, SqlConfig};
pub use door::Door;
pub use encode::{Chunks, Format};
pub use engine::{Question, SqlEngine};
pub use error::SqlError;
pub use frame::frame;
#[cfg(feature = "flight")]
pub use routes::flight_router;
pub use routes::{SqlAnswer, SqlBody, SqlColumn, SqlProvenance, open_router, openapi};
pub use tables::{Absent, FixedTables, Source, Tables};
pub use worker::WorkerLink;
pub use workers::{Workers, WorkersWithin, start_program};
