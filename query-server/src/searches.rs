use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::error::OperationError;

/// Time without waiting requests after which an overload is over.
const CALM: Duration = Duration::from_millis(50);
/// Maximum time until a detected overload counts as over.
const OVERLOAD: Duration = Duration::from_secs(10);
/// Maximum number of concurrent searches that wait for an external embedder.
const OUTSIDE_MAX: usize = 32;

/// Limits on running and waiting searches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// Maximum number of searches on the threads that handle requests.
    pub(crate) here_max: usize,
    /// Maximum number of searches on separate threads.
    pub(crate) beside_max: usize,
    /// Maximum number of waiting searches. A further one starts an overload.
    pub(crate) waiting_max: usize,
    /// Maximum number of waiting searches during an overload.
    pub(crate) overload_waiting_max: usize,
}

/// Limiter of concurrent searches. The first searches run on the threads of their requests, which is fastest. Further
/// searches run on separate threads, so that a request thread stays free to accept, probe and refuse requests. If the
/// separate threads are busy, searches wait in a queue. A full queue means overload. During an overload the queue is
/// shorter, so that accepted searches finish in time, and all others are refused immediately.
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

    /// Runs `search` as soon as a thread is free.
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
                // Acquiring a permit cannot fail, because the semaphore is never closed.
                let place = Arc::clone(&self.beside).acquire_owned().await;
                place.map_err(|_| OperationError::Internal)?
            }
        };
        beside(place, search).await
    }

    /// Runs a `search` that mostly waits and hardly uses the CPU. Such searches have their own limit and never run on a
    /// request's thread.
    pub(crate) async fn run_outside<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let outside = Arc::clone(&self.outside).try_acquire_owned();
        let place = outside.map_err(|_| OperationError::Overloaded)?;
        beside(place, search).await
    }
}

/// Runs a search on a separate thread. The permit is released at the end of the search, even if the client has
/// disconnected.
async fn beside<T: Send + 'static>(
    place: OwnedSemaphorePermit,
    search: impl FnOnce() -> T + Send + 'static,
) -> Result<T, OperationError> {
    let search = move || {
        let _place = place;
        search()
    };
    tokio::task::spawn_blocking(search).await.map_err(|error| {
        tracing::error!(%error, "a search failed unexpectedly");
        OperationError::Internal
    })
}

/// Queue of searches that wait for a thread.
#[derive(Debug)]
struct Queue {
    state: Mutex<QueueState>,
    waiting_max: usize,
    overload_waiting_max: usize,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: usize,
    /// Time of the refusal that started the current overload, if there is one.
    overloaded: Option<Instant>,
    /// Time at which the queue last became empty.
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
        // A panic cannot leave the state half changed, so a poisoned lock is safe to use.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Place of a request in the queue. Dropping the ticket leaves the queue, even after a disconnect.
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
        // Requests may wait for any time while the queue has space.
        tokio::time::advance(OVERLOAD * 2).await;
        waiting.pop();
        waiting.push(queue.enter().unwrap());
        assert_eq!(queue.enter().unwrap_err(), OperationError::Overloaded);
        waiting.truncate(1);
        assert!(queue.enter().is_err());
        waiting.clear();
        // A pause of `CALM` or less does not end the overload.
        tokio::time::advance(CALM).await;
        let one = queue.enter().unwrap();
        assert!(queue.enter().is_err());
        drop(one);
        tokio::time::advance(CALM * 2).await;
        let mut waiting: Vec<_> = (0..3).map(|_| queue.enter().unwrap()).collect();
        // The overload also ends after `OVERLOAD`, even if requests wait all the time.
        assert!(queue.enter().is_err());
        waiting.truncate(1);
        tokio::time::advance(OVERLOAD * 2).await;
        waiting.push(queue.enter().unwrap());
        waiting.push(queue.enter().unwrap());
    }
}
