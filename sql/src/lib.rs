//! SQL for analysts, over the wire: one statement that only reads, answered within bounds.
//!
//! In: tables in a DataFusion session (a release's, or the lake's at a moment), and statements from `POST /v1/sql` or Arrow
//! Flight SQL. Out: rows as an Arrow stream, JSON or CSV, or an error that says what to change. Every statement runs on
//! threads of this crate's own with the lowest priority, within one bound of memory for all statements, one of files on
//! disk, and bounds of time and rows for each; so that no statement slows whatever else the process answers.
//! It never writes, never changes a setting, opens no file and no address that a statement names, and knows neither lake
//! nor release.

mod access;
mod bounds;
mod config;
mod dialect;
mod encode;
mod engine;
mod error;
#[cfg(feature = "flight")]
mod flight;
mod frame;
mod functions;
mod growth;
mod guard;
mod mode;
mod names;
mod planning;
mod rewrite;
mod routes;
mod size;
mod statement;
mod tables;
mod threads;
mod watch;
mod work;

pub use access::{AllowedKeys, InvalidKeys};
pub use bounds::{Bounds, StartError};
pub use config::{InvalidConfig, SqlConfig};
pub use engine::{Answer, Question, SqlEngine};
pub use error::SqlError;
pub use frame::frame;
#[cfg(feature = "flight")]
pub use routes::flight_router;
pub use routes::{Door, SqlAnswer, SqlBody, SqlColumn, SqlProvenance, open_router, openapi};
pub use tables::{Absent, FixedTables, Source, Tables};
