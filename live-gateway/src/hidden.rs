use std::fmt;

use serde::{Deserialize, Serialize};

/// A text that opens something (a store's cart, a checkout, a customer's account): never shown, and written only into
/// what is sealed and into the answer that it is for.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SecretText(String);

impl SecretText {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself: for the store that must be sent it, and the caller whose it is.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
