use std::sync::Mutex;
use std::time::Duration;

use api::Problem;
use data_model::ErrorCode;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How long searches may wait for each other before that is no burst but more than the server can do.
const BURST: Duration = Duration::from_millis(50);
/// Searches that run at the same time beside the others because they wait for an embedder.
const OUTSIDE_MAX: usize = 32;

/// How many searches run, and how many wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// Run where requests are answered.
    pub(crate) here_max: usize,
    /// Run on threads of their own.
    pub(crate) beside_max: usize,
    /// Wait in a burst.
    pub(crate) burst_max: usize,
    /// Wait when there has been a queue for longer than a burst lasts.
    pub(crate) standing_max: usize,
}

/// Runs searches, a few at a time. The first ones run where their requests are answered, which is fastest; when that
/// would leave no thread to accept, probe and refuse, the next ones run beside. While those places are taken too, a
/// burst may wait for its turn. A queue that does not end is no burst: it would only make every answer late, so as long
/// as it lasts few may wait, and the others are refused at once.
#[derive(Debug)]
pub(crate) struct Searches {
    here: Semaphore,
    beside: Semaphore,
    outside: Semaphore,
    queue: Queue,
}

impl Searches {
    pub(crate) fn new(places: Places) -> Self {
        let here = Semaphore::new(places.here_max.min(Semaphore::MAX_PERMITS));
        let beside = Semaphore::new(places.beside_max.clamp(1, Semaphore::MAX_PERMITS));
        Self {
            here,
            beside,
            outside: Semaphore::new(OUTSIDE_MAX),
            queue: Queue::new(places.burst_max, places.standing_max),
        }
    }

    /// Runs `search` when there is a place.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        if let Ok(_here) = self.here.try_acquire() {
            return Ok(search());
        }
        let place = match self.beside.try_acquire() {
            Ok(place) => place,
            Err(_) => {
                let _waiting = self.queue.enter()?;
                // The semaphore is never closed.
                let place = self.beside.acquire().await;
                place.map_err(|_| Problem::new(ErrorCode::Internal))?
            }
        };
        let found = beside(search).await;
        drop(place);
        found
    }

    /// Runs a `search` that waits for something other than the processor: it takes no place of those that do not, and
    /// never runs where requests are answered.
    pub(crate) async fn run_outside<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let outside = self.outside.try_acquire();
        let _place = outside.map_err(|_| Problem::new(ErrorCode::Overloaded))?;
        beside(search).await
    }
}

async fn beside<T: Send + 'static>(search: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(search).await.map_err(|error| {
        tracing::error!(%error, "a search did not end");
        Problem::new(ErrorCode::Internal)
    })
}

/// Who waits. Only requests that find every place taken come here.
#[derive(Debug)]
struct Queue {
    state: Mutex<QueueState>,
    burst_max: usize,
    standing_max: usize,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: usize,
    /// Since when there has been a queue, short breaks in it left out.
    since: Option<Instant>,
    /// When it was last left empty.
    emptied: Option<Instant>,
}

impl Queue {
    const fn new(burst_max: usize, standing_max: usize) -> Self {
        let state = QueueState {
            waiting: 0,
            since: None,
            emptied: None,
        };
        Self {
            state: Mutex::new(state),
            burst_max,
            standing_max,
        }
    }

    fn enter(&self) -> Result<Waiting<'_>, Problem> {
        let now = Instant::now();
        let mut state = self.state();
        let ended = state.waiting == 0 && state.emptied.is_none_or(|emptied| now - emptied > BURST);
        let since = if ended { now } else { state.since.unwrap_or(now) };
        state.since = Some(since);
        let max = if now - since > BURST {
            self.standing_max
        } else {
            self.burst_max
        };
        if state.waiting >= max {
            return Err(Problem::new(ErrorCode::Overloaded));
        }
        state.waiting += 1;
        Ok(Waiting(self))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, QueueState> {
        // Each change of it is whole before anything could panic.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// One request that waits; it leaves the queue too when its client goes away.
#[derive(Debug)]
struct Waiting<'a>(&'a Queue);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.waiting = state.waiting.saturating_sub(1);
        if state.waiting == 0 {
            state.emptied = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    #[tokio::test]
    async fn one_search_too_many_is_refused_at_once() {
        let searches = Arc::new(Searches::new(Places {
            here_max: 0,
            beside_max: 1,
            burst_max: 1,
            standing_max: 1,
        }));
        let (go, gone) = mpsc::channel::<()>();
        let (started, begun) = tokio::sync::oneshot::channel();
        let first = tokio::spawn({
            let searches = Arc::clone(&searches);
            async move {
                let search = move || {
                    started.send(()).unwrap();
                    gone.recv().unwrap();
                    1
                };
                searches.run(search).await
            }
        });
        begun.await.unwrap();
        let mut second = Box::pin(searches.run(|| 2));
        assert!(futures::poll!(&mut second).is_pending());
        assert_eq!(searches.run(|| 3).await.unwrap_err().code(), ErrorCode::Overloaded);
        assert_eq!(searches.run_outside(|| 4).await.unwrap(), 4);
        go.send(()).unwrap();
        assert_eq!((first.await.unwrap().unwrap(), second.await.unwrap()), (1, 2));
        assert_eq!(searches.run(|| 5).await.unwrap(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_may_wait_and_a_queue_that_does_not_end_may_not() {
        let queue = Queue::new(3, 1);
        let step = BURST / 2;
        let mut waiting: Vec<_> = (0..3).map(|_| queue.enter().unwrap()).collect();
        assert_eq!(queue.enter().unwrap_err().code(), ErrorCode::Overloaded);
        tokio::time::advance(step).await;
        // The burst is served, and goes on.
        waiting.pop();
        waiting.push(queue.enter().unwrap());
        tokio::time::advance(step * 2).await;
        waiting.pop();
        assert!(queue.enter().is_err());
        waiting.clear();
        // A break that is shorter than a burst does not end the queue: one may wait, no more.
        let one = queue.enter().unwrap();
        assert!(queue.enter().is_err());
        drop(one);
        tokio::time::advance(step * 3).await;
        let again: Vec<_> = (0..3).map(|_| queue.enter()).collect();
        assert!(again.iter().all(Result::is_ok));
    }
}
