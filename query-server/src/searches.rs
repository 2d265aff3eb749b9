use std::sync::atomic::{AtomicUsize, Ordering};

use api::Problem;
use data_model::ErrorCode;
use tokio::sync::Semaphore;

/// Runs searches, a few at a time. The first ones run where their requests are answered, which is fastest; when that
/// would leave no thread to accept, probe and refuse, the next ones run beside. While those places are taken too and
/// enough requests wait, one more is refused at once: what would be answered too late is better not begun.
#[derive(Debug)]
pub(crate) struct Searches {
    here: Semaphore,
    places: Semaphore,
    waiting: AtomicUsize,
    waiting_max: usize,
}

impl Searches {
    pub(crate) fn new(here_max: usize, beside_max: usize, waiting_max: usize) -> Self {
        let here = Semaphore::new(here_max.min(Semaphore::MAX_PERMITS));
        let places = Semaphore::new(beside_max.clamp(1, Semaphore::MAX_PERMITS));
        Self {
            here,
            places,
            waiting: AtomicUsize::new(0),
            waiting_max,
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
        self.run_beside(search).await
    }

    /// Runs `search` when there is a place, never where requests are answered: it may wait for others.
    pub(crate) async fn run_beside<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let place = match self.places.try_acquire() {
            Ok(place) => place,
            Err(_) => {
                let _waiting = Waiting::enter(&self.waiting, self.waiting_max)?;
                // The semaphore is never closed.
                self.places
                    .acquire()
                    .await
                    .map_err(|_| Problem::new(ErrorCode::Internal))?
            }
        };
        let found = tokio::task::spawn_blocking(search).await;
        drop(place);
        found.map_err(|error| {
            tracing::error!(%error, "a search did not end");
            Problem::new(ErrorCode::Internal)
        })
    }
}

/// One request that waits; it leaves the queue too when its client goes away.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize, max: usize) -> Result<Self, Problem> {
        let waiting = Self(count);
        if count.fetch_add(1, Ordering::Relaxed) < max {
            Ok(waiting)
        } else {
            Err(Problem::new(ErrorCode::Overloaded))
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    #[tokio::test]
    async fn one_search_too_many_is_refused_at_once() {
        let searches = Arc::new(Searches::new(0, 1, 1));
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
        go.send(()).unwrap();
        assert_eq!((first.await.unwrap().unwrap(), second.await.unwrap()), (1, 2));
        assert_eq!(searches.run(|| 4).await.unwrap(), 4);
    }
}
