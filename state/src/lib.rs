//! What servers must remember: API keys, what they were used for, and who changed them.
//!
//! In: a folder for SQLite or the address of a PostgreSQL server, and typed operations. Out: what was acknowledged, also
//! after a kill or a power cut. The same statements and the same tests serve both databases.
//!
//! Keys are looked up on servers in memory ([`KeyIndex`]), never in the database. What must be kept secret is sealed with
//! [`MasterKeys`] before it comes here. The crate never stores or logs a key, never deletes or changes an entry of the
//! audit, never reads the clock or the environment, and knows nothing of HTTP.

mod audit;
mod database;
mod day;
mod envelope;
mod error;
mod keys;
mod random;

pub use audit::{Actor, AuditAction, AuditEvent, AuditQuery};
pub use database::{State, StateTarget};
pub use day::Day;
pub use envelope::{MasterKey, MasterKeyError, MasterKeyId, MasterKeys, OpenError, Purpose};
pub use error::StateError;
pub use keys::{
    AccountId, ApiKey, ApiKeyError, IssuedKey, KeyChange, KeyChanges, KeyGrant, KeyHash, KeyId, KeyIndex, KeyName,
    KeyRecord, KeyStatus, KeyUsage, NameError, NewKey, Plan, Refused, Rotated, UsageBatch, UsageEntry,
};
