use std::time::Duration;

use tokio::time::Instant;

use crate::config::StorefrontConfig;

/// Waits shorter than this are not slept but owed: the timer is no finer, and a fast pace must stay fast on average.
const TIMER: Duration = Duration::from_millis(1);

/// The longest that a store can make us leave it alone with one answer.
pub(crate) const HOLD_MAX: Duration = Duration::from_secs(24 * 3600);

/// The speed at which one host is asked: additive increase with each success, halved by each refusal.
///
/// A cell-rate pace of one request per interval without bursts. Not `governor`: its quotas cannot change while requests
/// wait on them, and it sleeps on its own timer, which tests cannot set.
#[derive(Debug)]
pub(crate) struct Pace {
    limits: Limits,
    rate_per_s: f64,
    crawl_delay: Duration,
    next: Instant,
    held_until: Option<Instant>,
    refusals: u32,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    start: f64,
    min: f64,
    max: f64,
    growth: f64,
    throttle_wait: Duration,
    hold_default_max: Duration,
    crawl_delay_max: Duration,
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
            crawl_delay_max: Duration::from_millis(config.crawl_delay_max_ms),
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

    /// Requests per second, as it stands.
    pub(crate) fn rate_per_s(&self) -> f64 {
        self.interval().as_secs_f64().recip()
    }

    /// Takes the next place in the row; says when it comes up.
    pub(crate) fn reserve(&mut self, now: Instant) -> Option<Instant> {
        let start = self.next.max(now).max(self.held_until.unwrap_or(now));
        self.next = start + self.interval();
        (start.duration_since(now) >= TIMER).then_some(start)
    }

    /// How long the store is still to be left alone.
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

    /// Falls at once, and leaves the store alone for as long as it says, or for a time that doubles with each refusal.
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
        self.crawl_delay = delay.unwrap_or_default().min(self.limits.crawl_delay_max);
    }

    fn interval(&self) -> Duration {
        // Infinity gives zero; the lower limit of the rate keeps it finite.
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
        Success,
        Refusal(Option<u64>),
        Idle(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => Just(Step::Request),
            4 => Just(Step::Success),
            1 => proptest::option::of(0_u64..200_000).prop_map(Step::Refusal),
            1 => (0_u64..10_000).prop_map(Step::Idle),
        ]
    }

    proptest! {
        /// Whatever happens, two requests are an interval of the pace apart (less one tick of the timer), none starts
        /// while the store is to be left alone, and the pace stays within its limits.
        #[test]
        fn no_request_starts_early(steps in proptest::collection::vec(step(), 0..200), start in 0.1_f64..2000.0) {
            let config = StorefrontConfig { rate_start_per_s: start, rate_max_per_s: 50.0, ..StorefrontConfig::default() };
            let mut now = Instant::now();
            let mut pace = Pace::new(&config, now);
            let mut earliest = now;
            for step in steps {
                match step {
                    Step::Request => {
                        now = pace.reserve(now).unwrap_or(now);
                        prop_assert!(now + TIMER >= earliest);
                        prop_assert!(pace.held(now).is_none());
                        earliest = now + pace.interval();
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
    }
}
