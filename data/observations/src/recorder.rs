//! Collects observations and writes them in the background, one file per batch.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_model::{Clock, Observation};
use data_storage::{ObjectPath, Storage, put_new};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::ObservationsConfig;
use crate::files::{PREFIX, path_at};
use crate::format::{OBSERVATIONS_MAX, PackedFile, is_sound, pack};

/// Number of attempts to put a file before its observations are lost.
const PUTS_MAX: u32 = 4;
const PUT_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after the first failed put. Each later pause is four times as long as the previous one.
const PAUSE: Duration = Duration::from_millis(100);
/// Time for which the writer continues after it was cancelled.
const END_TIMEOUT: Duration = Duration::from_secs(10);

const RECORDED: &str = "observations_recorded_total";
const LOST: &str = "observations_lost_total";
const BATCHES: &str = "observations_batches_total";

#[derive(Debug, Clone, Copy)]
enum LossReason {
    QueueFull,
    Stopped,
    /// The observation has too many variants or a negative amount.
    NotSound,
    PutFailed,
}

impl LossReason {
    const ALL: [Self; 4] = [Self::QueueFull, Self::Stopped, Self::NotSound, Self::PutFailed];

    const fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::Stopped => "stopped",
            Self::NotSound => "not_sound",
            Self::PutFailed => "put_failed",
        }
    }

    fn count(self, observations: usize) {
        metrics::counter!(LOST, "reason" => self.as_str()).increment(observations as u64);
    }
}

/// Records observations. Cloning is cheap, and all clones feed one writer.
#[derive(Debug, Clone)]
pub struct Recorder {
    queue: mpsc::Sender<Observation>,
}

impl Recorder {
    /// Creates a recorder and the future of its writer, which the caller must run. The writer ends when it is cancelled
    /// or when the last clone of the recorder is dropped. Before that, it writes the recorded observations, for at most
    /// ten seconds.
    ///
    /// Metrics: `observations_recorded_total` (in storage), `observations_batches_total` (files), and
    /// `observations_lost_total{reason}` (`queue_full`, `stopped`, `not_sound`, `put_failed`).
    pub fn start(
        storage: &Storage,
        clock: Arc<dyn Clock>,
        config: &ObservationsConfig,
        cancel: CancellationToken,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        describe();
        let (queue, recorded) = mpsc::channel(config.queue_max.clamp(1, tokio::sync::Semaphore::MAX_PERMITS));
        let writer = Writer {
            storage: storage.child(PREFIX),
            clock,
            batch_max: config.batch_max.clamp(1, OBSERVATIONS_MAX),
            flush_interval: Duration::from_millis(config.flush_interval_ms),
            cancel,
        };
        (Self { queue }, writer.run(recorded))
    }

    /// Passes an observation to the writer without waiting. If the queue is full or the writer has ended, the
    /// observation is lost and counted.
    pub fn record(&self, observation: Observation) {
        if !is_sound(&observation) {
            LossReason::NotSound.count(1);
            return;
        }
        match self.queue.try_send(observation) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => LossReason::QueueFull.count(1),
            Err(TrySendError::Closed(_)) => LossReason::Stopped.count(1),
        }
    }
}

fn describe() {
    metrics::describe_counter!(
        RECORDED,
        "Number of live observations that were written to storage for the lake"
    );
    metrics::describe_counter!(BATCHES, "Number of files of live observations that were written");
    metrics::describe_counter!(LOST, "Number of live observations that were lost, by reason");
    metrics::counter!(RECORDED).increment(0);
    metrics::counter!(BATCHES).increment(0);
    LossReason::ALL.into_iter().for_each(|lost| lost.count(0));
}

#[derive(Debug)]
struct Writer {
    storage: Storage,
    clock: Arc<dyn Clock>,
    batch_max: usize,
    flush_interval: Duration,
    cancel: CancellationToken,
}

impl Writer {
    async fn run(self, mut recorded: mpsc::Receiver<Observation>) {
        loop {
            let first = tokio::select! {
                biased;
                () = self.cancel.cancelled() => break,
                first = recorded.recv() => first,
            };
            // All recorders were dropped.
            let Some(first) = first else { return };
            let batch = self.gather(first, &mut recorded).await;
            // A put that still hangs some time after the writer was cancelled is abandoned.
            let cancelled = async {
                self.cancel.cancelled().await;
                sleep(END_TIMEOUT).await;
            };
            let observations = batch.len();
            tokio::select! {
                biased;
                () = self.write(batch) => {}
                () = cancelled => LossReason::PutFailed.count(observations),
            }
        }
        recorded.close();
        let until = Instant::now() + END_TIMEOUT;
        loop {
            let mut batch = Vec::new();
            if recorded.recv_many(&mut batch, self.batch_max).await == 0 {
                return;
            }
            let observations = batch.len();
            if timeout_at(until, self.write(batch)).await.is_err() {
                LossReason::PutFailed.count(observations);
            }
        }
    }

    /// Waits for more observations until the batch is full or the flush interval has passed.
    async fn gather(&self, first: Observation, recorded: &mut mpsc::Receiver<Observation>) -> Vec<Observation> {
        let mut batch = vec![first];
        let due = sleep_until(Instant::now() + self.flush_interval);
        tokio::pin!(due);
        while batch.len() < self.batch_max {
            let room = self.batch_max - batch.len();
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => break,
                () = &mut due => break,
                more = recorded.recv_many(&mut batch, room) => if more == 0 { break },
            }
        }
        batch
    }

    async fn write(&self, batch: Vec<Observation>) {
        let observations = batch.len();
        let packed = tokio::task::spawn_blocking(move || pack(&batch)).await;
        let files = match packed {
            Ok(Ok(files)) => files,
            Ok(Err(error)) => return unwritten(observations, &error),
            Err(error) => return unwritten(observations, &error),
        };
        for PackedFile { bytes, observations } in files {
            let path = path_at(self.clock.now(), Uuid::new_v4());
            match self.put(&path, bytes.into()).await {
                Ok(()) => {
                    metrics::counter!(RECORDED).increment(observations as u64);
                    metrics::counter!(BATCHES).increment(1);
                }
                Err(error) => unwritten(observations, &*error),
            }
        }
    }

    /// Puts a file under a unique name. If the file already exists, an earlier put succeeded and its response was lost.
    async fn put(&self, path: &ObjectPath, bytes: Bytes) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut pause = PAUSE;
        let mut puts = 1;
        loop {
            let put = timeout_at(
                Instant::now() + PUT_TIMEOUT,
                put_new(&self.storage, path, bytes.clone()),
            )
            .await;
            let error: Box<dyn std::error::Error + Send + Sync> = match put {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) => error.into(),
                Err(elapsed) => elapsed.into(),
            };
            if puts == PUTS_MAX {
                return Err(error);
            }
            tracing::debug!(%path, error = &*error as &dyn std::error::Error, "writing a file of observations is retried");
            sleep(pause).await;
            (pause, puts) = (pause * 4, puts + 1);
        }
    }
}

fn unwritten(observations: usize, error: &(dyn std::error::Error + 'static)) {
    tracing::warn!(
        observations,
        error,
        "live observations are lost because they could not be written"
    );
    LossReason::PutFailed.count(observations);
}
