//! Delivers events: durable rows, one lease a round, whichever way they go.

use std::time::Duration;

use data_model::VariantId;
use futures::future::join_all;
use state::{AttemptOutcome, DueEvent, Lease};

use crate::carriers::Failure;
use crate::error::WatchError;
use crate::event::{EventMessage, FIRED};
use crate::rules::retries;
use crate::target::Target;
use crate::watches::Watches;

/// The time that an attempt may take besides the receiver's: a quote is asked for, and the outcome is written.
const LEASE_SLACK_MS: u64 = 30_000;
/// Longest time for a quote; without one the event goes all the same.
const QUOTE_TIMEOUT: Duration = Duration::from_secs(10);

impl Watches {
    /// Delivers the events that are due, as many as may be delivered at the same time; answers how many were tried.
    ///
    /// # Errors
    /// [`WatchError`]: the state does not answer. Events that were taken are due again when the lease ends.
    pub async fn deliver_due(&self) -> Result<usize, WatchError> {
        let parts = &self.0;
        let now = parts.clock.now();
        let mail_ms = u64::try_from(mailer::SEND_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        let lease_ms = parts.config.timeout_ms.max(mail_ms).saturating_add(LEASE_SLACK_MS);
        let lease = Lease::new(now.plus_millis(i64::try_from(lease_ms).unwrap_or(i64::MAX)))?;
        let due = parts
            .state
            .take_watch_events(parts.config.deliveries_at_once_max, &lease, now)
            .await?;
        let tried = due.len();
        let attempts = due.into_iter().map(|event| self.attempt(event, &lease));
        for ended in join_all(attempts).await {
            ended?;
        }
        Ok(tried)
    }

    async fn attempt(&self, event: DueEvent, lease: &Lease) -> Result<(), WatchError> {
        let parts = &self.0;
        let event = self.with_quote(event, lease).await?;
        let sent = self.send(&event).await;
        let now = parts.clock.now();
        let outcome = match sent {
            Ok(()) => AttemptOutcome::Delivered,
            Err(Failure::Gone) => {
                parts.state.pause_watch(&event.caller, &event.watch, Some(now)).await?;
                let reason = "the receiver is gone (410): the watch is paused".to_owned();
                AttemptOutcome::Dead { reason }
            }
            Err(Failure::Passing(reason)) => match retries::next(event.created_at, event.attempt, now) {
                Some(at) => AttemptOutcome::Again { at, reason },
                None => AttemptOutcome::Dead { reason },
            },
        };
        let word = match &outcome {
            AttemptOutcome::Delivered => "delivered",
            AttemptOutcome::Again { .. } => "failed",
            AttemptOutcome::Dead { .. } => "dead",
        };
        metrics::counter!("watch_deliveries_total", "outcome" => word).increment(1);
        let is_ours = parts.state.end_watch_attempt(&event.id, lease, &outcome, now).await?;
        if !is_ours {
            tracing::debug!(event = event.id, "an event was taken over by another server");
        }
        Ok(())
    }

    /// The event with a quote, which is asked for before the first attempt and kept: each attempt sends the same bytes.
    async fn with_quote(&self, mut event: DueEvent, lease: &Lease) -> Result<DueEvent, WatchError> {
        let mut message: EventMessage = serde_json::from_str(&event.body)?;
        let wants = event.attempt == 1 && message.kind == FIRED;
        let Some(product) = message.data.product.as_ref().filter(|_| wants) else {
            return Ok(event);
        };
        let variant = product.variant_id.as_ref().and_then(|id| id.parse().ok());
        let asked = self.0.market.quote(product.id, variant.map(VariantId));
        message.data.quote = tokio::time::timeout(QUOTE_TIMEOUT, asked).await.ok().flatten();
        let body = serde_json::to_string(&message)?;
        let state = &self.0.state;
        if message.data.quote.is_some() && state.replace_watch_event_body(&event.id, lease, &body).await? {
            event.body = body;
        }
        Ok(event)
    }

    async fn send(&self, event: &DueEvent) -> Result<(), Failure> {
        let parts = &self.0;
        let target = Target::open(&parts.keys, &event.watch, &event.target).map_err(|error| {
            let error: &dyn std::error::Error = &error;
            tracing::error!(error, watch = event.watch, "the receiver of a watch cannot be opened");
            Failure::Passing("the receiver cannot be read".to_owned())
        })?;
        target.carrier().carry(event, parts).await
    }
}
