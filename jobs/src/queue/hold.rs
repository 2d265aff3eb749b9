//! Lease on a store from the view of its holder.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use data_model::{Clock, Timestamp};
use tokio::time::MissedTickBehavior;

use crate::monotonic_clock::MonotonicClock;

/// Interval at which the lease is checked during work, so that work that hangs also ends with the lease.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Lease that ends unless it is renewed, by the monotonic clock or by the system clock, whichever is earlier. The
/// monotonic clock may stop while a machine sleeps, and the system clock may be set back.
#[derive(Debug)]
pub(super) struct Hold {
    elapsed: Arc<dyn MonotonicClock>,
    clock: Arc<dyn Clock>,
    /// End by the monotonic clock, in microseconds.
    ends_at_us: AtomicU64,
    /// End by the system clock, in microseconds.
    until_us: AtomicI64,
    is_lost: AtomicBool,
}

/// Time of the request for a lease. The lease counts from the request instead of the answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestMoment {
    elapsed: Duration,
    pub(super) now: Timestamp,
}

impl RequestMoment {
    pub(super) fn at(elapsed: &dyn MonotonicClock, clock: &dyn Clock) -> Self {
        Self {
            elapsed: elapsed.elapsed(),
            now: clock.now(),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Hold {
    pub(super) fn new(
        elapsed: Arc<dyn MonotonicClock>,
        clock: Arc<dyn Clock>,
        asked: RequestMoment,
        trusted: Duration,
    ) -> Arc<Self> {
        let hold = Self {
            elapsed,
            clock,
            ends_at_us: AtomicU64::new(0),
            until_us: AtomicI64::new(i64::MIN),
            is_lost: AtomicBool::new(false),
        };
        hold.renewed(asked, trusted);
        Arc::new(hold)
    }

    /// Extends the lease by `trusted` from the time of the request.
    pub(super) fn renewed(&self, asked: RequestMoment, trusted: Duration) {
        let millis = i64::try_from(trusted.as_millis()).unwrap_or(i64::MAX);
        self.ends_at_us
            .store(micros(asked.elapsed.saturating_add(trusted)), Ordering::SeqCst);
        self.until_us
            .store(asked.now.plus_millis(millis).micros(), Ordering::SeqCst);
    }

    /// Marks the lease as lost to another process.
    pub(super) fn lose(&self) {
        self.is_lost.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst)
            || micros(self.elapsed.elapsed()) >= self.ends_at_us.load(Ordering::SeqCst)
            || self.clock.now().micros() >= self.until_us.load(Ordering::SeqCst)
    }

    /// Runs `work` and returns its result. If the lease ends first, the work is dropped and the result is `None`.
    ///
    /// The lease is checked before each step of the work. A process that was paused beyond the end of its lease
    /// therefore does no further step, so it sends no request.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        poll_fn(|context| {
            if self.is_over() {
                return std::task::Poll::Ready(None);
            }
            // The next wake-up is registered once the interval is pending.
            while looks.poll_tick(context).is_ready() {}
            work.as_mut().poll(context).map(Some)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Debug, Default)]
    struct SetTime(Mutex<(Duration, i64)>);

    impl SetTime {
        fn pass(&self, elapsed_s: u64, clock_s: i64) {
            let mut time = self.0.lock().unwrap();
            *time = (time.0 + Duration::from_secs(elapsed_s), time.1 + clock_s * 1_000_000);
        }
    }

    impl MonotonicClock for SetTime {
        fn elapsed(&self) -> Duration {
            self.0.lock().unwrap().0
        }
    }

    impl Clock for SetTime {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(self.0.lock().unwrap().1)
        }
    }

    const TRUSTED: Duration = Duration::from_secs(48);

    fn hold() -> (Arc<SetTime>, Arc<Hold>) {
        let time = Arc::new(SetTime::default());
        let asked = RequestMoment::at(time.as_ref(), time.as_ref());
        let hold = Hold::new(Arc::clone(&time) as _, Arc::clone(&time) as _, asked, TRUSTED);
        (time, hold)
    }

    #[test]
    fn a_right_ends_by_the_time_that_passes_by_the_clock_and_when_somebody_else_has_it() {
        let (time, by_time) = hold();
        time.pass(47, -3_600);
        assert!(!by_time.is_over());
        time.pass(1, 0);
        assert!(by_time.is_over());
        let (time, by_clock) = hold();
        // A sleep of the machine is simulated.
        time.pass(0, 48);
        assert!(by_clock.is_over());
        let (_, lost) = hold();
        lost.lose();
        assert!(lost.is_over());
        let (time, renewed) = hold();
        time.pass(40, 40);
        renewed.renewed(RequestMoment::at(time.as_ref(), time.as_ref()), TRUSTED);
        time.pass(40, 40);
        assert!(!renewed.is_over());
    }

    #[tokio::test]
    async fn work_takes_no_step_after_the_end_of_its_right() {
        let (time, hold) = hold();
        let steps = AtomicU64::new(0);
        let work = async {
            loop {
                steps.fetch_add(1, Ordering::SeqCst);
                // The process is paused here and wakes up with work to do.
                if steps.load(Ordering::SeqCst) == 3 {
                    time.pass(100, 100);
                }
                tokio::task::yield_now().await;
            }
        };
        assert_eq!(hold.during::<()>(work).await, None);
        assert_eq!(steps.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn work_that_ends_in_time_is_what_it_comes_to_and_work_that_hangs_ends_with_its_right() {
        let (_, in_time) = hold();
        assert_eq!(in_time.during(async { 7 }).await, Some(7));
        let (_, lost) = hold();
        let losing = Arc::clone(&lost);
        let hanging = tokio::spawn(async move { lost.during(std::future::pending::<()>()).await });
        losing.lose();
        assert_eq!(hanging.await.unwrap(), None);
    }
}
