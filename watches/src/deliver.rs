//! Delivery of events that are rows in the state. Each round takes a lease on its events, for all delivery methods
//! alike.

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

/// Time in milliseconds that an attempt may need in addition to the receiver's time, to request a quote and write the
/// outcome.
const LEASE_SLACK_MS: u64 = 30_000;
/// Maximum time to wait for a quote. The event is delivered even without one.
const QUOTE_TIMEOUT: Duration = Duration::from_secs(10);

impl Watches {
    /// Delivers due events, up to the limit for concurrent deliveries. Returns the number of attempts.
    ///
    /// # Errors
    /// Returns a [`WatchError`] if the state does not respond. Leased events are due again when their lease ends.
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
                let reason = "the receiver no longer exists (410): the watch is paused".to_owned();
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
            tracing::debug!(event = event.id, "another server has taken over an event");
        }
        Ok(())
    }

    /// Adds a quote to the event. The quote is requested before the first attempt and stored, so that all attempts send
    /// the same bytes.
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
            tracing::error!(error, watch = event.watch, "the receiver of a watch cannot be read");
            Failure::Passing("the receiver cannot be read".to_owned())
        })?;
        target.carrier().carry(event, parts).await
    }
}
