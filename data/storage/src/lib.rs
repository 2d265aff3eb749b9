//! Storage for all data: one object store under one root URL.
//!
//! Input: a URL (`file:///dir`, `s3://bucket/prefix` or `memory:///`). Output: an [`ObjectStore`] with paths relative
//! to that root, and [`EventLog`], an append-only log of numbered JSON objects. An acknowledged put is durable on local
//! disk as well as in an object store. Exactly one writer gets each number of the log.
//!
//! The crate does not interpret the stored bytes, does not read the environment, and deletes only the objects that
//! callers name.

mod confirmed;
mod disk;
mod error;
mod event_log;
mod local;
mod local_file;
mod open;
mod put;
mod upload;

pub use error::StorageError;
pub use event_log::{EventFault, EventLog, FaultyObject};
pub use local::DurableLocal;
pub use object_store::path::Path as ObjectPath;
pub use object_store::{ObjectStore, ObjectStoreExt};
pub use open::{S3Options, Storage, StorageOptions, free_bytes};
pub use put::{delete, get_bytes, keep_aside, keeps_conditions, list_after, list_all, put_new, put_over};
