//! Tests for local and shared limits, which must behave the same.

use std::future::Future;
use std::net::Ipv6Addr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use access::{LimitsConfig, LocalLimits, Plans};
use api::{Allowance, Caller, Limit, Outcome, Verdict};
use data_model::Clock;
use kit::SetClock;
use state::{Day, Plan, UsageBatch, UsageEntry};

use crate::support::{EVENING, INDIA, all, create, holder, limits, memory, nobody, session, there, with_allowance};

/// Limits of one kind, with a clock that the test sets.
pub(crate) struct Rig {
    pub(crate) limits: Arc<dyn Limit>,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) plans: Plans,
}

impl Rig {
    pub(crate) fn local(config: &LimitsConfig) -> Self {
        let clock = SetClock::at(EVENING);
        let plans = Plans::of(config).unwrap();
        let as_clock: Arc<dyn Clock> = Arc::<SetClock>::clone(&clock);
        Self {
            limits: Arc::new(LocalLimits::new(plans.clone(), config.addresses_max, INDIA, as_clock)),
            clock,
            plans,
        }
    }

    pub(crate) async fn admit(&self, caller: &Caller) -> Verdict {
        there(self.limits.admit(caller)).await
    }

    pub(crate) async fn look(&self, caller: &Caller) -> Verdict {
        there(self.limits.look(caller)).await
    }
}

/// Runs a test on every available kind of limits.
fn on_each<F: Future<Output = ()>>(config: &LimitsConfig, test: impl Fn(Rig) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test(Rig::local(config)));
    #[cfg(feature = "valkey")]
    if let Some(rig) = runtime.block_on(crate::shared::rig(config)) {
        runtime.block_on(test(rig));
    }
}

const fn allowed(remaining: u32, reset_ms: u64) -> Verdict {
    Verdict {
        outcome: Outcome::Allowed,
        remaining: Some(remaining),
        reset_after: Duration::from_millis(reset_ms),
        today: None,
    }
}

const fn too_fast(wait_ms: u64, reset_ms: u64) -> Verdict {
    Verdict {
        outcome: Outcome::TooFast(Duration::from_millis(wait_ms)),
        remaining: Some(0),
        reset_after: Duration::from_millis(reset_ms),
        today: None,
    }
}

#[test]
fn a_burst_passes_and_then_one_in_each_interval() {
    on_each(&all(limits(5, 3, 0)), async |rig| {
        let caller = nobody("192.0.2.1");
        assert_eq!(rig.admit(&caller).await, allowed(2, 200));
        assert_eq!(rig.admit(&caller).await, allowed(1, 400));
        assert_eq!(rig.admit(&caller).await, allowed(0, 600));
        assert_eq!(rig.admit(&caller).await, too_fast(200, 600));
        assert_eq!(rig.admit(&caller).await, too_fast(200, 600));
        rig.clock.advance_ms(199);
        assert_eq!(rig.admit(&caller).await, too_fast(1, 401));
        rig.clock.advance_ms(1);
        assert_eq!(rig.admit(&caller).await, allowed(0, 600));
        rig.clock.advance_ms(600);
        assert_eq!(rig.admit(&caller).await, allowed(2, 200));
    });
}

#[test]
fn looking_takes_nothing_and_tells_what_the_next_request_would_be_told() {
    on_each(&all(limits(5, 2, 3)), async |rig| {
        let caller = holder("key_1", &rig.plans);
        let today = |left| Some((left, Duration::from_secs(1_800)));
        let expected = |outcome, remaining, reset_ms, left| Verdict {
            outcome,
            remaining: Some(remaining),
            reset_after: Duration::from_millis(reset_ms),
            today: today(left),
        };
        assert_eq!(rig.look(&caller).await, expected(Outcome::Allowed, 2, 0, 3));
        assert_eq!(rig.look(&caller).await, expected(Outcome::Allowed, 2, 0, 3));
        rig.admit(&caller).await;
        assert_eq!(rig.look(&caller).await, expected(Outcome::Allowed, 1, 200, 2));
        rig.admit(&caller).await;
        let wait = Outcome::TooFast(Duration::from_millis(200));
        assert_eq!(rig.look(&caller).await, expected(wait, 0, 400, 1));
    });
}

#[test]
fn the_days_limit_ends_with_the_markets_day_and_is_told_before_any_other() {
    on_each(&all(limits(10, 5, 7)), async |rig| {
        let caller = holder("key_1", &rig.plans);
        for _ in 0..5 {
            assert_eq!(rig.admit(&caller).await.outcome, Outcome::Allowed);
        }
        for _ in 0..5 {
            let verdict = rig.admit(&caller).await;
            assert_eq!(verdict.outcome, Outcome::TooFast(Duration::from_millis(100)));
            assert_eq!(verdict.today, Some((2, Duration::from_secs(1_800))));
        }
        rig.clock.advance_ms(200);
        for left in [1, 0] {
            let verdict = rig.admit(&caller).await;
            assert_eq!(verdict.outcome, Outcome::Allowed);
            assert_eq!(verdict.today, Some((left, Duration::from_millis(1_799_800))));
        }
        let over = Outcome::TooManyToday(Duration::from_millis(1_799_800));
        assert_eq!(rig.admit(&caller).await.outcome, over);
        // The daily limit is reported although the burst limit would now allow the request.
        rig.clock.advance_ms(600_000);
        let verdict = rig.admit(&caller).await;
        assert_eq!(verdict.outcome, Outcome::TooManyToday(Duration::from_millis(1_199_800)));
        assert_eq!((verdict.remaining, verdict.reset_after), (Some(5), Duration::ZERO));
        assert_eq!(rig.look(&caller).await, verdict);
        rig.clock.advance_ms(1_199_799);
        assert!(matches!(rig.admit(&caller).await.outcome, Outcome::TooManyToday(_)));
        rig.clock.advance_ms(1);
        let verdict = rig.admit(&caller).await;
        assert_eq!(verdict.outcome, Outcome::Allowed);
        assert_eq!(verdict.today, Some((6, Duration::from_secs(86_400))));
    });
}

#[test]
fn everybody_is_counted_for_themselves() {
    on_each(&all(limits(1, 1, 0)), async |rig| {
        let callers = [
            nobody("192.0.2.1"),
            nobody("192.0.2.2"),
            nobody("2001:db8:0:1::1"),
            nobody("2001:db8:0:2::1"),
            Caller::Anonymous(None),
            holder("key_1", &rig.plans),
            holder("key_2", &rig.plans),
            session("acc_1", &rig.plans),
            session("acc_2", &rig.plans),
        ];
        for caller in &callers {
            assert_eq!(rig.admit(caller).await, allowed(0, 1_000), "{caller:?}");
        }
        for caller in &callers {
            assert_eq!(rig.admit(caller).await, too_fast(1_000, 1_000), "{caller:?}");
        }
        // A second address of the subscriber, or a second browser of the account, shares the limit.
        assert_eq!(rig.admit(&nobody("2001:db8:0:1:ffff::7")).await, too_fast(1_000, 1_000));
        assert_eq!(rig.admit(&nobody("::ffff:192.0.2.1")).await, too_fast(1_000, 1_000));
        assert_eq!(rig.admit(&session("acc_1", &rig.plans)).await, too_fast(1_000, 1_000));
    });
}

#[test]
fn each_plan_has_its_own_limit_and_granted_keys_none() {
    on_each(&LimitsConfig::default(), async |rig| {
        let granted = with_allowance("key_granted", rig.plans.of_plan(Plan::Granted));
        for _ in 0..200 {
            assert_eq!(rig.admit(&granted).await, Verdict::UNLIMITED);
        }
        assert_eq!(rig.look(&granted).await, Verdict::UNLIMITED);
        let passed = async |caller: &Caller| {
            let mut passed = 0;
            while rig.admit(caller).await.outcome == Outcome::Allowed {
                passed += 1;
            }
            passed
        };
        assert_eq!(passed(&nobody("192.0.2.1")).await, 20);
        assert_eq!(passed(&holder("key_1", &rig.plans)).await, 60);
        assert_eq!(passed(&session("acc_1", &rig.plans)).await, 60);
        // The limits also apply to an allowance outside the plans.
        let number = |number| NonZeroU32::new(number).unwrap();
        let own = Arc::new(Allowance::new(number(2), number(7), None));
        assert_eq!(passed(&with_allowance("key_own", &own)).await, 7);
    });
}

#[test]
fn a_clock_that_is_set_back_locks_nobody_out() {
    on_each(&all(limits(1, 2, 0)), async |rig| {
        let caller = nobody("192.0.2.1");
        rig.admit(&caller).await;
        rig.admit(&caller).await;
        rig.clock.advance_ms(-3_600_000);
        // Setting the clock back does not make the debt longer.
        rig.clock.advance_ms(2_000);
        assert_eq!(rig.admit(&caller).await.outcome, Outcome::Allowed);
    });
}

async fn passed_of_1000(limits: [Arc<dyn Limit>; 2], caller: &Caller) -> usize {
    let asked = (0..1_000).map(|number: usize| {
        let (limits, caller) = (Arc::clone(&limits[number % 2]), caller.clone());
        tokio::spawn(async move { there(limits.admit(&caller)).await.outcome == Outcome::Allowed })
    });
    let asked: Vec<_> = asked.collect();
    let mut passed = 0;
    for verdict in asked {
        passed += usize::from(verdict.await.unwrap());
    }
    passed
}

/// Sends a thousand concurrent requests over two clients of the same limits. Exactly the allowed number must pass.
pub(crate) async fn of_1000_exactly_as_many_pass_as_may(one: &Rig, other: &Arc<dyn Limit>, number: usize) {
    let both = [Arc::clone(&one.limits), Arc::clone(other)];
    assert_eq!(passed_of_1000(both.clone(), &nobody("192.0.2.1")).await, number);
    assert_eq!(passed_of_1000(both, &holder("key_1", &one.plans)).await, number);
}

#[test]
fn of_1000_parallel_requests_exactly_the_burst_passes() {
    on_each(&all(limits(5, 137, 0)), async |rig| {
        let same = Arc::clone(&rig.limits);
        of_1000_exactly_as_many_pass_as_may(&rig, &same, 137).await;
    });
}

#[test]
fn of_1000_parallel_requests_exactly_the_days_limit_passes() {
    on_each(&all(limits(1_000, 5_000, 41)), async |rig| {
        let same = Arc::clone(&rig.limits);
        of_1000_exactly_as_many_pass_as_may(&rig, &same, 41).await;
    });
}

#[test]
fn what_a_request_costs_besides_is_waited_for_by_the_next_ones() {
    let plans = Plans::of(&all(limits(5, 10, 0))).unwrap();
    for caller in [
        nobody("192.0.2.1"),
        nobody("2001:db8::1"),
        Caller::Anonymous(None),
        holder("key_1", &plans),
    ] {
        on_each(&all(limits(5, 10, 0)), async |rig| {
            let caller = match &caller {
                Caller::Known(_) => holder("key_1", &rig.plans),
                other => other.clone(),
            };
            // Ten requests without delay use up the burst, and four more are owed.
            for left in (0..10).rev() {
                assert_eq!(rig.admit(&caller).await.remaining, Some(left));
            }
            there(rig.limits.owe(&caller, 4)).await;
            let refused = rig.admit(&caller).await;
            assert_eq!(refused.outcome, Outcome::TooFast(Duration::from_millis(1_000)));
            assert_eq!(
                (refused.remaining, refused.reset_after),
                (Some(0), Duration::from_millis(2_800))
            );
            rig.clock.advance_ms(999);
            assert_ne!(rig.admit(&caller).await.outcome, Outcome::Allowed);
            rig.clock.advance_ms(1);
            assert_eq!(rig.admit(&caller).await.outcome, Outcome::Allowed);
            // The debt is at most two bursts, so a refused request waits for about one burst.
            there(rig.limits.owe(&caller, 15)).await;
            let refused = rig.admit(&caller).await.outcome;
            assert_eq!(refused, Outcome::TooFast(Duration::from_millis(2_200)));
        });
    }
    on_each(&all(limits(5, 10, 7)), async |rig| {
        let caller = nobody("192.0.2.1");
        rig.admit(&caller).await;
        there(rig.limits.owe(&caller, 3)).await;
        assert_eq!(rig.look(&caller).await.today.unwrap().0, 3);
    });
}

#[test]
fn the_networks_around_a_client_have_larger_limits() {
    for (networks, times, elsewhere) in [
        ("2001:db8:0:{}::1", 4, "2001:db8:0:100::1"),
        ("2001:db8:0:{}00::1", 16, "2001:db8:1::1"),
        ("192.0.2.{}", 16, "192.0.3.1"),
    ] {
        let network = |number: u32| nobody(&networks.replace("{}", &number.to_string()));
        // Either the burst limit or the daily limit is exceeded.
        for (config, is_day) in [(limits(5, 2, 0), false), (limits(1_000, 5_000, 2), true)] {
            on_each(&all(config), async |rig| {
                for number in 0..times {
                    for _ in 0..2 {
                        assert_eq!(
                            rig.admit(&network(number)).await.outcome,
                            Outcome::Allowed,
                            "{networks}"
                        );
                    }
                }
                for verdict in [rig.look(&network(times)).await, rig.admit(&network(times)).await] {
                    let of_day = matches!(verdict.outcome, Outcome::TooManyToday(_));
                    assert_ne!(verdict.outcome, Outcome::Allowed, "{networks}");
                    assert_eq!((of_day, verdict.remaining), (is_day, Some(0)), "{networks}");
                }
                assert_eq!(
                    rig.admit(&nobody(elsewhere)).await.outcome,
                    Outcome::Allowed,
                    "{networks}"
                );
                assert_eq!(rig.admit(&holder("key_1", &rig.plans)).await.outcome, Outcome::Allowed);
                if !is_day {
                    // Exactly one more request of the whole network is allowed after this time.
                    rig.clock.advance_ms(i64::from(200 / times) + 1);
                    assert_eq!(rig.admit(&network(times)).await.outcome, Outcome::Allowed, "{networks}");
                    assert_ne!(rig.admit(&network(times)).await.outcome, Outcome::Allowed, "{networks}");
                }
            });
        }
    }
}

#[test]
fn networks_are_not_shown_by_debug_output() {
    on_each(&all(limits(5, 20, 0)), async |rig| {
        rig.admit(&nobody("192.0.2.77")).await;
        rig.admit(&Caller::Anonymous(Some(api::ClientNetwork::of(
            Ipv6Addr::new(0x2001, 0xdb8, 0, 0x77, 0, 0, 0, 1).into(),
        ))))
        .await;
        let shown = format!("{:?}", rig.limits);
        assert!(!shown.contains("192.0.2") && !shown.contains("V6"), "{shown}");
    });
}

#[tokio::test]
async fn what_a_key_was_used_for_before_a_restart_counts_on() {
    let config = all(limits(5, 20, 100));
    let clock = SetClock::at(EVENING);
    let state = memory().await;
    let used = |key: &state::IssuedKey, days: i64, requests| UsageEntry {
        key: key.record.id.clone(),
        day: Day::of(clock.now(), INDIA).plus(days),
        route: "/v1/search".to_owned(),
        requests,
    };
    let [much, before] = [
        create(&state, "Much", Plan::Free, None).await,
        create(&state, "Before", Plan::Free, None).await,
    ];
    let batch = UsageBatch::new([used(&much, 0, 98), used(&much, -1, 50), used(&before, -1, 99)]);
    state.add_usage(&batch).await.unwrap();
    let plans = Plans::of(&config).unwrap();
    let as_clock: Arc<dyn Clock> = Arc::<SetClock>::clone(&clock);
    let limits = LocalLimits::new(plans.clone(), 1_000, INDIA, as_clock);
    limits.resume(&state).await.unwrap();
    let left = async |key: &state::IssuedKey| {
        let caller = holder(key.record.id.as_str(), &plans);
        there(limits.look(&caller)).await.today.unwrap().0
    };
    assert_eq!((left(&much).await, left(&before).await), (2, 100));
    state.close().await;
    assert!(limits.resume(&state).await.is_err());
}
