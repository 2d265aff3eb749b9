use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

/// Minimum time between two checks of a wait.
const LOOK: Duration = Duration::from_millis(10);

/// Time spent waiting for this program itself, which must not count against the store.
#[derive(Debug, Default)]
pub(crate) struct OwnWait(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    before: Duration,
    since: Option<Instant>,
}

impl OwnWait {
    /// Counts the time of `work` as this program's own.
    pub(crate) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        self.state(|state| state.since = Some(Instant::now()));
        let done = work.await;
        self.state(|state| state.before += state.since.take().map_or(Duration::ZERO, |since| since.elapsed()));
        done
    }

    fn so_far(&self) -> Duration {
        self.state(|state| state.before + state.since.map_or(Duration::ZERO, |since| since.elapsed()))
    }

    fn state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Runs `work` within `limit`, without the time that it `waited` for this program.
pub(crate) async fn within<T>(limit: Duration, waited: &OwnWait, work: impl Future<Output = T>) -> Option<T> {
    let started = Instant::now();
    let mut work = pin!(work);
    loop {
        let left = (limit + waited.so_far()).saturating_sub(started.elapsed());
        if left.is_zero() {
            return None;
        }
        if let Ok(done) = timeout(left.max(LOOK), &mut work).await {
            return Some(done);
        }
    }
}
