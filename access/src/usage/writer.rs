use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use state::{State, StateError, UsageBatch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{FAILURES, LOST, UsageMeter, WRITTEN};

/// How long the writer goes on after it was stopped.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause before it asks the state again then.
const END_PAUSE: Duration = Duration::from_millis(100);

/// Writes what a meter counted.
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
                    tracing::info!("what keys are used for is written again");
                }
                Ok(()) => {}
                Err(error) if !failing => {
                    failing = true;
                    let error: &dyn Error = &error;
                    tracing::warn!(
                        error,
                        "what keys are used for cannot be written: it is kept and sent again"
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

    /// Writes what waits to be written, else what was counted since.
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
            tracing::error!(
                requests = lost,
                "what keys were used for could not be written and is lost"
            );
        }
    }
}

fn requests(batch: &UsageBatch) -> u64 {
    batch.entries().iter().map(|entry| entry.requests).sum()
}
