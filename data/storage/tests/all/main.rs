//! Tests the storage and its event log on every kind of object store.

mod conflict;
mod event_log;
mod s3;
mod storage;
