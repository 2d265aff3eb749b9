//! Rate check for the requests of one caller. The module is pure: time is an argument.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use std::time::Duration;

use api::{Allowance, Outcome, Verdict};
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::{Quota, RateLimiter};

use super::moment::Moment;

/// Counter of one caller. A new counter has no debt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Time at which the debt is paid, in nanoseconds since 1970 (GCRA: theoretical arrival time).
    pub(super) paid_at_ns: i64,
    /// Day in the market's time zone to which `taken` belongs.
    pub(super) day: i64,
    /// Number of requests on that day.
    pub(super) taken: u64,
}

impl Tally {
    /// True if dropping the counter has no effect. A debt above `longest` does not count, because it was recorded
    /// before the clock was set back.
    pub(super) fn is_idle(&self, moment: Moment, longest: Duration) -> bool {
        let counts_today = self.day == moment.day && self.taken > 0;
        !counts_today && self.owed(moment.now_ns, longest).is_zero()
    }

    fn owed(&self, now_ns: i64, longest: Duration) -> Duration {
        let owed = Duration::from_nanos(u64::try_from(self.paid_at_ns.saturating_sub(now_ns)).unwrap_or(0));
        if owed > longest { Duration::ZERO } else { owed }
    }

    fn taken_on(&self, day: i64) -> u64 {
        if self.day == day { self.taken } else { 0 }
    }
}

/// Debt of a caller, which is passed to governor as the key. Governor reads and updates it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BucketDebt(Cell<u64>);

impl Hash for BucketDebt {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.get().hash(state);
    }
}

/// State store for governor without any content, because the key contains the state.
#[derive(Debug)]
struct HandedOver;

impl StateStore for HandedOver {
    type Key = BucketDebt;

    fn measure_and_replace<T, F, E>(&self, owed: &BucketDebt, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let (told, next) = f(Some(Nanos::new(owed.0.get())))?;
        owed.0.set(next.as_u64());
        Ok(told)
    }
}

/// Clock that always shows time zero. Governor gets debts relative to now instead of absolute times.
#[derive(Debug)]
struct ZeroClock;

impl Clock for ZeroClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// Rules for callers with the same allowance.
#[derive(Debug)]
pub(super) struct Rules {
    limiter: RateLimiter<BucketDebt, HandedOver, ZeroClock, StateInformationMiddleware>,
    /// Cost of one request.
    interval: Duration,
    /// Maximum debt: twice the burst. The second half is for additional costs of admitted requests.
    longest: Duration,
    per_day: Option<u64>,
}

enum Pace {
    /// The rate is not exceeded. `owed` is the debt after this request, and `remaining` the number of requests that may
    /// follow at once.
    Kept { owed: Duration, remaining: u32 },
    /// The rate is exceeded. The duration is the time to wait.
    Broken(Duration),
}

impl Rules {
    /// Returns the rules of an allowance, or `None` if it has no limit.
    pub(super) fn of(allowance: &Allowance) -> Option<Self> {
        let (per_second, burst): (NonZeroU32, NonZeroU32) = allowance.rate()?;
        let quota = Quota::per_second(per_second).allow_burst(burst);
        Some(Self {
            limiter: RateLimiter::new(quota, HandedOver, ZeroClock),
            interval: quota.replenish_interval(),
            longest: quota.replenish_interval() * burst.get() * 2,
            per_day: allowance.per_day(),
        })
    }

    pub(super) const fn longest(&self) -> Duration {
        self.longest
    }

    /// Counts one request if it is allowed, and returns the verdict.
    pub(super) fn take(&self, tally: &mut Tally, moment: Moment) -> Verdict {
        let owed = tally.owed(moment.now_ns, self.longest);
        let pace = self.pace(owed);
        if self.is_day_over(tally, moment) {
            return self.refused_today(&pace, owed, moment);
        }
        match pace {
            Pace::Kept { owed, remaining } => {
                // The day's requests are counted only if there is a daily limit.
                if self.per_day.is_some() {
                    tally.taken = tally.taken_on(moment.day) + 1;
                    tally.day = moment.day;
                }
                tally.paid_at_ns = moment.now_ns.saturating_add(nanos(owed));
                self.verdict(Outcome::Allowed, remaining, owed, tally, moment)
            }
            Pace::Broken(wait) => self.verdict(Outcome::TooFast(wait), 0, owed, tally, moment),
        }
    }

    /// Adds the cost of several requests without refusing any of them.
    pub(super) fn owe(&self, tally: &mut Tally, requests: u32, moment: Moment) {
        let owed = tally.owed(moment.now_ns, self.longest);
        let owed = owed.saturating_add(self.interval.saturating_mul(requests));
        tally.paid_at_ns = moment.now_ns.saturating_add(nanos(owed.min(self.longest)));
        if self.per_day.is_some() {
            tally.taken = tally.taken_on(moment.day).saturating_add(requests.into());
            tally.day = moment.day;
        }
    }

    /// Returns the verdict on the next request without counting it.
    pub(super) fn look(&self, tally: &Tally, moment: Moment) -> Verdict {
        let owed = tally.owed(moment.now_ns, self.longest);
        let pace = self.pace(owed);
        if self.is_day_over(tally, moment) {
            return self.refused_today(&pace, owed, moment);
        }
        match pace {
            Pace::Kept { remaining, .. } => self.verdict(Outcome::Allowed, remaining + 1, owed, tally, moment),
            Pace::Broken(wait) => self.verdict(Outcome::TooFast(wait), 0, owed, tally, moment),
        }
    }

    fn pace(&self, owed: Duration) -> Pace {
        let key = BucketDebt(Cell::new(Nanos::from(owed).as_u64()));
        match self.limiter.check_key(&key) {
            Ok(kept) => Pace::Kept {
                owed: Duration::from_nanos(key.0.get()),
                remaining: kept.remaining_burst_capacity(),
            },
            Err(until) => Pace::Broken(until.wait_time_from(Duration::ZERO)),
        }
    }

    fn is_day_over(&self, tally: &Tally, moment: Moment) -> bool {
        self.per_day
            .is_some_and(|per_day| tally.taken_on(moment.day) >= per_day)
    }

    fn refused_today(&self, pace: &Pace, owed: Duration, moment: Moment) -> Verdict {
        Verdict {
            outcome: Outcome::TooManyToday(moment.day_left),
            remaining: Some(match pace {
                Pace::Kept { remaining, .. } => remaining + 1,
                Pace::Broken(_) => 0,
            }),
            reset_after: owed,
            today: Some((0, moment.day_left)),
        }
    }

    fn verdict(&self, outcome: Outcome, remaining: u32, owed: Duration, tally: &Tally, moment: Moment) -> Verdict {
        let left = |per_day: u64| (per_day.saturating_sub(tally.taken_on(moment.day)), moment.day_left);
        Verdict {
            outcome,
            remaining: Some(remaining),
            reset_after: owed,
            today: self.per_day.map(left),
        }
    }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
