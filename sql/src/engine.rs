use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use futures::{FutureExt, Stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::AbortHandle;

use crate::bounds::{Bounds, StartError};
use crate::encode::{Chunks, Encode, encode};
use crate::guard::Stop;
use crate::planning::Planners;
use crate::tables::Source;
#[cfg(feature = "flight")]
use crate::tables::Tables;
use crate::threads::{Held, Pool, Threads};
use crate::work::{Told, Work};
use crate::{SqlConfig, SqlError};

/// Batches that wait for whoever reads them.
const BATCHES_WAITING: usize = 2;
/// How long the threads get to tell that the time is over, before it is told for them.
const GRACE: Duration = Duration::from_millis(500);

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

struct Inner {
    bounds: Bounds,
    source: Arc<dyn Source>,
    threads: Arc<Threads>,
    places: Arc<Semaphore>,
    planners: Planners,
    waiting: AtomicUsize,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// A statement's columns, and its rows as they are made. Dropping it ends the statement.
pub struct Answer {
    /// The columns.
    pub schema: SchemaRef,
    /// What the tables are of: a release, or a tick of the lake.
    pub of: String,
    running: Running,
}

/// A statement at work; it ends when this is dropped.
struct Running {
    told: mpsc::Receiver<Told>,
    stop: Arc<Stop>,
    task: AbortHandle,
    /// The threads that it runs on.
    pool: Arc<Pool>,
    late: Pin<Box<tokio::time::Sleep>>,
    ended: bool,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("of", &self.of).finish_non_exhaustive()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
    }
}

impl SqlEngine {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`StartError::Threads`]
    pub fn new(bounds: Bounds, source: Arc<dyn Source>) -> Result<Self, StartError> {
        let threads = Threads::start(&bounds.config).map_err(StartError::Threads)?;
        Ok(Self(Arc::new(Inner {
            places: Arc::new(Semaphore::new(bounds.config.concurrency_max)),
            planners: Planners::new(bounds.config.concurrency_max),
            waiting: AtomicUsize::new(0),
            threads: Arc::new(threads),
            bounds,
            source,
        })))
    }

    /// The bounds.
    #[must_use]
    pub fn config(&self) -> &SqlConfig {
        &self.0.bounds.config
    }

    /// The tables as they are now, or as they were.
    #[cfg(feature = "flight")]
    pub(crate) async fn tables(&self, as_of: Option<&str>) -> Result<Arc<Tables>, SqlError> {
        self.0.source.tables(as_of).await
    }

    /// Runs a statement, and answers as soon as its columns are known. It may take `timeout_ms`, or less where the
    /// configuration says so.
    ///
    /// # Errors
    /// [`SqlError`]; what fails later stands among the rows.
    pub async fn query(&self, question: Question, timeout_ms: u64) -> Result<Answer, SqlError> {
        let answered = self.begin(question, timeout_ms, true).await;
        if let Err(error) = &answered {
            count(error.reason());
        }
        answered
    }

    /// The columns that a statement would answer with.
    ///
    /// # Errors
    /// [`SqlError`]
    pub async fn columns(&self, question: Question) -> Result<SchemaRef, SqlError> {
        let begun = self.begin(question, self.config().timeout_ms, false).await?;
        Ok(Arc::clone(&begun.schema))
    }

    /// Writes an answer, on the threads of statements too.
    pub(crate) fn encoded(&self, answer: Answer, encoder: Box<dyn Encode>) -> Chunks {
        let (teller, told) = mpsc::channel(BATCHES_WAITING);
        let pool = Arc::clone(&answer.running.pool);
        pool.spawn(encode(answer, encoder, teller));
        Chunks::of(told)
    }

    async fn begin(&self, question: Question, timeout_ms: u64, runs: bool) -> Result<Answer, SqlError> {
        let place = self.place().await?;
        let config = self.config();
        let timeout_ms = timeout_ms.min(config.timeout_ms);
        let stop = Arc::new(Stop::after(timeout_ms, config.memory_bytes_max));
        let (teller, told) = mpsc::channel(BATCHES_WAITING);
        let (held, holding, ended) = Held::of(place);
        let pool = self.0.threads.current();
        let work = Work {
            bounds: self.0.bounds.clone(),
            source: Arc::clone(&self.0.source),
            planners: self.0.planners.clone(),
            stop: Arc::clone(&stop),
            teller,
            holding,
            pool: Arc::clone(&pool),
        };
        let task = pool.spawn(work.run(question, runs)).ok_or(SqlError::Internal)?;
        let overdue = stop.deadline() + GRACE;
        // Whoever asked may have gone by then.
        tokio::spawn({
            let (threads, pool) = (Arc::clone(&self.0.threads), Arc::clone(&pool));
            async move {
                if tokio::time::timeout_at(overdue.into(), ended).await.is_err() {
                    threads.leave(&held, &pool);
                }
            }
        });
        let late = Box::pin(tokio::time::sleep_until(overdue.into()));
        let mut running = Running {
            told,
            stop,
            task,
            pool,
            late,
            ended: false,
        };
        match std::future::poll_fn(|context| running.poll_told(context)).await {
            Ok(Told::Begun { schema, of }) => Ok(Answer { schema, of, running }),
            Ok(Told::Failed(error)) | Err(error) => Err(error),
            Ok(Told::Rows(_) | Told::Ended) => Err(SqlError::Internal),
        }
    }

    /// A place among those that run; waited for in a short queue.
    async fn place(&self) -> Result<OwnedSemaphorePermit, SqlError> {
        let inner = &self.0;
        if let Ok(place) = Arc::clone(&inner.places).try_acquire_owned() {
            return Ok(place);
        }
        let config = self.config();
        let queued = Queued::of(&inner.waiting);
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

/// One of those that wait.
struct Queued<'a> {
    waiting: &'a AtomicUsize,
    before: usize,
}

impl<'a> Queued<'a> {
    fn of(waiting: &'a AtomicUsize) -> Self {
        let before = waiting.fetch_add(1, Ordering::Relaxed);
        Self { waiting, before }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn count(outcome: &'static str) {
    metrics::counter!("sql_statements_total", "outcome" => outcome).increment(1);
}

impl Running {
    fn poll_told(&mut self, context: &mut Context<'_>) -> Poll<Result<Told, SqlError>> {
        if let Poll::Ready(told) = self.told.poll_recv(context) {
            // A task that panicked tells nothing.
            return Poll::Ready(told.ok_or(SqlError::Internal));
        }
        match self.late.poll_unpin(context) {
            Poll::Ready(()) => Poll::Ready(Err(self.stop.timed_out())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Stream for Answer {
    type Item = Result<RecordBatch, SqlError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.running.ended {
            return Poll::Ready(None);
        }
        let told = match self.running.poll_told(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(told) => told,
        };
        let item = match told {
            Ok(Told::Rows(batch)) => return Poll::Ready(Some(Ok(batch))),
            Ok(Told::Ended) => None,
            Ok(Told::Begun { .. }) => Some(Err(SqlError::Internal)),
            Ok(Told::Failed(error)) | Err(error) => Some(Err(error)),
        };
        self.running.ended = true;
        count(match &item {
            Some(Err(error)) => error.reason(),
            _ => "answered",
        });
        Poll::Ready(item)
    }
}
