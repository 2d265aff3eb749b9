//! Receivers of events, sealed in the state.

use data_model::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use state::{MasterKeys, Purpose};
use storefront::address::{Zone, check_url};
use url::Url;

use crate::error::WatchError;
use crate::rules::signature::secret_of;

const TARGET: Purpose = Purpose::new("watch-target");
const SECRET_BYTES: usize = 32;
/// Time in milliseconds for which a replaced secret still signs.
const OVERLAP_MS: i64 = 24 * 3_600_000;

/// Receiver of a watch's events.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Target {
    Webhook(Webhook),
    Mailbox(Mailbox),
}

/// Program that receives events.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Webhook {
    pub(crate) url: Url,
    pub(crate) secret: String,
    previous: Option<PreviousSecret>,
}

/// Person who receives e-mails.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mailbox {
    pub(crate) email: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PreviousSecret {
    secret: String,
    until: Timestamp,
}

impl Webhook {
    pub(crate) fn new(url: Url) -> Result<Self, WatchError> {
        Ok(Self {
            url,
            secret: random_secret()?,
            previous: None,
        })
    }

    /// Returns the receiver with a new secret. The previous secret signs for one more day.
    pub(crate) fn rotated(self, now: Timestamp) -> Result<Self, WatchError> {
        let previous = PreviousSecret {
            secret: self.secret,
            until: now.plus_millis(OVERLAP_MS),
        };
        Ok(Self {
            url: self.url,
            secret: random_secret()?,
            previous: Some(previous),
        })
    }

    /// Returns the secrets that sign at this time.
    pub(crate) fn secrets(&self, now: Timestamp) -> impl Iterator<Item = &str> {
        let previous = self.previous.as_ref().filter(|previous| now < previous.until);
        let previous = previous.map(|previous| previous.secret.as_str());
        std::iter::once(self.secret.as_str()).chain(previous)
    }
}

impl Target {
    pub(crate) fn seal(&self, keys: &MasterKeys, watch: &str) -> Result<Vec<u8>, WatchError> {
        Ok(keys.seal(TARGET, watch, &serde_json::to_vec(self)?)?)
    }

    pub(crate) fn open(keys: &MasterKeys, watch: &str, sealed: &[u8]) -> Result<Self, WatchError> {
        Ok(serde_json::from_slice(&keys.open(TARGET, watch, sealed)?)?)
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Target(…)")
    }
}

/// Checks that requests may be sent to an address. An address without TLS is allowed only on this machine, if such
/// addresses are enabled.
pub(crate) fn check(url: &Url, allow_loopback: bool) -> Result<(), WatchError> {
    match check_url(url, allow_loopback)? {
        Zone::Public if url.scheme() != "https" => Err(WatchError::Plain),
        Zone::Public | Zone::Loopback => Ok(()),
    }
}

/// Returns random bytes as hexadecimal digits.
pub(crate) fn random_hex() -> Result<String, WatchError> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| WatchError::Random)?;
    Ok(hex::encode(bytes))
}

fn random_secret() -> Result<String, WatchError> {
    let mut bytes = [0; SECRET_BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| WatchError::Random)?;
    Ok(secret_of(&bytes))
}
