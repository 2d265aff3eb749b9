use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::error::OperationError;

/// An overload is over once nobody has waited for this long.
const CALM: Duration = Duration::from_millis(50);
/// The longest time that an overload is taken for granted; then it must show itself again.
const OVERLOAD: Duration = Duration::from_secs(10);
/// Searches that run at the same time beside the others because they wait for an embedder.
const OUTSIDE_MAX: usize = 32;

/// The bounds of searches that run and that wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// Run where requests are answered.
    pub(crate) here_max: usize,
    /// Run on threads of their own.
    pub(crate) beside_max: usize,
    /// Wait; one more is an overload.
    pub(crate) waiting_max: usize,
    /// Wait during an overload.
    pub(crate) overload_waiting_max: usize,
}

/// Runs searches, a few at a time. The first ones run where their requests are answered, which is fastest; when that
/// would leave no thread to accept, probe and refuse, the next ones run beside. While those places are taken too, others
/// wait for their turn. When so many wait that one must be refused, a long queue would only make every answer late: until
/// that is over few may wait, so that what is accepted is answered in time, and the others are refused at once.
#[derive(Debug)]
pub(crate) struct Searches {
    here: Semaphore,
    beside: Arc<Semaphore>,
    outside: Arc<Semaphore>,
    queue: Queue,
}

impl Searches {
    pub(crate) fn new(places: Places) -> Self {
        let here = Semaphore::new(places.here_max.min(Semaphore::MAX_PERMITS));
        let beside = Semaphore::new(places.beside_max.clamp(1, Semaphore::MAX_PERMITS));
        Self {
            here,
            beside: Arc::new(beside),
            outside: Arc::new(Semaphore::new(OUTSIDE_MAX)),
            queue: Queue::new(places.waiting_max, places.overload_waiting_max),
        }
    }

    /// Runs `search` when there is a place.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        if let Ok(_here) = self.here.try_acquire() {
            return Ok(search());
        }
        let place = match Arc::clone(&self.beside).try_acquire_owned() {
            Ok(place) => place,
            Err(_) => {
                let _waiting = self.queue.enter()?;
                // The semaphore is never closed.
                let place = Arc::clone(&self.beside).acquire_owned().await;
                place.map_err(|_| OperationError::Internal)?
            }
        };
        beside(place, search).await
    }

    /// Runs a `search` that waits for something other than the processor: it takes no place of those that do not, and
    /// never runs where requests are answered.
    pub(crate) async fn run_outside<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let outside = Arc::clone(&self.outside).try_acquire_owned();
        let place = outside.map_err(|_| OperationError::Overloaded)?;
        beside(place, search).await
    }
}

/// The place is the search's, not its client's: it is free when the search ends, whether or not anybody waits for it still.
async fn beside<T: Send + 'static>(
    place: OwnedSemaphorePermit,
    search: impl FnOnce() -> T + Send + 'static,
) -> Result<T, OperationError> {
    let search = move || {
        let _place = place;
        search()
    };
    tokio::task::spawn_blocking(search).await.map_err(|error| {
        tracing::error!(%error, "a search did not end");
        OperationError::Internal
    })
}

/// The requests that wait. Only those that find every place taken come here.
#[derive(Debug)]
struct Queue {
    state: Mutex<QueueState>,
    waiting_max: usize,
    overload_waiting_max: usize,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: usize,
    /// When a request was refused though no overload was known of; `None` when it is over.
    overloaded: Option<Instant>,
    /// When the last of those who waited left.
    emptied: Option<Instant>,
}

impl Queue {
    const fn new(waiting_max: usize, overload_waiting_max: usize) -> Self {
        let state = QueueState {
            waiting: 0,
            overloaded: None,
            emptied: None,
        };
        Self {
            state: Mutex::new(state),
            waiting_max,
            overload_waiting_max,
        }
    }

    fn enter(&self) -> Result<QueueTicket<'_>, OperationError> {
        let now = Instant::now();
        let mut state = self.state();
        let calm = state.waiting == 0 && state.emptied.is_some_and(|emptied| now - emptied > CALM);
        let lasts = |since: &Instant| !calm && now - *since <= OVERLOAD;
        state.overloaded = state.overloaded.filter(lasts);
        let max = match state.overloaded {
            Some(_) => self.overload_waiting_max,
            None => self.waiting_max,
        };
        if state.waiting >= max {
            state.overloaded.get_or_insert(now);
            return Err(OperationError::Overloaded);
        }
        state.waiting += 1;
        Ok(QueueTicket(self))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, QueueState> {
        // Each change of it is whole before anything could panic.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// One request that waits; it leaves the queue too when its client goes away.
#[derive(Debug)]
struct QueueTicket<'a>(&'a Queue);

impl Drop for QueueTicket<'_> {
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
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn one_search_too_many_is_refused_at_once() {
        let searches = Arc::new(Searches::new(Places {
            here_max: 0,
            beside_max: 1,
            waiting_max: 1,
            overload_waiting_max: 1,
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
        assert_eq!(searches.run(|| 3).await.unwrap_err(), OperationError::Overloaded);
        assert_eq!(searches.run_outside(|| 4).await.unwrap(), 4);
        go.send(()).unwrap();
        assert_eq!((first.await.unwrap().unwrap(), second.await.unwrap()), (1, 2));
        assert_eq!(searches.run(|| 5).await.unwrap(), 5);
    }

    #[tokio::test]
    async fn a_search_keeps_its_place_when_its_client_goes_away() {
        let searches = Searches::new(Places {
            here_max: 0,
            beside_max: 1,
            waiting_max: 0,
            overload_waiting_max: 0,
        });
        let (go, gone) = mpsc::channel::<()>();
        let (end, ended) = tokio::sync::oneshot::channel();
        let search = move || {
            gone.recv().unwrap();
            end.send(()).unwrap();
        };
        let mut first = Box::pin(searches.run(search));
        assert!(futures::poll!(&mut first).is_pending());
        drop(first);
        assert_eq!(searches.run(|| 2).await.unwrap_err(), OperationError::Overloaded);
        go.send(()).unwrap();
        ended.await.unwrap();
        while searches.beside.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(searches.run(|| 3).await.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn many_may_wait_until_one_must_be_refused_and_few_until_that_is_over() {
        let queue = Queue::new(3, 1);
        let mut waiting: Vec<_> = (0..3).map(|_| queue.enter().unwrap()).collect();
        // However long they wait for each other, nobody is refused who finds room.
        tokio::time::advance(OVERLOAD * 2).await;
        waiting.pop();
        waiting.push(queue.enter().unwrap());
        assert_eq!(queue.enter().unwrap_err(), OperationError::Overloaded);
        waiting.truncate(1);
        assert!(queue.enter().is_err());
        waiting.clear();
        // A break shorter than calm does not end it.
        tokio::time::advance(CALM).await;
        let one = queue.enter().unwrap();
        assert!(queue.enter().is_err());
        drop(one);
        tokio::time::advance(CALM * 2).await;
        let mut waiting: Vec<_> = (0..3).map(|_| queue.enter().unwrap()).collect();
        // Nor does it last for ever when somebody always waits.
        assert!(queue.enter().is_err());
        waiting.truncate(1);
        tokio::time::advance(OVERLOAD * 2).await;
        waiting.push(queue.enter().unwrap());
        waiting.push(queue.enter().unwrap());
    }
}
