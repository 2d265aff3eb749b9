//! Secrets at rest: sealed with a master key, and bound to the place that they are kept in.

mod file;
mod key;
mod seal;

pub use self::key::{MasterKey, MasterKeyError, MasterKeyId, MasterKeys};
pub use self::seal::{OpenError, Purpose};
