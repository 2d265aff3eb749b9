//! The loops of a server: one judges, one delivers.

use std::time::Duration;

use data_model::Observation;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::error::WatchError;
use crate::watches::Watches;

/// Live answers that wait to be judged; what comes beyond is not judged, and counted. The next release brings it.
const OBSERVATIONS_MAX: usize = 1_000;
/// The pause before what failed is tried again.
const AGAIN: Duration = Duration::from_secs(5);
/// Rounds of deliveries between two looks for events to forget.
const TIDY_ROUNDS: u32 = 3_600;
/// Events are kept for so long: longer than a product is new.
const KEPT_MS: i64 = 45 * 24 * 3_600_000;

/// Takes live answers on their way to watches. It never waits.
#[derive(Debug, Clone)]
pub struct ObservationSender(mpsc::Sender<Observation>);

/// Live answers that wait to be judged.
#[derive(Debug)]
pub struct ObservationReceiver(mpsc::Receiver<Observation>);

/// The way of live answers to watches.
#[must_use]
pub fn observation_channel() -> (ObservationSender, ObservationReceiver) {
    let (sender, receiver) = mpsc::channel(OBSERVATIONS_MAX);
    (ObservationSender(sender), ObservationReceiver(receiver))
}

impl ObservationSender {
    /// Takes one answer.
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
    /// Judges live answers until `stop`.
    pub async fn judge_observations(self, mut observations: ObservationReceiver, stop: CancellationToken) {
        while let Some(Some(observation)) = stop.run_until_cancelled(observations.0.recv()).await {
            if let Err(error) = self.judge_observation(&observation).await {
                warn(&error, "watches are not judged by a store's live answer");
            }
        }
    }

    /// Judges all watches, and again until that succeeds or `stop`.
    pub async fn judge_until_done(&self, stop: &CancellationToken) {
        loop {
            match stop.run_until_cancelled(self.judge()).await {
                Some(Err(error)) => warn(&error, "watches are not judged by the release"),
                Some(Ok(events)) => {
                    tracing::debug!(events, "watches are judged by the release");
                    return;
                }
                None => return,
            }
            if stop.run_until_cancelled(tokio::time::sleep(AGAIN)).await.is_none() {
                return;
            }
        }
    }

    /// Delivers events, and forgets old ones, until `stop`. An attempt that is under way then ends: it is bounded.
    pub async fn deliver(self, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(Duration::from_millis(self.0.config.poll_ms.max(10)));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut round = 0_u32;
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Err(error) = self.deliver_due().await {
                warn(&error, "events of watches are not delivered");
            }
            round = (round + 1) % TIDY_ROUNDS;
            if round == 1 {
                let oldest = self.0.clock.now().plus_millis(-KEPT_MS);
                if let Err(error) = self.0.state.purge_watch_events(oldest).await {
                    warn(&error.into(), "old events of watches are not forgotten");
                }
            }
        }
    }
}
