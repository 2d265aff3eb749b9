//! Messages to receivers.

use data_model::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use state::NewWatchEvent;

use crate::error::WatchError;
use crate::rules::conditions::WatchReason;
use crate::rules::reading::{Reading, WatchedProduct};

/// The type of an event that a condition brought.
pub(crate) const FIRED: &str = "watch.fired";
/// The type of an event that the owner asked for.
pub(crate) const TEST: &str = "watch.test";

/// A message, in the form of Standard Webhooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventMessage {
    /// `watch.fired` or `watch.test`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// When it happened.
    pub(crate) timestamp: Timestamp,
    pub(crate) data: EventData,
}

/// The facts of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventData {
    pub(crate) event_id: String,
    pub(crate) watch_id: String,
    pub(crate) reasons: Vec<WatchReason>,
    pub(crate) product: Option<WatchedProduct>,
    pub(crate) query: Option<String>,
    /// The reading before, and the one that made the conditions true.
    pub(crate) before: Option<Reading>,
    pub(crate) now: Option<Reading>,
    /// The store's own word when the event was first sent, signed; null where it said nothing.
    pub(crate) quote: Option<String>,
}

/// The id of the event that follows from these: the same from whichever server, however often.
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

    /// The message as it is kept.
    pub(crate) fn row(&self) -> Result<NewWatchEvent, WatchError> {
        Ok(NewWatchEvent {
            id: self.data.event_id.clone(),
            watch: self.data.watch_id.clone(),
            body: serde_json::to_string(self)?,
        })
    }
}
