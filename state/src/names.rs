//! Ids and names of keys and accounts. They are not secret and grant no access.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::random::{self, RandomError};

/// Secret scanners find published keys in source code by this prefix.
pub(crate) const KEY_PREFIX: &str = "haat_live_";
/// Lowercase characters, without letters that look like digits.
const ID_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ID_PREFIX: &str = "key_";
const ID_CHARS: usize = 12;
const NAME_CHARS_MAX: usize = 64;
const ACCOUNT_CHARS_MAX: usize = 128;

/// Id of a key in lists, commands and the audit: `key_` and twelve characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct KeyId(String);

/// A caller's name for a key: 1 to 64 characters without control characters, trimmed. The name must not contain a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct KeyName(String);

/// The owner of a key: 1 to 128 characters without control characters. Keys created by the operator have no owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct AccountId(String);

/// Error for an invalid id, name or account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is not `key_` followed by twelve characters.
    #[error("a key id is key_ followed by {ID_CHARS} characters, as `haat keys list` shows it")]
    KeyId,
    /// The text is not `ses_` followed by twelve characters.
    #[error("a session id is ses_ followed by {ID_CHARS} characters")]
    SessionId,
    /// The name is empty, too long, or contains control characters.
    #[error("a name has 1 to {NAME_CHARS_MAX} characters, none of them a control character")]
    KeyName,
    /// The text contains a key.
    #[error("the name contains a key: choose a name that does not")]
    IsKey,
    /// The account is empty, too long, or contains control characters.
    #[error("an account has 1 to {ACCOUNT_CHARS_MAX} characters, none of them a control character")]
    Account,
}

impl KeyId {
    pub(crate) fn generate() -> Result<Self, RandomError> {
        let characters: [u8; ID_CHARS] = random::characters_of_32(ID_ALPHABET)?;
        Ok(Self(format!("{ID_PREFIX}{}", String::from_utf8_lossy(&characters))))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for KeyId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let characters = text.strip_prefix(ID_PREFIX).ok_or(NameError::KeyId)?.as_bytes();
        let fits = characters.len() == ID_CHARS && characters.iter().all(|byte| ID_ALPHABET.contains(byte));
        fits.then(|| Self(text.to_owned())).ok_or(NameError::KeyId)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn plain(text: &str, chars_max: usize) -> Option<String> {
    let text = text.trim();
    let fits = (1..=chars_max).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}

impl KeyName {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for KeyName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A key given as a name by mistake would be stored, listed and audited.
        if text.contains(KEY_PREFIX) {
            return Err(NameError::IsKey);
        }
        plain(text, NAME_CHARS_MAX).map(Self).ok_or(NameError::KeyName)
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AccountId {
    /// Returns the account as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AccountId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        plain(text, ACCOUNT_CHARS_MAX).map(Self).ok_or(NameError::Account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_are_read_as_they_are_written_and_nothing_else_is() {
        let id = KeyId::generate().unwrap();
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        for text in [
            "",
            "key_",
            "key_0123456789abc",
            "key_0123456789aI",
            "KEY_0123456789ab",
            "haat_live_0123456789ab",
        ] {
            assert_eq!(text.parse::<KeyId>(), Err(NameError::KeyId), "{text}");
        }
        assert_eq!(" Mobile app ".parse::<KeyName>().unwrap().as_str(), "Mobile app");
        for text in ["", "  ", "a\nb", "a\u{1b}[31mb", &"x".repeat(65)] {
            assert_eq!(text.parse::<KeyName>(), Err(NameError::KeyName), "{text:?}");
        }
        assert_eq!("my haat_live_key".parse::<KeyName>(), Err(NameError::IsKey));
        assert!("दुकान".repeat(12).parse::<KeyName>().is_ok());
    }
}
