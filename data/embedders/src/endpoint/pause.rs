use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Failures in a row after which queries are not sent for a while.
const FAILURES: u32 = 3;
/// The length of that pause.
const PAUSE: Duration = Duration::from_secs(5);

/// Spares searches the wait for an endpoint that has just failed others: after some failures in a row none is sent for
/// a while, then one, whose outcome decides whether to go on.
#[derive(Debug, Default)]
pub(super) struct Pause(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    until: Option<Instant>,
}

impl Pause {
    /// `true` where nothing is to be sent now. When the pause is over, one caller is told so, and the others once it
    /// has succeeded.
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

    /// Takes note of an outcome.
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
        // A panic leaves it whole: each change is one assignment.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
