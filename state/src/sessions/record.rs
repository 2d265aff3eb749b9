use std::fmt;
use std::str::FromStr;

use data_model::Timestamp;
use serde::Serialize;

use super::token::SessionToken;
use crate::error::StateError;
use crate::names::{AccountId, NameError};
use crate::random;

const ID_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ID_PREFIX: &str = "ses_";
const ID_CHARS: usize = 12;
const CLIENT_CHARS_MAX: usize = 120;

/// Id of a session in lists and the audit: `ses_` and twelve characters. The id is not secret and grants no access.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

data_model::named! {
    /// The sign-in method of a session.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SignInMethod {
        /// Sign-in at the OpenID provider.
        Oidc = "oidc",
        /// Sign-in with a link from the operator, or with a mailed link.
        Link = "link",
        /// No sign-in: a guest, known only by this session.
        Guest = "guest",
    }
}

/// Lifetimes of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// Idle timeout in milliseconds.
    pub idle_ms: u64,
    /// Maximum lifetime in milliseconds.
    pub total_ms: u64,
}

/// The data of a session to create.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The sign-in method of the owner.
    pub method: SignInMethod,
    /// The browser's user agent, without control characters and truncated to 120 characters.
    pub client: String,
    /// Lifetimes of the session.
    pub limits: SessionLimits,
    /// The browser's previous session. It ends, so that nobody who knows its token gets the rights of the new session.
    pub replaces: Option<super::token::SessionHash>,
}

/// A new session. Only now the plain token is known.
#[derive(Debug, Clone)]
pub struct IssuedSession {
    /// The token for the browser.
    pub token: SessionToken,
    /// The stored part of the session.
    pub grant: SessionGrant,
}

/// The rights of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionGrant {
    /// Id of the session.
    pub id: SessionId,
    /// The owner of the session.
    pub account: AccountId,
    /// The sign-in method of the owner.
    pub method: SignInMethod,
    /// The browser's user agent.
    pub client: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last use, to the minute.
    pub seen_at: Timestamp,
    /// End of the session if it is not used any more.
    pub ends_at: Timestamp,
}

impl SessionId {
    pub(super) fn generate() -> Result<Self, StateError> {
        let characters: [u8; ID_CHARS] = random::characters_of_32(ID_ALPHABET)?;
        Ok(Self(format!("{ID_PREFIX}{}", String::from_utf8_lossy(&characters))))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let characters = text.strip_prefix(ID_PREFIX).ok_or(NameError::SessionId)?.as_bytes();
        let fits = characters.len() == ID_CHARS && characters.iter().all(|byte| ID_ALPHABET.contains(byte));
        fits.then(|| Self(text.to_owned())).ok_or(NameError::SessionId)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SignInMethod {
    pub(super) fn read(text: &str) -> Result<Self, StateError> {
        Self::named(text).ok_or(StateError::Damaged { what: "sign-in" })
    }
}

pub(super) fn client_line(text: &str) -> String {
    let plain = text.chars().filter(|character| !character.is_control());
    plain.take(CLIENT_CHARS_MAX).collect()
}
