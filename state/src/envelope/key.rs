use std::fmt;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::random;

const KEY_BYTES: usize = 32;
const ID_BYTES: usize = 8;

/// A random 256-bit key, from which the keys of envelopes are derived. Debug output never shows the key.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterKey([u8; KEY_BYTES]);

/// Id of a master key in envelopes, errors and the database. The id reveals nothing of the key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MasterKeyId([u8; ID_BYTES]);

/// The master keys of a server. The first key seals, and all keys open.
///
/// To rotate the key, put a new key first. The old key must stay in the list while any stored secret is sealed with it.
#[derive(Debug, Clone)]
pub struct MasterKeys {
    current: MasterKey,
    older: Vec<MasterKey>,
}

/// Errors of reading master keys. No message contains a part of a key.
#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    /// A key is not 64 hexadecimal digits.
    #[error("master key {number} is not 64 hexadecimal digits (`openssl rand -hex 32` generates one)")]
    Text {
        /// Position of the key in the list, from 1.
        number: usize,
    },
    /// The list contains no key.
    #[error("no master key is configured")]
    None,
    /// Users other than the owner can read or write the file.
    #[error("other users can read or write {}: run `chmod 600` on it", path.display())]
    NotPrivate {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file cannot be read or created.
    #[error("cannot open {}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
    /// The operating system provides no random bytes.
    #[error("the operating system does not provide random bytes")]
    Random,
}

impl MasterKey {
    /// Generates a random key.
    ///
    /// # Errors
    /// [`MasterKeyError::Random`].
    pub fn generate() -> Result<Self, MasterKeyError> {
        let mut bytes = [0; KEY_BYTES];
        random::fill(&mut bytes).map_err(|_| MasterKeyError::Random)?;
        Ok(Self(bytes))
    }

    /// Returns the id of the key: eight bytes of a hash that is used only for ids.
    #[must_use]
    pub fn id(&self) -> MasterKeyId {
        let hash = Sha256::new()
            .chain_update(b"haat/master-key-id/v1")
            .chain_update(self.0)
            .finalize();
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&hash[..ID_BYTES]);
        MasterKeyId(id)
    }

    pub(super) const fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    pub(super) fn text(&self) -> String {
        hex::encode(self.0)
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({})", self.id())
    }
}

impl MasterKeyId {
    pub(super) const BYTES: usize = ID_BYTES;

    pub(super) const fn as_bytes(&self) -> &[u8; ID_BYTES] {
        &self.0
    }

    pub(super) const fn from_bytes(bytes: [u8; ID_BYTES]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for MasterKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for MasterKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl MasterKeys {
    /// Parses keys of 64 hexadecimal digits each, separated by commas or newlines, the current one first. Empty lines
    /// and text after a `#` are ignored.
    ///
    /// # Errors
    /// [`MasterKeyError::Text`], [`MasterKeyError::None`].
    pub fn parse(text: &str) -> Result<Self, MasterKeyError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let texts = lines.flat_map(|line| line.split(',')).map(str::trim);
        let keys = texts.filter(|text| !text.is_empty()).enumerate().map(|(at, text)| {
            let mut bytes = [0; KEY_BYTES];
            let read = hex::decode_to_slice(text, &mut bytes);
            read.map(|()| MasterKey(bytes))
                .map_err(|_| MasterKeyError::Text { number: at + 1 })
        });
        let mut keys: Vec<_> = keys.collect::<Result<_, _>>()?;
        if keys.is_empty() {
            return Err(MasterKeyError::None);
        }
        let current = keys.remove(0);
        Ok(Self { current, older: keys })
    }

    pub(super) const fn current(&self) -> &MasterKey {
        &self.current
    }

    pub(super) fn of(&self, id: &[u8]) -> Option<&MasterKey> {
        std::iter::once(&self.current)
            .chain(&self.older)
            .find(|key| key.id().as_bytes() == id)
    }

    /// Returns the ids of all keys, the current one first.
    pub fn ids(&self) -> impl Iterator<Item = MasterKeyId> {
        std::iter::once(&self.current).chain(&self.older).map(MasterKey::id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_is_the_current_one_and_no_part_of_a_key_is_shown() {
        let (new, old) = ("ab".repeat(32), "cd".repeat(32));
        for text in [
            format!("{new},{old}"),
            format!("# rotated in May\n{new}  # new\n\n {old}\n"),
        ] {
            let keys = MasterKeys::parse(&text).unwrap();
            assert_eq!(keys.current().text(), new);
            assert_eq!(keys.ids().count(), 2);
            assert!(!format!("{keys:?}").contains("abab"), "{keys:?}");
        }
        for (text, number) in [("ab".repeat(31), 1), (format!("{new},{new}0"), 2)] {
            let error = MasterKeys::parse(&text).unwrap_err();
            assert!(
                matches!(&error, MasterKeyError::Text { number: told } if *told == number),
                "{error}"
            );
            assert!(!error.to_string().contains("abab"));
        }
        assert!(matches!(MasterKeys::parse(" \n#\n"), Err(MasterKeyError::None)));
    }
}
