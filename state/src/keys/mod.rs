//! API keys: their text, their stored records, and the operations on them, one per file.

mod api_key;
mod change;
mod confirm;
mod create;
mod find;
mod index;
mod list;
mod record;
mod rename;
mod revoke;
mod rotate;
mod row;
mod usage;

pub use api_key::{ApiKey, ApiKeyError, KeyHash};
pub use change::{KeyChange, KeyChanges, KeyGrant};
pub use create::{IssuedKey, NewKey};
pub use index::{KeyIndex, KeyRefusal};
pub use record::{KeyRecord, KeyStatus, Plan};
pub use rotate::KeyRotation;
pub use usage::{KeyUsage, UsageBatch, UsageEntry};
