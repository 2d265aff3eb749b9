use std::fmt;

use data_model::Timestamp;

use crate::error::StateError;
use crate::random;

/// The right to change something for a while: a random name that only its holder knows, and when it is over.
///
/// Whoever works under one stops before its end, or finds at its next change that another one has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Lease {
    token: String,
    until: Timestamp,
}

impl Lease {
    /// A new one.
    ///
    /// # Errors
    /// [`StateError::Random`].
    pub fn new(until: Timestamp) -> Result<Self, StateError> {
        let mut bytes = [0; 16];
        random::fill(&mut bytes)?;
        Ok(Self {
            token: hex::encode(bytes),
            until,
        })
    }

    /// When it is over.
    #[must_use]
    pub const fn until(&self) -> Timestamp {
        self.until
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease(until {})", self.until)
    }
}
