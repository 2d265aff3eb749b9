//! The home of all data: one object store under one root URL.
//!
//! In: a URL (`file:///dir`, `s3://bucket/prefix`, `memory:///`). Out: an [`ObjectStore`] whose paths are
//! relative to that root and whose put is durable when it is acknowledged, on local disk as on an object
//! store; and [`EventLog`], an append-only log of numbered JSON objects of which each number has one winner.
//! It never knows what the bytes mean, never reads the environment, and never deletes what it was not asked to.

mod confirmed;
mod conformance;
mod disk;
mod error;
mod event_log;
pub mod faulty;
mod local;
mod local_file;
mod open;
mod put;
mod upload;

pub use conformance::{ConformanceError, conformance, publish_race};
pub use error::StorageError;
pub use event_log::{EventFault, EventLog, FaultyObject};
pub use local::DurableLocal;
pub use object_store::path::Path as ObjectPath;
pub use object_store::{ObjectStore, ObjectStoreExt};
pub use open::{S3Options, Storage, StorageOptions, free_bytes};
pub use put::{get_bytes, keep_aside, keeps_conditions, put_new, put_over};
