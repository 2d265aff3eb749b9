use std::fmt;
use std::str::FromStr;

use data_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::api_key::PREFIX;
use crate::day::Day;
use crate::error::StateError;
use crate::random;

/// Lower case, without letters that look like digits.
const ID_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ID_PREFIX: &str = "key_";
const ID_CHARS: usize = 12;
const NAME_CHARS_MAX: usize = 64;
const ACCOUNT_CHARS_MAX: usize = 128;

/// Names a key in lists, commands and the audit: `key_` and twelve characters. It is no secret and opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct KeyId(String);

/// A caller's name for a key: 1 to 64 characters without control characters, trimmed, and no key itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct KeyName(String);

/// The owner of a key: 1 to 128 characters without control characters. Keys that the operator makes belong to nobody.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct AccountId(String);

/// A text that is no id of a key, no name or no account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not of the form `key_` and twelve characters.
    #[error("an id of a key is key_ and {ID_CHARS} characters, as `haat keys list` shows them")]
    KeyId,
    /// Not of the form `ses_` and twelve characters.
    #[error("an id of a session is ses_ and {ID_CHARS} characters")]
    SessionId,
    /// Empty, too long, or with control characters.
    #[error("a name has 1 to {NAME_CHARS_MAX} characters, none of them a control character")]
    KeyName,
    /// The text holds a key.
    #[error("that is a key, not a name for one")]
    IsKey,
    /// Empty, too long, or with control characters.
    #[error("an account has 1 to {ACCOUNT_CHARS_MAX} characters, none of them a control character")]
    Account,
}

impl KeyId {
    pub(crate) fn generate() -> Result<Self, StateError> {
        let characters: [u8; ID_CHARS] = random::characters_of_32(ID_ALPHABET)?;
        Ok(Self(format!("{ID_PREFIX}{}", String::from_utf8_lossy(&characters))))
    }

    /// The id as text.
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

/// A text of `1..=chars_max` characters without control characters, trimmed.
fn plain(text: &str, chars_max: usize) -> Option<String> {
    let text = text.trim();
    let fits = (1..=chars_max).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}

impl KeyName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for KeyName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Whoever gives a key where its name belongs would have it kept, listed and audited.
        if text.contains(PREFIX) {
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
    /// The account as text.
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

/// The allowance of a key; the limits of each plan are configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// The plan that everybody gets.
    #[default]
    Free,
    /// The plan that the operator grants to some.
    Granted,
}

impl Plan {
    /// The plan as answers and the database spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Granted => "granted",
        }
    }

    pub(crate) fn read(text: &str) -> Result<Self, StateError> {
        [Self::Free, Self::Granted]
            .into_iter()
            .find(|plan| plan.as_str() == text)
            .ok_or(StateError::Damaged { what: "plan" })
    }
}

/// The answer to a key: it is taken or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// Yes.
    Active,
    /// Yes, until the grace of its rotation is over.
    Ending,
    /// No: it was rotated, and the grace is over.
    Ended,
    /// No: it was revoked.
    Revoked,
    /// No, until it is confirmed: it came back from a backup, and may have been revoked since.
    Unconfirmed,
}

/// A key as it is listed; neither the key nor its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyRecord {
    /// Names it.
    pub id: KeyId,
    /// Its owner's name for it.
    pub name: KeyName,
    /// Its plan.
    pub plan: Plan,
    /// Its owner; `None` for the operator's own.
    pub account: Option<AccountId>,
    /// Its last four characters.
    pub hint: String,
    /// The moment at which it was made.
    pub created_at: Timestamp,
    /// The market's day on which it was last used.
    pub last_used_on: Option<Day>,
    /// Its end after a rotation.
    pub ends_at: Option<Timestamp>,
    /// The moment at which it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The key that replaced it.
    pub replaced_by: Option<KeyId>,
    /// The moment of the backup that it came back from, until it is confirmed.
    pub unconfirmed_since: Option<Timestamp>,
}

impl KeyRecord {
    /// Its standing at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> KeyStatus {
        match (self.revoked_at, self.ends_at) {
            (Some(_), _) => KeyStatus::Revoked,
            (None, Some(end)) if end <= now => KeyStatus::Ended,
            _ if self.unconfirmed_since.is_some() => KeyStatus::Unconfirmed,
            (None, Some(_)) => KeyStatus::Ending,
            (None, None) => KeyStatus::Active,
        }
    }

    /// Since when the key is over; `None` while it is taken, or would be once it is confirmed.
    #[must_use]
    pub fn over_since(&self, now: Timestamp) -> Option<Timestamp> {
        self.revoked_at.or(self.ends_at.filter(|end| *end <= now))
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
