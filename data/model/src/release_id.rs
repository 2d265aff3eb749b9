use std::fmt;
use std::str::FromStr;

use crate::ids::{IdError, excerpt};

/// Id of a release: `r` and the first 16 hex digits of the SHA-256 of its manifest content. The same catalogue has the
/// same id on every machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReleaseId(u64);

impl ReleaseId {
    /// Builds an id from the first eight bytes of the digest.
    #[must_use]
    pub const fn from_digest(prefix: [u8; 8]) -> Self {
        Self(u64::from_be_bytes(prefix))
    }
}

impl fmt::Display for ReleaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{:016x}", self.0)
    }
}

/// Logs and errors must name a release in the form that commands accept.
impl fmt::Debug for ReleaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ReleaseId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || IdError::ReleaseId(excerpt(text));
        let digits = text.strip_prefix('r').ok_or_else(refuse)?;
        let lower_hex = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if digits.len() != 16 || !lower_hex {
            return Err(refuse());
        }
        u64::from_str_radix(digits, 16).map(Self).map_err(|_| refuse())
    }
}
crate::text_serde!(ReleaseId);
