//! Background loops of a server: evaluation of watches, and delivery of events.

use std::time::Duration;

use data_model::Observation;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::error::WatchError;
use crate::watches::Watches;

/// Maximum number of live responses that wait for evaluation. Others are dropped and counted; the next release has
/// their content.
const OBSERVATIONS_MAX: usize = 1_000;
/// Delay before a failed operation is retried.
const AGAIN: Duration = Duration::from_secs(5);
/// Number of delivery rounds between two deletions of old events.
const TIDY_ROUNDS: u32 = 3_600;
/// Time in milliseconds for which events are stored. A product counts as new for a shorter time.
const KEPT_MS: i64 = 45 * 24 * 3_600_000;

/// Non-blocking sender of live responses for evaluation.
#[derive(Debug, Clone)]
pub struct ObservationSender(mpsc::Sender<Observation>);

/// Receiver of live responses for evaluation.
#[derive(Debug)]
pub struct ObservationReceiver(mpsc::Receiver<Observation>);

/// Creates the channel that passes live responses to watches.
#[must_use]
pub fn observation_channel() -> (ObservationSender, ObservationReceiver) {
    let (sender, receiver) = mpsc::channel(OBSERVATIONS_MAX);
    (ObservationSender(sender), ObservationReceiver(receiver))
}

impl ObservationSender {
    /// Passes one live response on.
    pub fn send(&self, observation: Observation) {
        if self.0.try_send(observation).is_err() {
            metrics::counter!("watch_observations_lost_total").increment(1);
        }
    }
}

fn warn(error: &WatchError, what: &'static str) {
    let error: &dyn std::error::Error = error;
    tracing::warn!(error, "{what}");
}

impl Watches {
    /// Evaluates live responses until `stop` is cancelled.
    pub async fn judge_observations(self, mut observations: ObservationReceiver, stop: CancellationToken) {
        while let Some(Some(observation)) = stop.run_until_cancelled(observations.0.recv()).await {
            if let Err(error) = self.judge_observation(&observation).await {
                warn(&error, "watches could not be evaluated against a store's live answer");
            }
        }
    }

    /// Evaluates all watches, and retries until that succeeds or `stop` is cancelled.
    pub async fn judge_until_done(&self, stop: &CancellationToken) {
        loop {
            match stop.run_until_cancelled(self.judge()).await {
                Some(Err(error)) => warn(&error, "watches could not be evaluated against the release"),
                Some(Ok(events)) => {
                    tracing::debug!(events, "watches were evaluated against the release");
                    return;
                }
                None => return,
            }
            if stop.run_until_cancelled(tokio::time::sleep(AGAIN)).await.is_none() {
                return;
            }
        }
    }

    /// Delivers events and deletes old ones until `stop` is cancelled. A running attempt, whose duration is limited, is
    /// finished first.
    pub async fn deliver(self, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(Duration::from_millis(self.0.config.poll_ms.max(10)));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut round = 0_u32;
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Err(error) = self.deliver_due().await {
                warn(&error, "events of watches could not be delivered");
            }
            round = (round + 1) % TIDY_ROUNDS;
            if round == 1 {
                let oldest = self.0.clock.now().plus_millis(-KEPT_MS);
                if let Err(error) = self.0.state.purge_watch_events(oldest).await {
                    warn(&error.into(), "old events of watches could not be deleted");
                }
            }
        }
    }
}
