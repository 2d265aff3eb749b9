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

/// Names a session in lists and the audit: `ses_` and twelve characters. It is no secret and opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

/// The way in which somebody signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignInMethod {
    /// At the OpenID provider.
    Oidc,
    /// With a link that the operator handed out, or that was mailed.
    Link,
    /// Not at all: a guest, known by this session alone.
    Guest,
}

/// The end of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// After this many milliseconds without use.
    pub idle_ms: u64,
    /// After this many milliseconds in any case.
    pub total_ms: u64,
}

/// A session that is to be made.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The way in which its owner signed in.
    pub method: SignInMethod,
    /// The name that their browser gives itself; one that is longer than 120 characters, or no plain text, is cut.
    pub client: String,
    /// Its end.
    pub limits: SessionLimits,
    /// The session that the browser had until now: it ends, so that nobody who knows it gets the new one's rights.
    pub replaces: Option<super::token::SessionHash>,
}

/// A session that was just begun. This is the only time that its token is known.
#[derive(Debug, Clone)]
pub struct IssuedSession {
    /// The token for the browser.
    pub token: SessionToken,
    /// The part of it that is kept.
    pub grant: SessionGrant,
}

/// The rights of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionGrant {
    /// Names it.
    pub id: SessionId,
    /// Its owner.
    pub account: AccountId,
    /// The way in which its owner signed in.
    pub method: SignInMethod,
    /// The name that their browser gave itself.
    pub client: String,
    /// Its beginning.
    pub created_at: Timestamp,
    /// Its last use, to the minute.
    pub seen_at: Timestamp,
    /// Its end if it is not used any more; never after its end in any case.
    pub ends_at: Timestamp,
}

impl SessionId {
    pub(super) fn generate() -> Result<Self, StateError> {
        let characters: [u8; ID_CHARS] = random::characters_of_32(ID_ALPHABET)?;
        Ok(Self(format!("{ID_PREFIX}{}", String::from_utf8_lossy(&characters))))
    }

    /// The id as text.
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
    /// The method as answers, the audit and the database spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Oidc => "oidc",
            Self::Link => "link",
            Self::Guest => "guest",
        }
    }

    pub(super) fn read(text: &str) -> Result<Self, StateError> {
        [Self::Oidc, Self::Link, Self::Guest]
            .into_iter()
            .find(|method| method.as_str() == text)
            .ok_or(StateError::Damaged { what: "sign-in" })
    }
}

/// A text of browsers as one line of bounded length.
pub(super) fn client_line(text: &str) -> String {
    let plain = text.chars().filter(|character| !character.is_control());
    plain.take(CLIENT_CHARS_MAX).collect()
}
