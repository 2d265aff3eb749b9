use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::SQLOptions;
use futures::{FutureExt, Stream, StreamExt};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::AbortHandle;

use crate::bounds::{Bounds, StartError};
use crate::encode::{Chunks, Encode, encode};
use crate::guard::{Stop, batch_bytes, guarded};
use crate::statement::Read;
use crate::tables::{Source, Tables, described};
use crate::{SqlConfig, SqlError};

/// Planning recurses over a statement; only what is used of it is taken.
const STACK_BYTES: usize = 256 << 20;
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
    /// Gone only while it is dropped.
    threads: Option<Runtime>,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take() {
            // A runtime that waits for its threads may not be dropped by a task of another one.
            threads.shutdown_background();
        }
    }
}

/// What a statement's task tells whoever waits for it.
enum Told {
    Begun { schema: SchemaRef, of: String },
    Rows(RecordBatch),
    Ended,
    Failed(SqlError),
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
        let threads = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(bounds.config.threads)
            .max_blocking_threads(bounds.config.threads * 4)
            .thread_name("sql")
            .thread_stack_size(STACK_BYTES)
            .on_thread_start(|| {
                // Where the system has no such thing, statements compete as equals.
                let _ = thread_priority::ThreadPriority::Min.set_for_current();
            })
            .enable_all()
            .build()
            .map_err(StartError::Threads)?;
        Ok(Self(Arc::new(Inner {
            places: Arc::new(Semaphore::new(bounds.config.concurrency_max)),
            waiting: AtomicUsize::new(0),
            threads: Some(threads),
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
        if let Some(threads) = &self.0.threads {
            threads.spawn(encode(answer, encoder, teller));
        }
        Chunks::of(told)
    }

    async fn begin(&self, question: Question, timeout_ms: u64, runs: bool) -> Result<Answer, SqlError> {
        let place = self.place().await?;
        let config = self.config();
        let timeout_ms = timeout_ms.min(config.timeout_ms);
        let stop = Arc::new(Stop::after(timeout_ms, config.memory_bytes_max));
        let (teller, told) = mpsc::channel(BATCHES_WAITING);
        let work = Work {
            bounds: self.0.bounds.clone(),
            source: Arc::clone(&self.0.source),
            stop: Arc::clone(&stop),
            teller,
            _place: place,
        };
        let threads = self.0.threads.as_ref().ok_or(SqlError::Internal)?;
        let task = threads.spawn(work.run(question, runs)).abort_handle();
        let late = Box::pin(tokio::time::sleep_until((stop.deadline() + GRACE).into()));
        let mut running = Running {
            told,
            stop,
            task,
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

/// What runs on the threads.
struct Work {
    bounds: Bounds,
    source: Arc<dyn Source>,
    stop: Arc<Stop>,
    teller: mpsc::Sender<Told>,
    /// Given back when the work has really ended, not when nobody waits for it.
    _place: OwnedSemaphorePermit,
}

impl Work {
    async fn run(self, question: Question, runs: bool) {
        let limit = self.stop.deadline().into();
        let ended = match tokio::time::timeout_at(limit, Box::pin(self.rows(&question, runs))).await {
            Ok(Ok(())) => Told::Ended,
            Ok(Err(error)) => Told::Failed(error),
            Err(_) => Told::Failed(self.stop.timed_out()),
        };
        // Whoever waited may have gone.
        let _ = self.teller.send(ended).await;
    }

    async fn rows(&self, question: &Question, runs: bool) -> Result<(), SqlError> {
        let tables = self.source.tables(question.as_of.as_deref()).await?;
        let read = Read::of(&question.statement)?;
        let planned = self.planned(&tables, read).await;
        let mut rows = planned.map_err(|error| self.told(&tables, &error))?;
        let begun = Told::Begun {
            schema: rows.schema(),
            of: tables.name.clone(),
        };
        if self.teller.send(begun).await.is_err() || !runs {
            return Ok(());
        }
        let config = &self.bounds.config;
        let (mut rows_left, mut bytes_left) = (config.rows_max, config.answer_bytes_max);
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(|error| self.told(&tables, &error))?;
            let too_much = || SqlError::Rows {
                rows_max: config.rows_max,
                bytes_max: config.answer_bytes_max,
            };
            rows_left = rows_left.checked_sub(batch.num_rows()).ok_or_else(too_much)?;
            let bytes = batch_bytes(&batch);
            bytes_left = bytes_left.checked_sub(bytes).ok_or_else(too_much)?;
            if batch.num_rows() > 0 && self.teller.send(Told::Rows(batch)).await.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn planned(&self, tables: &Tables, read: Read) -> Result<SendableRecordBatchStream, DataFusionError> {
        let session = &tables.context;
        let frame = match read {
            Read::Describe(table) => {
                let schema = session.table_provider(table.as_str()).await?.schema();
                session.read_batch(described(None, &schema)?)?
            }
            Read::Statement(statement) => {
                let plan = session.state().statement_to_plan(*statement).await?;
                let reads = SQLOptions::new()
                    .with_allow_ddl(false)
                    .with_allow_dml(false)
                    .with_allow_statements(false);
                reads.verify_plan(&plan)?;
                session.execute_logical_plan(plan).await?
            }
        };
        let context = Arc::new(frame.task_ctx());
        let plan = frame.create_physical_plan().await?;
        execute_stream(guarded(plan, &self.stop)?, context)
    }

    /// What an error of the engine means; where it names a table that is not there, those that are.
    fn told(&self, tables: &Tables, error: &DataFusionError) -> SqlError {
        let config = &self.bounds.config;
        let told = SqlError::of(error, config.memory_bytes_max, config.spill_bytes_max);
        match &told {
            SqlError::Invalid(words) if words.contains("table '") && words.contains("not found") => {
                let names: Vec<&str> = tables.schemas.keys().map(String::as_str).collect();
                SqlError::Invalid(format!("{words}; there are {}", names.join(", ")))
            }
            _ => told,
        }
    }
}
