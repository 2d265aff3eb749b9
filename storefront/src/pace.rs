use std::time::Duration;

use tokio::time::Instant;

use crate::config::StorefrontConfig;

/// Resolution of the timer. A shorter wait is added to the waits of later requests, so that a high rate is met on
/// average.
const TIMER: Duration = Duration::from_millis(1);

/// Maximum time for which one response of a store can stop requests to the store.
pub const HOLD_MAX: Duration = Duration::from_secs(24 * 3600);

/// Rate limiter of one host: additive increase with each success, halved by each refusal.
///
/// The limiter allows one request per interval (like a generic cell rate algorithm). An early request may start up to
/// one interval before its slot, and the next slot is delayed accordingly. Two requests can directly follow each other,
/// but never three. `governor` is not used, because its quotas cannot change while requests wait, and its own timer
/// cannot be set by tests.
#[derive(Debug)]
pub(crate) struct Pace {
    limits: Limits,
    rate_per_s: f64,
    crawl_delay: Duration,
    next: Instant,
    held_until: Option<Instant>,
    refusals: u32,
}

/// A taken slot, with the data that is needed to give it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PacePlace {
    before: Instant,
    after: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaceStart {
    OnTime,
    /// One interval before the slot's time.
    Early,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    start: f64,
    min: f64,
    max: f64,
    growth: f64,
    throttle_wait: Duration,
    hold_default_max: Duration,
}

impl Pace {
    pub(crate) fn new(config: &StorefrontConfig, now: Instant) -> Self {
        let start = config.rate_start_per_s;
        let limits = Limits {
            start,
            min: config.rate_min_per_s.min(start),
            max: config.rate_max_per_s.max(start),
            growth: config.rate_growth,
            throttle_wait: Duration::from_millis(config.throttle_wait_ms),
            hold_default_max: config.retry_after_max(),
        };
        Self {
            limits,
            rate_per_s: start,
            crawl_delay: Duration::ZERO,
            next: now,
            held_until: None,
            refusals: 0,
        }
    }

    pub(crate) fn rate_per_s(&self) -> f64 {
        self.interval().as_secs_f64().recip()
    }

    /// Returns the earliest time at which the next request may start if nothing changes, which is not before `now`.
    pub(crate) fn ready_at(&self, now: Instant, start: PaceStart) -> Instant {
        let next = match start {
            PaceStart::OnTime => self.next,
            PaceStart::Early => self.next.checked_sub(self.lead()).unwrap_or(now),
        };
        next.max(now).max(self.held_until.unwrap_or(now))
    }

    /// Returns how early a slot may be taken, which is zero for a store with a crawl delay.
    fn lead(&self) -> Duration {
        if self.crawl_delay.is_zero() {
            self.interval()
        } else {
            Duration::ZERO
        }
    }

    /// Takes the next slot if its time has come, and returns its time otherwise. No slot is taken in advance, so that
    /// the first call in the queue can be chosen when the slot comes up.
    pub(crate) fn take(&mut self, now: Instant, start: PaceStart) -> Result<PacePlace, Instant> {
        let ready = self.ready_at(now, start);
        if ready.duration_since(now) >= TIMER {
            return Err(ready);
        }
        let before = self.next;
        // The delay of a timer that woke up late is not lost.
        let late_max = now.checked_sub(TIMER).unwrap_or(now);
        let start = self.next.max(self.held_until.unwrap_or(late_max)).max(late_max);
        self.next = start + self.interval();
        Ok(PacePlace {
            before,
            after: self.next,
        })
    }

    /// A slot is not given back if the rate limiter has changed since.
    pub(crate) fn give_back(&mut self, taken: PacePlace) {
        if self.next == taken.after {
            self.next = taken.before;
        }
    }

    /// Returns the remaining time without requests to the store.
    pub(crate) fn held(&self, now: Instant) -> Option<Duration> {
        self.held_until
            .map(|until| until.saturating_duration_since(now))
            .filter(|wait| !wait.is_zero())
    }

    pub(crate) fn succeeded(&mut self) {
        self.refusals = 0;
        if self.rate_per_s < self.limits.max {
            self.rate_per_s = (self.rate_per_s + self.limits.growth * self.limits.start).min(self.limits.max);
        }
    }

    /// Lowers the rate and stops requests for the time that the store states, or for a time that doubles with each
    /// refusal.
    pub(crate) fn refused(&mut self, now: Instant, retry_after: Option<Duration>) {
        self.rate_per_s = (self.rate_per_s / 2.0).max(self.limits.min);
        let doubled = self.limits.throttle_wait.saturating_mul(1 << self.refusals.min(16));
        self.refusals = self.refusals.saturating_add(1);
        let wait = retry_after
            .unwrap_or(doubled.min(self.limits.hold_default_max))
            .min(HOLD_MAX);
        let until = now + wait;
        self.held_until = Some(self.held_until.map_or(until, |held| held.max(until)));
        self.next = self.next.max(now + self.interval());
    }

    pub(crate) fn set_crawl_delay(&mut self, delay: Option<Duration>) {
        self.crawl_delay = delay.unwrap_or_default();
    }

    pub(crate) fn interval(&self) -> Duration {
        // An infinite rate gives a zero interval. The minimum rate keeps the interval finite.
        Duration::try_from_secs_f64(self.rate_per_s.recip())
            .unwrap_or(HOLD_MAX)
            .max(self.crawl_delay)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Request,
        EarlyRequest,
        Unused,
        Success,
        Refusal(Option<u64>),
        Idle(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => Just(Step::Request),
            1 => Just(Step::EarlyRequest),
            1 => Just(Step::Unused),
            4 => Just(Step::Success),
            1 => proptest::option::of(0_u64..200_000).prop_map(Step::Refusal),
            1 => (0_u64..10_000).prop_map(Step::Idle),
        ]
    }

    fn wait_and_take(pace: &mut Pace, now: Instant, start: PaceStart) -> (Instant, PacePlace) {
        match pace.take(now, start) {
            Ok(taken) => (now, taken),
            Err(ready) => (ready, pace.take(ready, start).unwrap()),
        }
    }

    proptest! {
        /// For any sequence of events, two requests are one interval apart, less a carried-over timer tick and a late
        /// one, or more if the previous request was early. No request starts during a hold, and the rate stays within
        /// its limits.
        #[test]
        fn no_request_starts_early(steps in proptest::collection::vec(step(), 0..200), start in 0.1_f64..2000.0) {
            let config = StorefrontConfig { rate_start_per_s: start, rate_max_per_s: 50.0, ..StorefrontConfig::default() };
            let mut now = Instant::now();
            let mut pace = Pace::new(&config, now);
            let mut earliest = now;
            for step in steps {
                match step {
                    Step::Request | Step::EarlyRequest => {
                        let (start, lead) = match step {
                            Step::EarlyRequest => (PaceStart::Early, pace.interval()),
                            _ => (PaceStart::OnTime, Duration::ZERO),
                        };
                        (now, _) = wait_and_take(&mut pace, now, start);
                        prop_assert!(now + lead + 2 * TIMER >= earliest);
                        prop_assert!(pace.held(now).is_none_or(|wait| wait < TIMER));
                        earliest = now.max(earliest) + pace.interval();
                    }
                    Step::Unused => {
                        let next = pace.next;
                        let (at, taken) = wait_and_take(&mut pace, now, PaceStart::OnTime);
                        now = at;
                        pace.give_back(taken);
                        prop_assert_eq!(pace.next, next);
                    }
                    Step::Success => pace.succeeded(),
                    Step::Refusal(wait_ms) => {
                        let before = pace.rate_per_s;
                        pace.refused(now, wait_ms.map(Duration::from_millis));
                        prop_assert!(pace.rate_per_s <= (before / 2.0).max(0.05));
                    }
                    Step::Idle(wait_ms) => now += Duration::from_millis(wait_ms),
                }
                prop_assert!((0.05..=start.max(50.0)).contains(&pace.rate_per_s));
            }
        }

        /// Over any time, the number of requests is the number that the rate allows, plus at most two timer ticks.
        #[test]
        fn a_late_timer_costs_no_place(late_us in proptest::collection::vec(0_u64..1000, 1..300), start in 1.0_f64..500.0) {
            let config = StorefrontConfig { rate_start_per_s: start, ..StorefrontConfig::default() };
            let began = Instant::now();
            let mut pace = Pace::new(&config, began);
            let mut now = began;
            let count = late_us.len();
            for late in late_us {
                (now, _) = wait_and_take(&mut pace, now, PaceStart::OnTime);
                now += Duration::from_micros(late);
            }
            let due = pace.interval() * u32::try_from(count - 1).unwrap();
            let took = now.duration_since(began);
            prop_assert!(took + 2 * TIMER >= due, "{took:?} for {due:?}");
            prop_assert!(took <= due + 2 * TIMER, "{took:?} for {due:?}");
        }

        /// Giving back a slot after a refusal does not shorten the wait.
        #[test]
        fn what_is_given_back_late_changes_nothing(wait_ms in 0_u64..10_000) {
            let now = Instant::now();
            let mut pace = Pace::new(&StorefrontConfig::default(), now);
            let taken = pace.take(now, PaceStart::OnTime).unwrap();
            pace.refused(now, Some(Duration::from_millis(wait_ms)));
            let ready = pace.ready_at(now, PaceStart::OnTime);
            pace.give_back(taken);
            prop_assert_eq!(pace.ready_at(now, PaceStart::OnTime), ready);
        }
    }
}
