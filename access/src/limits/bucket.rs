//! One caller's requests against what they may ask. Pure: time is an argument.

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

/// The record of one caller. A new one has nothing to pay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// When everything is paid, in nanoseconds since 1970: GCRA's theoretical arrival time.
    pub(super) paid_at_ns: i64,
    /// The market's day that `taken` is of.
    pub(super) day: i64,
    /// Requests of that day.
    pub(super) taken: u64,
}

impl Tally {
    /// True where nothing changes if it is forgotten. A debt that runs for longer than `longest` was noted before the
    /// clock was set back.
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

/// A caller's debt before and after governor is asked. Governor reads and writes it under the name of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BucketDebt(Cell<u64>);

impl Hash for BucketDebt {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.get().hash(state);
    }
}

/// Keeps nothing: what governor would keep of a key is handed to it, and taken back.
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

/// A clock at which it is always now: governor gets the amount owed from now on, and no past moment.
#[derive(Debug)]
struct ZeroClock;

impl Clock for ZeroClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// The rules for callers with one allowance.
#[derive(Debug)]
pub(super) struct Rules {
    limiter: RateLimiter<BucketDebt, HandedOver, ZeroClock, StateInformationMiddleware>,
    /// The cost of one request.
    interval: Duration,
    /// Most that can be owed: a whole burst, and as much for what requests that were let in cost besides.
    longest: Duration,
    per_day: Option<u64>,
}

/// Governor's answer.
enum Pace {
    /// Paid: so much is owed now, and so many more may come at once.
    Kept { owed: Duration, remaining: u32 },
    /// Too fast by this time.
    Broken(Duration),
}

impl Rules {
    /// The rules of an allowance; `None` where it has no limit.
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

    /// Takes one request into account.
    pub(super) fn take(&self, tally: &mut Tally, moment: Moment) -> Verdict {
        let owed = tally.owed(moment.now_ns, self.longest);
        let pace = self.pace(owed);
        if self.is_day_over(tally, moment) {
            return self.refused_today(&pace, owed, moment);
        }
        match pace {
            Pace::Kept { owed, remaining } => {
                // Without a daily limit nothing is to be remembered of a day.
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

    /// Takes so many requests into account, of which none is refused.
    pub(super) fn owe(&self, tally: &mut Tally, requests: u32, moment: Moment) {
        let owed = tally.owed(moment.now_ns, self.longest);
        let owed = owed.saturating_add(self.interval.saturating_mul(requests));
        tally.paid_at_ns = moment.now_ns.saturating_add(nanos(owed.min(self.longest)));
        if self.per_day.is_some() {
            tally.taken = tally.taken_on(moment.day).saturating_add(requests.into());
            tally.day = moment.day;
        }
    }

    /// The verdict on the next request.
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
