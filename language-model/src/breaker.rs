use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Number of consecutive failures after which requests are paused.
const FAILURES: u32 = 3;
/// Duration of the first pause. Each further pause without a success in between is twice as long.
const PAUSE: Duration = Duration::from_secs(5);

/// Circuit breaker, so that users do not wait for a failing model. Requests pause after several failures in a row. Then
/// one trial request decides if they resume.
#[derive(Debug)]
pub struct Breaker {
    pause_max: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    pause: Option<Duration>,
    until: Option<Instant>,
}

impl Breaker {
    /// Creates a breaker whose pauses never last longer than `pause_max`.
    #[must_use]
    pub fn new(pause_max: Duration) -> Self {
        Self {
            pause_max,
            state: Mutex::default(),
        }
    }

    /// `true` if the model may be called at `now`. After a pause, one caller may try, and the others must wait until
    /// that call has succeeded.
    pub fn lets_through(&self, now: Instant) -> bool {
        let mut state = self.state();
        match state.until {
            Some(until) if now < until => false,
            Some(_) => {
                state.until = Some(now + state.pause.unwrap_or(PAUSE));
                true
            }
            None => true,
        }
    }

    /// Notes the result of a call. Failures in a row start a pause, a success ends it.
    pub fn note(&self, succeeded: bool, now: Instant) {
        let mut state = self.state();
        if succeeded {
            *state = State::default();
            return;
        }
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            let pause = state.pause.map_or(PAUSE, |pause| (pause * 2).min(self.pause_max));
            state.pause = Some(pause);
            state.until = Some(now + pause);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // The state stays consistent even if a thread panics.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_fails_is_left_alone_for_longer_each_time_until_it_succeeds() {
        let breaker = Breaker::new(Duration::from_secs(160));
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..FAILURES {
            assert!(breaker.lets_through(start));
            breaker.note(false, start);
        }
        assert!(!breaker.lets_through(at(4)));
        // One call is allowed, and the others wait for its outcome.
        assert!(breaker.lets_through(at(5)));
        assert!(!breaker.lets_through(at(5)));
        breaker.note(false, at(5));
        assert!(!breaker.lets_through(at(14)));
        assert!(breaker.lets_through(at(15)));
        breaker.note(true, at(15));
        assert!(breaker.lets_through(at(15)) && breaker.lets_through(at(15)));
        for _ in 0..20 {
            breaker.note(false, at(20));
        }
        assert!(!breaker.lets_through(at(20 + 159)));
        assert!(breaker.lets_through(at(20 + 160)));
    }
}
