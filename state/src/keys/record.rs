use data_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::audit::{AuditAction, Entry};
use crate::day::Day;
use crate::error::StateError;
use crate::names::{AccountId, KeyId, KeyName};

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

    /// The audit's entry about it.
    pub(super) const fn entry(&self, action: AuditAction, detail: serde_json::Value) -> Entry<'_> {
        Entry::of_key(action, &self.id, self.account.as_ref(), detail)
    }
}
