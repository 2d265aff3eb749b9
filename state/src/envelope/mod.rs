//! Encryption of stored secrets. A master key seals each secret, and the result is bound to the row that stores it.

mod file;
mod key;
mod seal;

pub use self::key::{MasterKey, MasterKeyError, MasterKeyId, MasterKeys};
pub use self::seal::{OpenError, Purpose};
