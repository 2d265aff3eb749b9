//! SQL for analysts, over the wire: one statement that only reads, answered within bounds.
//!
//! In: tables in a DataFusion session (a release's, or the lake's at a moment), and statements from `POST /v1/sql` or Arrow
//! Flight SQL. Out: rows as an Arrow stream, JSON or CSV, or an error that says what to change. Statements run in workers:
//! processes of the same program with the lowest priority, each with its part of the memory and of the room on disk, which the
//! server ends when time or caller are gone, and the system when they ask for more; so that no statement slows whatever
//! else the server answers. Programs that embed the crate may have workers within.
//! It never writes, never changes a setting, opens no file and no address that a statement names, and knows neither lake
//! nor release.

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
