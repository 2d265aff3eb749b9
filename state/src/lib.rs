//! Persistent state of servers: API keys and their usage, sign-ins, the audit of changes, job runs, the queue of stores
//! to refresh, and watches with their events.
//!
//! Input: a folder for SQLite or the URL of a PostgreSQL server, and typed operations. Output: every acknowledged
//! change, even after a kill or a power cut. The same statements and tests are used for both databases.
//!
//! Servers look keys up in memory ([`KeyIndex`]), never in the database. Secrets are sealed with [`MasterKeys`] before
//! they are stored here. The crate never stores or logs a key in plain text, and never deletes or changes an audit
//! entry. No code of the crate reads the clock or the environment, or depends on HTTP.

mod accounts;
mod audit;
mod carts;
mod coupons;
mod customers;
mod database;
mod day;
mod email;
mod envelope;
mod error;
mod idempotency;
mod jobs;
mod keys;
mod lease;
mod names;
mod random;
mod sessions;
mod sign_in;
mod signing_keys;
mod watches;
mod work;

pub use accounts::{Account, LOCAL_ISSUER, MAIL_ISSUER};
pub use audit::{Actor, AuditAction, AuditEvent, AuditQuery};
pub use carts::{CartLock, CartRow, OpenCart};
pub use coupons::{CouponBounds, CouponOutcome};
pub use customers::CustomerRow;
pub use database::{KeyFate, KeysSince, State, StateTarget, TakeDump};
pub use day::Day;
pub use email::{EmailAddress, NotAnAddress};
pub use envelope::{MasterKey, MasterKeyError, MasterKeyId, MasterKeys, OpenError, Purpose};
pub use error::StateError;
pub use idempotency::{IdempotentRow, IdempotentSlot, RequestStart};
pub use jobs::{JobCause, JobMark, JobRow, JobRun, JobRunEnd, JobRunOutcome, JobWork, NewJobRun};
pub use keys::{
    ApiKey, ApiKeyError, IssuedKey, KeyChange, KeyChanges, KeyGrant, KeyHash, KeyIndex, KeyRecord, KeyRefusal,
    KeyRotation, KeyStatus, KeyUsage, NewKey, Plan, UsageBatch, UsageEntry,
};
pub use lease::{Lease, LeaseToken};
pub use names::{AccountId, KeyId, KeyName, NameError};
pub use sessions::{
    IssuedSession, LinkHash, LinkToken, NewSession, PendingHash, PendingToken, SessionGrant, SessionHash, SessionId,
    SessionLimits, SessionToken, SignInMethod, TokenError,
};
pub use sign_in::{LinkRefusal, LinkUse, PendingSignIn};
pub use signing_keys::SigningKeyRow;
pub use watches::{
    AttemptOutcome, DueEvent, EventState, JudgedWatch, NewWatchEvent, WatchCreation, WatchEventRow, WatchRow,
};
pub use work::{
    DeadLetter, EnqueueOutcome, NewWorkRun, StagedWork, StoreRight, TakenWork, WORK_LEASE_S_MAX, WORK_RUNS_MAX,
    WORK_STORES_MAX, WorkCounts, WorkItem, WorkLease, WorkRun, WorkState, WorkStore,
};
