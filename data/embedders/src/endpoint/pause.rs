use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Number of consecutive failures after which queries are paused.
const FAILURES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(5);

/// A circuit breaker, so that searches do not wait for a failing endpoint. After several consecutive failures, requests
/// are paused. After the pause, the outcome of one trial request determines if requests resume.
#[derive(Debug, Default)]
pub(super) struct Pause(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    until: Option<Instant>,
}

impl Pause {
    /// Returns `true` if nothing may be sent now. After the pause, one caller may try. The others must wait until that
    /// request has succeeded.
    pub(super) fn lasts(&self) -> bool {
        let mut state = self.state();
        let now = Instant::now();
        match state.until {
            Some(until) if now < until => true,
            Some(_) => {
                state.until = Some(now + PAUSE);
                false
            }
            None => false,
        }
    }

    pub(super) fn note(&self, succeeded: bool) {
        let mut state = self.state();
        if succeeded {
            *state = State::default();
            return;
        }
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            state.until = Some(Instant::now() + PAUSE);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // The state stays consistent after a panic, because each change is a single assignment.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
