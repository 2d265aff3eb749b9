use std::fmt;

use serde::{Deserialize, Serialize};

/// A secret text, masked in Debug output, serialised configuration and messages.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text` so that it is masked in all output.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret text, only for the client that must send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Serialises an empty text unchanged and masks any other text, so that default values survive a round trip.
    pub fn masked_unless_empty<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_empty() {
            return serializer.serialize_str("");
        }
        self.serialize(serializer)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("***")
    }
}
