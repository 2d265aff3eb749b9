//! Carriers that deliver events to receivers. A carrier makes a single attempt. Leases, retries and dead events are the
//! same for all carriers and are handled elsewhere.

mod mailbox;
mod webhook;

use std::fmt::Display;

use async_trait::async_trait;
use state::DueEvent;

use crate::target::Target;
use crate::watches::WatchesParts;

/// Reason why an attempt failed, with a message for the owner.
pub(crate) enum Failure {
    /// Temporary failure; a later attempt may succeed.
    Passing(String),
    /// The receiver does not want more events of this watch.
    Gone,
}

impl Failure {
    fn passing(reason: &dyn Display) -> Self {
        Self::Passing(reason.to_string())
    }
}

/// Way to deliver events to a receiver.
#[async_trait]
pub(crate) trait Carrier: Send + Sync {
    async fn carry(&self, event: &DueEvent, parts: &WatchesParts) -> Result<(), Failure>;
}

impl Target {
    pub(crate) fn carrier(&self) -> &dyn Carrier {
        match self {
            Self::Webhook(webhook) => webhook,
            Self::Mailbox(mailbox) => mailbox,
        }
    }
}
