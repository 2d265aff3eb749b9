use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;

use crate::bounds::StartError;
use crate::encode::{Chunks, Format, Part, count};
use crate::wire::{Reply, Request, Task};
use crate::workers::{IdleWorkers, Worker, Workers, broken};
use crate::{SqlConfig, SqlError};

/// Number of answer parts that are buffered for the receiver.
const PARTS_WAITING: usize = 2;

/// Statement and the point in time of the tables that it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// One statement that only reads.
    pub statement: String,
    /// RFC 3339 timestamp or tick number of the tables to read; `None` reads the current tables.
    pub as_of: Option<String>,
}

/// Runs statements within limits of time, memory and disk space. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct SqlEngine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: SqlConfig,
    workers: IdleWorkers,
    /// Semaphore with a permit for each worker that may run at the same time.
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Outcome of a worker's response.
enum Outcome {
    /// The worker completed its answer or reported an error, and can take another request.
    Told(Result<(), SqlError>),
    /// The connection to the worker broke off, so the worker cannot take another request.
    BrokeOff,
    TimeOver,
    NobodyWaits,
}

impl SqlEngine {
    /// Creates an engine. The first statement starts the first worker.
    ///
    /// # Errors
    /// [`StartError::Config`] or [`StartError::Spill`]
    pub fn new(config: &SqlConfig, workers: Arc<dyn Workers>) -> Result<Self, StartError> {
        config.check()?;
        Ok(Self(Arc::new(Inner {
            config: config.clone(),
            workers: IdleWorkers::new(config, workers)?,
            places: Arc::new(Semaphore::new(config.concurrency_max)),
            waiting: AtomicUsize::new(0),
        })))
    }

    /// Returns the configuration, which contains all limits.
    #[must_use]
    pub fn config(&self) -> &SqlConfig {
        &self.0.config
    }

    /// Runs a statement for at most `timeout_ms`, or less if the configured timeout is lower. The returned chunks
    /// report an error of the statement itself.
    ///
    /// # Errors
    /// [`SqlError::Busy`]
    pub async fn query(&self, question: Question, format: Format, timeout_ms: u64) -> Result<Chunks, SqlError> {
        let Question { statement, as_of } = question;
        let asked = self.ask(Task::Rows { statement, format }, as_of, timeout_ms).await;
        asked.inspect_err(|error| count(error.reason()))
    }

    /// Runs a statement like `query`, with the answer as `DoGet` messages of Arrow Flight.
    #[cfg(feature = "flight")]
    pub(crate) async fn flight_rows(&self, question: Question, timeout_ms: u64) -> Result<Chunks, SqlError> {
        let Question { statement, as_of } = question;
        let asked = self.ask(Task::FlightRows { statement }, as_of, timeout_ms).await;
        asked.inspect_err(|error| count(error.reason()))
    }

    /// Returns the columns of a statement's result without running the statement.
    #[cfg(feature = "flight")]
    pub(crate) async fn columns(&self, question: Question) -> Result<Vec<u8>, SqlError> {
        let Question { statement, as_of } = question;
        let asked = self.ask(Task::Columns { statement }, as_of, u64::MAX).await?;
        asked.whole().await
    }

    /// Returns the list of tables, current or at the time `as_of`.
    #[cfg(feature = "flight")]
    pub(crate) async fn catalogue(&self, as_of: Option<&str>) -> Result<Vec<u8>, SqlError> {
        let asked = self.ask(Task::Catalogue, as_of.map(str::to_owned), u64::MAX).await?;
        asked.whole().await
    }

    /// Ends idle workers whose tables are outdated, and starts replacements.
    pub async fn renew(&self) {
        while let Some(worker) = self.0.workers.outdated() {
            worker.end().await;
            self.0.workers.spare().await;
        }
    }

    async fn ask(&self, task: Task, as_of: Option<String>, timeout_ms: u64) -> Result<Chunks, SqlError> {
        let place = self.place().await?;
        let timeout_ms = timeout_ms.min(self.config().timeout_ms);
        let request = Request {
            task,
            as_of,
            timeout_ms,
        };
        let (teller, told) = mpsc::channel(PARTS_WAITING);
        tokio::spawn(self.clone().answer(place, request, teller));
        Ok(Chunks::of(told))
    }

    /// Answers a request with one worker. The permit is released when the worker is idle again or has ended.
    async fn answer(self, place: OwnedSemaphorePermit, request: Request, teller: mpsc::Sender<Part>) {
        let workers = &self.0.workers;
        let deadline = Instant::now() + Duration::from_millis(request.timeout_ms);
        let mut worker = match workers.take().await {
            Ok(worker) => worker,
            Err(error) => return tell(&teller, Err(error)).await,
        };
        let answered = tokio::select! {
            answered = pass(&mut worker, &request, &teller) => answered,
            () = tokio::time::sleep_until(deadline) => Outcome::TimeOver,
            () = teller.closed() => Outcome::NobodyWaits,
        };
        let told = match answered {
            Outcome::Told(told) if !told.as_ref().is_err_and(SqlError::wears_out) => {
                workers.keep(worker);
                drop(place);
                return tell(&teller, told).await;
            }
            Outcome::Told(told) => {
                worker.end().await;
                told
            }
            Outcome::BrokeOff => Err(match worker.lacked_memory().await {
                true => SqlError::Memory {
                    bytes_max: self.config().memory_bytes_max / self.config().concurrency_max,
                },
                false => broken(&std::io::ErrorKind::BrokenPipe.into()),
            }),
            Outcome::TimeOver | Outcome::NobodyWaits => {
                worker.end().await;
                Err(SqlError::Time {
                    timeout_ms: request.timeout_ms,
                })
            }
        };
        drop(place);
        // If statements wait, the next one starts a worker itself.
        let spare = async {
            if self.0.waiting.load(Ordering::Relaxed) == 0 {
                workers.spare().await;
            }
        };
        tokio::join!(tell(&teller, told), spare);
    }

    /// Acquires a permit to run a statement. If none is free, it waits in a short queue.
    async fn place(&self) -> Result<OwnedSemaphorePermit, SqlError> {
        let inner = &self.0;
        if let Ok(place) = Arc::clone(&inner.places).try_acquire_owned() {
            return Ok(place);
        }
        let config = self.config();
        let queued = QueuePlace::of(&inner.waiting);
        if queued.before >= config.waiting_max {
            return Err(SqlError::Busy);
        }
        let free = Arc::clone(&inner.places).acquire_owned();
        match tokio::time::timeout(Duration::from_millis(config.wait_ms), free).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(SqlError::Busy),
        }
    }
}

/// Forwards the parts of a worker's answer as they arrive.
async fn pass(worker: &mut Worker, request: &Request, teller: &mpsc::Sender<Part>) -> Outcome {
    if worker.ask(request).await.is_err() {
        return Outcome::BrokeOff;
    }
    loop {
        match worker.told().await {
            Ok(Reply::Piece(bytes)) => {
                if teller.send(Ok(Some(bytes))).await.is_err() {
                    return Outcome::NobodyWaits;
                }
            }
            Ok(Reply::Ended) => return Outcome::Told(Ok(())),
            Ok(Reply::Failed(error)) => return Outcome::Told(Err(error)),
            Err(_) => return Outcome::BrokeOff,
        }
    }
}

/// Reports the end of a statement to its receiver, which may be gone.
async fn tell(teller: &mpsc::Sender<Part>, ended: Result<(), SqlError>) {
    let _ = teller.send(ended.map(|()| None)).await;
}

/// Place of a waiting statement in the queue.
struct QueuePlace<'a> {
    waiting: &'a AtomicUsize,
    before: usize,
}

impl<'a> QueuePlace<'a> {
    fn of(waiting: &'a AtomicUsize) -> Self {
        let before = waiting.fetch_add(1, Ordering::Relaxed);
        Self { waiting, before }
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
