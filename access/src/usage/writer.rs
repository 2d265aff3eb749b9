use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use state::{State, StateError, UsageBatch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{FAILURES, LOST, UsageMeter, WRITTEN};

/// Time for which the writer continues after its stop.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// Delay between two write attempts after the writer's stop.
const END_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) meter: Arc<UsageMeter>,
    pub(super) state: State,
    pub(super) interval: Duration,
    pub(super) stop: CancellationToken,
}

impl Writer {
    pub(super) async fn run(self) {
        let mut failing = false;
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                () = sleep(self.interval) => {}
            }
            match self.write().await {
                Ok(()) if failing => {
                    failing = false;
                    tracing::info!("the usage of keys can be written again");
                }
                Ok(()) => {}
                Err(error) if !failing => {
                    failing = true;
                    let error: &dyn Error = &error;
                    tracing::warn!(
                        error,
                        "the usage of keys could not be written: it is kept and sent again"
                    );
                }
                Err(_) => {}
            }
        }
        let ending = async {
            while self.write().await.is_err() || self.meter.counts.is_any() {
                sleep(END_PAUSE).await;
            }
        };
        if timeout(END_TIMEOUT, ending).await.is_err() {
            self.give_up();
        }
    }

    /// Writes the batch that is not written yet, or else the counts since the last batch.
    async fn write(&self) -> Result<(), StateError> {
        let _moving = self.meter.moving.write().await;
        let waiting = self.meter.unwritten().clone();
        let batch = waiting.unwrap_or_else(|| {
            let batch = Arc::new(UsageBatch::new(self.meter.counts.take()));
            *self.meter.unwritten() = Some(Arc::clone(&batch));
            batch
        });
        if let Err(error) = self.state.add_usage(&batch).await {
            metrics::counter!(FAILURES).increment(1);
            return Err(error);
        }
        metrics::counter!(WRITTEN).increment(requests(&batch));
        *self.meter.unwritten() = None;
        Ok(())
    }

    fn give_up(&self) {
        let waiting = self.meter.unwritten().take();
        let counted = UsageBatch::new(self.meter.counts.take());
        let lost = waiting.map_or(0, |batch| requests(&batch)) + requests(&counted);
        if lost > 0 {
            metrics::counter!(LOST).increment(lost);
            tracing::error!(requests = lost, "the usage of keys could not be written and is lost");
        }
    }
}

fn requests(batch: &UsageBatch) -> u64 {
    batch.entries().iter().map(|entry| entry.requests).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use api::{Allowance, CallerId, KnownCaller, Meter, Via};
    use data_model::TimeZone;
    use kit::SetClock;
    use metrics_exporter_prometheus::PrometheusBuilder;
    use state::{KeyId, NewKey, StateTarget};

    use super::*;
    use crate::config::AccessConfig;

    async fn writer() -> (Writer, KnownCaller, KeyId) {
        let state = State::open(&StateTarget::Memory).await.unwrap();
        let new = NewKey {
            name: "App".parse().unwrap(),
            plan: state::Plan::Free,
            account: None,
        };
        let actor = state::Actor::Operator("cli".to_owned());
        let clock = SetClock::noon();
        let key = state.create_key(new, &actor, kit::NOON.parse().unwrap()).await.unwrap();
        let id = key.record.id;
        let caller = KnownCaller {
            id: CallerId::key(id.as_str()),
            via: Via::Key {
                id: id.as_str().into(),
                plan: "free",
            },
            allowance: Arc::new(Allowance::unlimited()),
        };
        let stop = CancellationToken::new();
        let (meter, _writing) = UsageMeter::start(
            state.clone(),
            clock,
            TimeZone::UTC,
            &AccessConfig::default(),
            stop.clone(),
        );
        let writer = Writer {
            meter,
            state,
            interval: Duration::from_secs(1),
            stop,
        };
        (writer, caller, id)
    }

    async fn written(writer: &Writer, key: &KeyId) -> u64 {
        let today = writer.meter.today();
        let usage = writer.state.usage_of_key(key, today, today).await.unwrap();
        usage.iter().map(|row| row.requests).sum()
    }

    #[tokio::test]
    async fn a_batch_that_arrived_though_its_answer_was_lost_counts_once() {
        let (writer, caller, key) = writer().await;
        writer.meter.count(&caller, "/v1/search");
        let sent = Arc::new(UsageBatch::new(writer.meter.counts.take()));
        *writer.meter.unwritten() = Some(Arc::clone(&sent));
        writer.state.add_usage(&sent).await.unwrap();
        writer.meter.count(&caller, "/v1/search");
        writer.write().await.unwrap();
        assert_eq!(written(&writer, &key).await, 1);
        writer.write().await.unwrap();
        assert_eq!(written(&writer, &key).await, 2);
    }

    #[tokio::test]
    async fn what_was_not_taken_is_sent_again_as_it_was() {
        let (writer, caller, _) = writer().await;
        writer.state.close().await;
        writer.meter.count(&caller, "/v1/search");
        writer.write().await.unwrap_err();
        let first = writer.meter.unwritten().clone().unwrap();
        writer.meter.count(&caller, "/v1/search");
        writer.write().await.unwrap_err();
        let second = writer.meter.unwritten().clone().unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(requests(&second), 1);
    }

    #[tokio::test]
    async fn what_is_given_up_in_the_end_is_told() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let _recorded = metrics::set_default_local_recorder(&recorder);
        let (writer, caller, _) = writer().await;
        writer.state.close().await;
        writer.meter.count(&caller, "/v1/search");
        writer.write().await.unwrap_err();
        writer.meter.count(&caller, "/v1/search");
        writer.meter.count(&caller, "/v1/browse");
        writer.give_up();
        let text = recorder.handle().render();
        assert!(text.contains("usage_lost_total 3"), "{text}");
    }
}
