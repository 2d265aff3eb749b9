//! Messages to the receivers of watches.

use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use state::NewWatchEvent;

use crate::error::WatchError;
use crate::rules::conditions::WatchReason;
use crate::rules::reading::{Reading, WatchedProduct};

/// Type of an event that a condition caused.
pub(crate) const FIRED: &str = "watch.fired";
/// Type of an event that the owner requested as a test.
pub(crate) const TEST: &str = "watch.test";

/// Message in the form of Standard Webhooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventMessage {
    /// Type of the event: `watch.fired` or `watch.test`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Time at which the event happened.
    pub(crate) timestamp: Timestamp,
    pub(crate) data: EventData,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventData {
    pub(crate) event_id: String,
    pub(crate) watch_id: String,
    pub(crate) reasons: Vec<WatchReason>,
    pub(crate) product: Option<WatchedProduct>,
    pub(crate) query: Option<String>,
    /// Reading before the event. `now` is the reading that made the conditions true.
    pub(crate) before: Option<Reading>,
    pub(crate) now: Option<Reading>,
    /// Signed quote of the store's price when the event was first sent; null if the store did not respond.
    pub(crate) quote: Option<String>,
}

/// Returns the event id for a watch and a cause. The id is the same on every server and for every repetition.
pub(crate) fn event_id(watch: &str, cause: &str) -> String {
    let digest = Sha256::digest(format!("{watch}\n{cause}"));
    format!("evt_{}", hex::encode(&digest[..16]))
}

impl EventMessage {
    pub(crate) fn new(kind: &str, timestamp: Timestamp, data: EventData) -> Self {
        Self {
            kind: kind.to_owned(),
            timestamp,
            data,
        }
    }

    /// Returns the row in which the message is stored.
    pub(crate) fn row(&self) -> Result<NewWatchEvent, WatchError> {
        Ok(NewWatchEvent {
            id: self.data.event_id.clone(),
            watch: self.data.watch_id.clone(),
            body: serde_json::to_string(self)?,
        })
    }
}
