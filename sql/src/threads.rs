//! The threads that run statements. What a function does within one batch cannot be interrupted: where a statement goes on after
//! its time, its threads are left to it, and others take their place for all that come after.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::SqlConfig;
use crate::planning::SPARE_PLANNERS;

/// Reading and planning recurse over a statement; only what is used of it is taken.
const STACK_BYTES: usize = 256 << 20;

/// How many statements may go on after their time before their places stay taken.
pub(crate) const ABANDONED_MAX: usize = 4;

/// Counts those.
const ABANDONED: &str = "sql_statements_abandoned";

/// A set of threads; it ends with the last statement that runs on it.
pub(crate) struct Pool(Option<Runtime>);

impl Pool {
    fn start(config: &SqlConfig) -> std::io::Result<Arc<Self>> {
        let threads = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(config.threads)
            // What is spilled is written and read by some of these.
            .max_blocking_threads(config.threads * 4 + config.concurrency_max + SPARE_PLANNERS)
            .thread_name("sql")
            .thread_stack_size(STACK_BYTES)
            // A thread that planned a deep statement keeps what it touched of its stack until it ends.
            .thread_keep_alive(Duration::from_millis(10))
            .on_thread_start(yield_to_all)
            .enable_all()
            .build()?;
        Ok(Arc::new(Self(Some(threads))))
    }

    /// Runs a task; `None` only while the pool ends.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Option<tokio::task::AbortHandle> {
        Some(self.0.as_ref()?.spawn(task).abort_handle())
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pool")
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(threads) = self.0.take() {
            // A runtime that waits for its threads may not be dropped by a task, of another one or its own.
            threads.shutdown_background();
        }
    }
}

/// The pool that statements run on now.
#[derive(Debug)]
pub(crate) struct Threads {
    config: Arc<SqlConfig>,
    current: Mutex<Arc<Pool>>,
    abandoned: Arc<AtomicUsize>,
}

impl Threads {
    pub(crate) fn start(config: &Arc<SqlConfig>) -> std::io::Result<Self> {
        metrics::describe_gauge!(
            ABANDONED,
            "Statements that go on after their time, since nothing can interrupt them"
        );
        metrics::gauge!(ABANDONED).set(0.0);
        Ok(Self {
            config: Arc::clone(config),
            current: Mutex::new(Pool::start(config)?),
            abandoned: Arc::default(),
        })
    }

    pub(crate) fn current(&self) -> Arc<Pool> {
        Arc::clone(&unpoisoned(&self.current))
    }

    /// Takes note that a statement has not ended long after its time: its place becomes free, and what comes next runs on other
    /// threads. Where too many go on already its place stays taken.
    pub(crate) fn leave(&self, held: &Held, pool: &Arc<Pool>) {
        let mut slot = unpoisoned(&held.0);
        let (Slot::Place(_), Some(abandoned)) = (&*slot, Abandoned::one_more(&self.abandoned)) else {
            return;
        };
        tracing::warn!("a statement goes on after its time, and its threads are left to it");
        let mut current = unpoisoned(&self.current);
        if Arc::ptr_eq(&current, pool) {
            match Pool::start(&self.config) {
                Ok(other) => *current = other,
                Err(error) => tracing::warn!(%error, "no other threads for statements can be started"),
            }
        }
        drop(current);
        // Last: whoever gets the place asks for the threads then.
        *slot = Slot::Abandoned(abandoned);
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a statement holds while it runs.
#[derive(Debug)]
enum Slot {
    Place(#[expect(dead_code, reason = "given back when it is dropped")] OwnedSemaphorePermit),
    Abandoned(#[expect(dead_code, reason = "counted down when it is dropped")] Abandoned),
    Ended,
}

/// A statement's place among those that run, as its task and whoever watches it see it.
#[derive(Debug, Clone)]
pub(crate) struct Held(Arc<Mutex<Slot>>);

impl Held {
    /// The place as its watcher sees it, what the task holds, and what tells the watcher that the task has ended.
    pub(crate) fn of(place: OwnedSemaphorePermit) -> (Self, Holding, oneshot::Receiver<()>) {
        let held = Self(Arc::new(Mutex::new(Slot::Place(place))));
        let (teller, ended) = oneshot::channel();
        let holding = Holding {
            held: held.clone(),
            _teller: teller,
        };
        (held, holding, ended)
    }
}

/// The task's side: the place is free when its rows have really ended, not when nobody waits for them.
#[derive(Debug)]
pub(crate) struct Holding {
    held: Held,
    _teller: oneshot::Sender<()>,
}

impl Drop for Holding {
    fn drop(&mut self) {
        *unpoisoned(&self.held.0) = Slot::Ended;
    }
}

/// Counts itself among the abandoned statements.
#[derive(Debug)]
struct Abandoned(Arc<AtomicUsize>);

impl Abandoned {
    fn one_more(count: &Arc<AtomicUsize>) -> Option<Self> {
        let add = |count| (count < ABANDONED_MAX).then_some(count + 1);
        count.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).ok()?;
        metrics::gauge!(ABANDONED).increment(1.0);
        Some(Self(Arc::clone(count)))
    }
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
        metrics::gauge!(ABANDONED).decrement(1.0);
    }
}

/// Runs this thread only while no other thread wants to. Where the system has no such thing, statements compete as equals.
fn yield_to_all() {
    let _ = thread_priority::ThreadPriority::Min.set_for_current();
    // Beyond the lowest priority: what wakes up on a core that only does this is run there at once.
    #[cfg(target_os = "linux")]
    let _ = thread_priority::unix::set_thread_priority_and_policy(
        thread_priority::unix::thread_native_id(),
        thread_priority::ThreadPriority::Min,
        thread_priority::unix::ThreadSchedulePolicy::Normal(thread_priority::unix::NormalThreadSchedulePolicy::Idle),
    );
}
