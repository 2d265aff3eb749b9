use std::fmt;

use data_model::Timestamp;

use crate::error::StateError;
use crate::random;

/// A random token that only the holder of a lease knows. Each change by the holder includes the token, and is refused
/// if another process has the lease. A holder that was wrongly considered dead therefore notices the loss of the lease
/// at its next change.
#[derive(Clone, PartialEq, Eq)]
pub struct LeaseToken(String);

impl LeaseToken {
    /// Generates a new token.
    ///
    /// # Errors
    /// [`StateError::Random`].
    pub fn new() -> Result<Self, StateError> {
        let mut bytes = [0; 16];
        random::fill(&mut bytes)?;
        Ok(Self(hex::encode(bytes)))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeaseToken(…)")
    }
}

/// The right to change something for a limited time: a token and an end time.
///
/// The holder must stop before the end time. A later change may fail, because another process may have the lease.
#[derive(Clone, PartialEq, Eq)]
pub struct Lease {
    token: LeaseToken,
    until: Timestamp,
}

impl Lease {
    /// Creates a lease with a new token.
    ///
    /// # Errors
    /// [`StateError::Random`].
    pub fn new(until: Timestamp) -> Result<Self, StateError> {
        let token = LeaseToken::new()?;
        Ok(Self { token, until })
    }

    /// Returns the end of the lease.
    #[must_use]
    pub const fn until(&self) -> Timestamp {
        self.until
    }

    pub(crate) fn token(&self) -> &str {
        self.token.text()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease(until {})", self.until)
    }
}
