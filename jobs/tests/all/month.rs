//! Tests of schedules over thirty days with clock changes: no run is missed or doubled.

use jobs::{JobName, Scheduler};
use kit::SetClock;
use proptest::prelude::*;
use state::{JobCause, JobRun, JobRunOutcome, State, StateTarget};

use crate::oracle::Expression;
use crate::support::{JobScript, Rig, look};

/// Jobs with different kinds of expressions: regular intervals, and times of day that clock changes skip or repeat.
const JOBS: [(JobName, &str); 4] = [
    (JobName::RefreshCatalogue, "*/15 * * * *"),
    (JobName::BuildRelease, "7 * * * *"),
    (JobName::Compact, "30 2 * * *"),
    (JobName::Vacuum, "0 3 * * 1-5"),
];

#[derive(Debug, Clone, Copy)]
enum DayEvent {
    /// A process is killed during a run, and another one starts `away_s` seconds later.
    Killed { away_s: i64 },
    /// A process is stopped, and another one starts `away_s` seconds later.
    Stopped { away_s: i64 },
    /// The clock is changed by this number of seconds, forward or back.
    ClockSet { by_s: i64 },
    /// A second process also looks for due jobs for one day.
    Joined,
}

fn happens() -> impl Strategy<Value = DayEvent> {
    prop_oneof![
        (1i64..20_000).prop_map(|away_s| DayEvent::Killed { away_s }),
        (1i64..20_000).prop_map(|away_s| DayEvent::Stopped { away_s }),
        (-10_800i64..10_800).prop_map(|by_s| DayEvent::ClockSet { by_s }),
        Just(DayEvent::Joined),
    ]
}

/// Runs one or two schedulers for thirty days, with a step every `look_s` seconds.
async fn month(rig: &Rig, events: &[(u32, DayEvent)], look_s: i64) {
    let mut first = rig.scheduler("first");
    look(&mut first).await;
    for day in 0..30 {
        let mut second: Option<Scheduler> = None;
        for (_, event) in events.iter().filter(|(on, _)| *on == day) {
            match *event {
                DayEvent::Killed { away_s } => {
                    begin_and_hold(rig, &mut first).await;
                    drop(first);
                    // The aborted tasks of the killed process end.
                    for _ in 0..4 {
                        tokio::task::yield_now().await;
                    }
                    release(rig);
                    rig.pass(away_s);
                    first = rig.scheduler("after a kill");
                }
                DayEvent::Stopped { away_s } => {
                    begin_and_hold(rig, &mut first).await;
                    first.end().await;
                    release(rig);
                    rig.pass(away_s);
                    first = rig.scheduler("after a stop");
                }
                DayEvent::ClockSet { by_s } => rig.clock.advance_ms(by_s * 1000),
                DayEvent::Joined => second = Some(rig.scheduler("second")),
            }
        }
        for _ in 0..86_400 / look_s {
            rig.pass(look_s);
            look(&mut first).await;
            if let Some(second) = &mut second {
                look(second).await;
            }
        }
    }
    // Lost runs are found and started again.
    for _ in 0..20 {
        rig.pass(10);
        look(&mut first).await;
    }
}

/// Starts the next run of each job, which runs until it is released.
async fn begin_and_hold(rig: &Rig, scheduler: &mut Scheduler) {
    for (name, _) in JOBS {
        rig.does(name, JobScript::Waits);
    }
    for _ in 0..100 {
        rig.pass(10);
        look(scheduler).await;
    }
}

fn release(rig: &Rig) {
    for (name, _) in JOBS {
        rig.does(name, JobScript::Done);
    }
}

/// Asserts that each scheduled time belongs to exactly one run: as its own time or among its missed times.
fn is_whole(runs: &[JobRun], moments: &[data_model::Timestamp], told: &str) {
    let scheduled: Vec<&JobRun> = runs
        .iter()
        .filter(|run| matches!(run.cause, JobCause::Schedule | JobCause::CatchUp))
        .collect();
    let mut left = moments.iter();
    for run in &scheduled {
        for _ in 0..run.missed {
            assert!(
                left.next().is_some_and(|moment| *moment < run.scheduled_at),
                "{told}: {run:?}"
            );
        }
        assert_eq!(left.next(), Some(&run.scheduled_at), "{told}: {run:?}");
    }
    assert_eq!(left.next(), None, "{told}: missed");
    // The next run replaced an interrupted one.
    for pair in runs.windows(2) {
        let cut_short = matches!(pair[0].outcome, JobRunOutcome::Lost | JobRunOutcome::Interrupted);
        let made_up = pair[1].outcome == JobRunOutcome::Done || pair[1].cause != JobCause::Schedule;
        assert!(!cut_short || made_up, "{told}: {pair:?}");
    }
    let last = runs.last().map(|run| run.outcome);
    assert_eq!(last, Some(JobRunOutcome::Done), "{told}");
}

async fn lived(begin: &str, zone: &'static str, events: &[(u32, DayEvent)], look_s: i64, state: State) {
    let names: Vec<JobName> = JOBS.iter().map(|(name, _)| *name).collect();
    let mut rig = Rig::over(state, &names, begin, zone);
    rig.config.at_once_max = 8;
    for (name, cron) in JOBS {
        let job = match name {
            JobName::RefreshCatalogue => &mut rig.config.refresh_catalogue,
            JobName::BuildRelease => &mut rig.config.build_release,
            JobName::Compact => &mut rig.config.compact,
            _ => &mut rig.config.vacuum,
        };
        job.cron = cron.to_owned();
    }
    month(&rig, events, look_s).await;
    let from = data_model::Clock::now(SetClock::at(begin).as_ref());
    for (name, cron) in JOBS {
        let runs = rig.history(name).await;
        let accounted = rig.state.job(name.as_str(), rig.now()).await.unwrap().accounted_to;
        // After the clock was set back, the latest handled time may still be in the future.
        let until = rig.now().max(accounted);
        let moments: Vec<_> = Expression::new(cron).moments(zone, from, until).into_iter().collect();
        // The ledger keeps only the newest thousand runs.
        let kept: u64 = runs
            .iter()
            .filter(|run| !matches!(run.cause, JobCause::Retry | JobCause::Trigger))
            .map(|run| 1 + u64::from(run.missed))
            .sum();
        let skipped = if runs.len() >= 1_000 {
            moments.len() - kept as usize
        } else {
            0
        };
        is_whole(&runs, &moments[skipped..], &format!("{name} {zone} {events:?}"));
    }
}

fn block_on(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future);
}

#[test]
fn a_month_in_which_clocks_are_set_forward_and_one_in_which_they_are_set_back_run_everything_once() {
    for begin in ["2026-03-15T06:00:30Z", "2026-10-10T06:00:30Z"] {
        let events = [
            (3, DayEvent::Killed { away_s: 7_000 }),
            (8, DayEvent::ClockSet { by_s: -5_400 }),
            (11, DayEvent::Joined),
            (14, DayEvent::Stopped { away_s: 600 }),
            (20, DayEvent::ClockSet { by_s: 4_000 }),
            (22, DayEvent::Killed { away_s: 90_000 }),
        ];
        block_on(async {
            let state = State::open(&StateTarget::Memory).await.unwrap();
            lived(begin, "Europe/Berlin", &events, 120, state).await;
        });
    }
}

#[test]
fn a_month_over_postgresql_runs_everything_once() {
    block_on(async {
        let Some(url) = kit::postgres_database().await else {
            return;
        };
        let state = State::open(&StateTarget::postgres(&url).unwrap()).await.unwrap();
        let events = [(2, DayEvent::Killed { away_s: 5_000 }), (9, DayEvent::Joined)];
        lived("2026-10-10T06:00:30Z", "Europe/Berlin", &events, 900, state).await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_in_a_month_everything_is_run_once(
        begin in prop::sample::select(vec!["2026-03-12T11:59:59Z", "2026-10-08T00:00:01Z"]),
        zone in prop::sample::select(vec!["Europe/Berlin", "Europe/London", "Australia/Lord_Howe"]),
        events in prop::collection::vec((0u32..30, happens()), 0..8),
        look_s in 200i64..1_500,
    ) {
        block_on(async {
            let state = State::open(&StateTarget::Memory).await.unwrap();
            lived(begin, zone, &events, look_s, state).await;
        });
    }
}
