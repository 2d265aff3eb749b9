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

/// Parts of an answer that wait for whoever reads them.
const PARTS_WAITING: usize = 2;

/// A statement, and the moment whose tables it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// One statement that reads.
    pub statement: String,
    /// A moment as RFC 3339, or the number of a tick; `None`: now.
    pub as_of: Option<String>,
}

/// Answers statements, within bounds; cheap to clone.
#[derive(Debug, Clone)]
pub struct SqlEngine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: SqlConfig,
    workers: IdleWorkers,
    /// One for each worker that there may be.
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// The end of a worker's answer.
enum Outcome {
    /// The worker may be asked again.
    Told(Result<(), SqlError>),
    /// It may not: it broke off, or goes on with work that nobody waits for.
    BrokeOff,
    TimeOver,
    NobodyWaits,
}

impl SqlEngine {
    /// No worker is started before the first statement.
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

    /// The bounds.
    #[must_use]
    pub fn config(&self) -> &SqlConfig {
        &self.0.config
    }

    /// Runs a statement. It may take `timeout_ms`, or less where the configuration says so; a failure is part of
    /// its answer.
    ///
    /// # Errors
    /// [`SqlError::Busy`]
    pub async fn query(&self, question: Question, format: Format, timeout_ms: u64) -> Result<Chunks, SqlError> {
        let Question { statement, as_of } = question;
        let asked = self.ask(Task::Rows { statement, format }, as_of, timeout_ms).await;
        asked.inspect_err(|error| count(error.reason()))
    }

    /// The same, as messages of `DoGet`.
    #[cfg(feature = "flight")]
    pub(crate) async fn flight_rows(&self, question: Question, timeout_ms: u64) -> Result<Chunks, SqlError> {
        let Question { statement, as_of } = question;
        let asked = self.ask(Task::FlightRows { statement }, as_of, timeout_ms).await;
        asked.inspect_err(|error| count(error.reason()))
    }

    /// The columns that a statement would answer with.
    #[cfg(feature = "flight")]
    pub(crate) async fn columns(&self, question: Question) -> Result<Vec<u8>, SqlError> {
        let Question { statement, as_of } = question;
        let asked = self.ask(Task::Columns { statement }, as_of, u64::MAX).await?;
        asked.whole().await
    }

    /// The tables as they are now, or as they were.
    #[cfg(feature = "flight")]
    pub(crate) async fn catalogue(&self, as_of: Option<&str>) -> Result<Vec<u8>, SqlError> {
        let asked = self.ask(Task::Catalogue, as_of.map(str::to_owned), u64::MAX).await?;
        asked.whole().await
    }

    /// Ends workers that read something else than statements read now, and starts others in their place.
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

    /// Answers a request by a worker of its own; the place is free when that worker can be asked again, or has ended.
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
        // The next of statements that wait starts its own.
        let spare = async {
            if self.0.waiting.load(Ordering::Relaxed) == 0 {
                workers.spare().await;
            }
        };
        tokio::join!(tell(&teller, told), spare);
    }

    /// A place among those that run; waited for in a short queue.
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

/// Passes a worker's answer on as it comes.
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

/// Sends the end of a statement to its receiver, where there still is one.
async fn tell(teller: &mpsc::Sender<Part>, ended: Result<(), SqlError>) {
    let _ = teller.send(ended.map(|()| None)).await;
}

/// One of those that wait.
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
