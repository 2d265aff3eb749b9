//! Ways to receivers. Leases, attempts and dead letters are the same for all of them: a carrier makes one attempt.

mod mailbox;
mod webhook;

use std::fmt::Display;

use async_trait::async_trait;
use state::DueEvent;

use crate::target::Target;
use crate::watches::WatchesParts;

/// The reason why an attempt failed, in words for the owner.
pub(crate) enum Failure {
    /// It may work another time.
    Passing(String),
    /// The receiver wants no more events of this watch.
    Gone,
}

impl Failure {
    fn passing(reason: &dyn Display) -> Self {
        Self::Passing(reason.to_string())
    }
}

/// A way to a receiver.
#[async_trait]
pub(crate) trait Carrier: Send + Sync {
    /// Makes one attempt to bring an event to the receiver.
    async fn carry(&self, event: &DueEvent, parts: &WatchesParts) -> Result<(), Failure>;
}

impl Target {
    /// The way to this receiver.
    pub(crate) fn carrier(&self) -> &dyn Carrier {
        match self {
            Self::Webhook(webhook) => webhook,
            Self::Mailbox(mailbox) => mailbox,
        }
    }
}
