use std::fmt;

use data_model::Timestamp;

use crate::error::StateError;
use crate::random;

/// A random name that only the holder of a right knows. Each change that the holder makes names it, and is refused when
/// somebody else has the right by then: whoever was taken for dead and lives finds out with the next change.
#[derive(Clone, PartialEq, Eq)]
pub struct LeaseToken(String);

impl LeaseToken {
    /// A new one.
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

/// The right to change something for a while: a token, and when it is over.
///
/// Whoever works under one stops before its end, or finds at its next change that another one has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Lease {
    token: LeaseToken,
    until: Timestamp,
}

impl Lease {
    /// A new one.
    ///
    /// # Errors
    /// [`StateError::Random`].
    pub fn new(until: Timestamp) -> Result<Self, StateError> {
        let token = LeaseToken::new()?;
        Ok(Self { token, until })
    }

    /// Its end.
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
