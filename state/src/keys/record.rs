use data_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::audit::{AuditAction, Entry};
use crate::day::Day;
use crate::error::StateError;
use crate::names::{AccountId, KeyId, KeyName};

data_model::named! {
    /// The plan of a key, for which the configuration sets limits.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Plan {
        /// The plan that everybody gets.
        #[default]
        Free = "free",
        /// The plan that the operator grants to selected users.
        Granted = "granted",
    }
}

impl Plan {
    pub(crate) fn read(text: &str) -> Result<Self, StateError> {
        Self::named(text).ok_or(StateError::Damaged { what: "plan" })
    }
}

/// The status of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// The key is accepted.
    Active,
    /// The key is accepted until its grace period after a rotation ends.
    Ending,
    /// The key was rotated, and the grace period is over.
    Ended,
    /// The key was revoked.
    Revoked,
    /// The key was restored from a backup and may have been revoked since. It is refused until it is confirmed.
    Unconfirmed,
}

/// A key as it is listed, without its text and hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyRecord {
    /// Id of the key.
    pub id: KeyId,
    /// The owner's name for the key.
    pub name: KeyName,
    /// Plan of the key.
    pub plan: Plan,
    /// Owner of the key. `None` for keys of the operator.
    pub account: Option<AccountId>,
    /// Last four characters of the key.
    pub hint: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Day of the last use, in the market's time zone.
    pub last_used_on: Option<Day>,
    /// End of the key after a rotation.
    pub ends_at: Option<Timestamp>,
    /// Time at which the key was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The key that replaced this one.
    pub replaced_by: Option<KeyId>,
    /// Time of the backup that the key was restored from. `None` once the key is confirmed.
    pub unconfirmed_since: Option<Timestamp>,
}

impl KeyRecord {
    /// Returns the status of the key at `now`.
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

    /// Returns the time since which the key has ended. Returns `None` while the key is valid, or only needs
    /// confirmation.
    #[must_use]
    pub fn over_since(&self, now: Timestamp) -> Option<Timestamp> {
        self.revoked_at.or(self.ends_at.filter(|end| *end <= now))
    }

    pub(super) const fn entry(&self, action: AuditAction, detail: serde_json::Value) -> Entry<'_> {
        Entry::of_key(action, &self.id, self.account.as_ref(), detail)
    }
}
