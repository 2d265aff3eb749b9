//! Comparison of hours of traffic with a simple implementation of the algorithm, which remembers every accepted request
//! and computes the debt from the first one each time.

use std::time::Duration;

use access::PlanLimits;
use api::{Outcome, Verdict};
use data_model::Clock;
use proptest::prelude::*;
use state::Day;

use crate::limits::Rig;
use crate::support::{INDIA, all, limits, nobody};

const HOUR_MS: i64 = 3_600_000;
/// Cost of a request in a unit of which `per_second` are paid per microsecond.
const REQUEST: i64 = 1_000_000;

struct Oracle {
    limits: PlanLimits,
    passed: Vec<i64>,
}

impl Oracle {
    /// Returns the debt at a time.
    fn owed(&self, now: i64) -> i64 {
        let rate = i64::from(self.limits.per_second);
        let paid_until = |owed: i64, from: i64, to: i64| (owed - (to - from) * rate).max(0);
        let first = self.passed.first().copied().unwrap_or(now);
        let (owed, last) = self.passed.iter().fold((0, first), |(owed, last), passed| {
            (paid_until(owed, last, *passed) + REQUEST, *passed)
        });
        paid_until(owed, last, now)
    }

    fn judge(&mut self, now: i64, moment: data_model::Timestamp) -> Verdict {
        let PlanLimits {
            per_second,
            burst,
            per_day,
        } = self.limits;
        let (rate, full) = (i64::from(per_second), i64::from(burst) * REQUEST);
        let today = Day::of(moment, INDIA);
        let of_today = |passed: &&i64| Day::of(data_model::Timestamp::from_micros(**passed), INDIA) == today;
        let taken = self.passed.iter().filter(of_today).count() as u64;
        let mut end = moment;
        while Day::of(end, INDIA) == today {
            // Midnight is a full minute, so the clock moves to each full minute.
            end = data_model::Timestamp::from_micros((end.micros() / 60_000_000 + 1) * 60_000_000);
        }
        let day_left = Duration::from_micros((end.micros() - now) as u64);
        let micros = |units: i64| Duration::from_micros((units / rate) as u64);
        let mut owed = self.owed(now);
        let outcome = if per_day > 0 && taken >= per_day {
            Outcome::TooManyToday(day_left)
        } else if owed + REQUEST > full {
            Outcome::TooFast(micros(owed + REQUEST - full))
        } else {
            self.passed.push(now);
            owed += REQUEST;
            Outcome::Allowed
        };
        let taken = taken + u64::from(outcome == Outcome::Allowed);
        let remaining = (0..).take_while(|more| owed + (more + 1) * REQUEST <= full).count();
        Verdict {
            outcome,
            remaining: Some(remaining as u32),
            reset_after: micros(owed),
            today: (per_day > 0).then(|| (per_day - taken, day_left)),
        }
    }
}

/// Returns a strategy for the pauses in an hour of traffic, in milliseconds: bursts, slow traffic, and idle minutes.
fn hour() -> impl Strategy<Value = Vec<i64>> {
    let pause = prop_oneof![
        6 => Just(0),
        6 => 1..50_i64,
        3 => 50..2_000_i64,
        1 => 2_000..300_000_i64,
    ];
    proptest::collection::vec(pause, 50..600).prop_map(|pauses| {
        let mut sum = 0;
        let mut within = pauses;
        within.retain(|pause| {
            sum += pause;
            sum < HOUR_MS
        });
        within
    })
}

/// Returns a strategy for rates whose interval is a whole number of microseconds, so that both implementations are
/// exact.
fn rates() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1_u32, 2, 4, 5, 8, 10, 20, 25, 50, 100, 1_000])
}

fn plan() -> impl Strategy<Value = PlanLimits> {
    let per_day = prop_oneof![Just(0), 1..400_u64];
    (rates(), 1..80_u32, per_day).prop_map(|(per_second, burst, per_day)| limits(per_second, burst, per_day))
}

async fn agrees(rig: &Rig, limits: PlanLimits, pauses: &[i64]) -> Result<(), TestCaseError> {
    let caller = nobody("192.0.2.1");
    let mut oracle = Oracle {
        limits,
        passed: Vec::new(),
    };
    for (number, pause) in pauses.iter().enumerate() {
        rig.clock.advance_ms(*pause);
        let moment = rig.clock.now();
        let looked = rig.look(&caller).await;
        let told = rig.admit(&caller).await;
        let expected = oracle.judge(moment.micros(), moment);
        prop_assert_eq!(told, expected, "request {} at {}", number, moment);
        prop_assert_eq!(looked.outcome, told.outcome);
        if told.outcome == Outcome::Allowed {
            prop_assert_eq!(looked.remaining, told.remaining.map(|remaining| remaining + 1));
        } else {
            prop_assert_eq!(looked, told);
        }
    }
    Ok(())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn in_process_an_hour_is_judged_as_by_the_naive_reading(limits in plan(), pauses in hour()) {
        runtime().block_on(agrees(&Rig::local(&all(limits)), limits, &pauses))?;
    }

    #[test]
    fn whatever_the_rate_no_more_pass_than_the_burst_and_what_is_given_meanwhile(
        per_second in 1..3_000_u32, burst in 1..200_u32, pauses in hour(),
    ) {
        let rig = Rig::local(&all(limits(per_second, burst, 0)));
        let caller = nobody("192.0.2.1");
        let begin = rig.clock.now().micros();
        let mut passed = 0_f64;
        for pause in pauses {
            rig.clock.advance_ms(pause);
            if runtime().block_on(rig.admit(&caller)).outcome == Outcome::Allowed {
                passed += 1.0;
            }
            let seconds = (rig.clock.now().micros() - begin) as f64 / 1e6;
            let given = f64::from(burst) + seconds * f64::from(per_second) * 1.000_01;
            prop_assert!(passed <= given + 1e-6, "{passed} of {given}");
        }
    }
}

#[cfg(feature = "valkey")]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn in_valkey_an_hour_is_judged_as_by_the_naive_reading(limits in plan(), pauses in hour()) {
        runtime().block_on(async {
            match crate::shared::rig(&all(limits)).await {
                Some(rig) => agrees(&rig, limits, &pauses).await,
                None => Ok(()),
            }
        })?;
    }
}
