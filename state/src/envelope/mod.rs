//! Encryption of stored secrets: they are sealed with a master key, and bound to the row that stores them.

mod file;
mod key;
mod seal;

pub use self::key::{MasterKey, MasterKeyError, MasterKeyId, MasterKeys};
pub use self::seal::{OpenError, Purpose};
