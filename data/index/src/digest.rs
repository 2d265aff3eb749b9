//! SHA-256 digests of files, which name the files in the object store and in caches.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// SHA-256 digest, written as 64 lowercase hex digits. The digest is the name of a release file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256Hex([u8; 32]);

impl fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256Hex {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)?;
        // Uppercase digits would give the same content a second name.
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(hex::FromHexError::InvalidStringLength);
        }
        Ok(Self(bytes))
    }
}

data_model::text_serde!(Sha256Hex);

/// Returns the first `N` bytes of the SHA-256 digest of `bytes`. `N` is at most 32.
#[must_use]
pub fn prefix<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let digest = Sha256::digest(bytes);
    std::array::from_fn(|at| digest.get(at).copied().unwrap_or(0))
}

/// Computes the SHA-256 digest and the length of a stream of bytes.
#[derive(Debug, Default)]
pub struct Hasher {
    sha: Sha256,
    size_bytes: u64,
}

impl Hasher {
    /// Adds the next bytes to the digest.
    pub fn update(&mut self, bytes: &[u8]) {
        self.sha.update(bytes);
        self.size_bytes = self.size_bytes.saturating_add(bytes.len() as u64);
    }

    /// Returns the number of bytes added so far.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the digest and the number of bytes that it covers.
    #[must_use]
    pub fn finish(self) -> (Sha256Hex, u64) {
        (Sha256Hex(self.sha.finalize().into()), self.size_bytes)
    }
}
