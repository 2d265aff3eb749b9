use data_model::{TimeZone, Timestamp};
use jobs::{DueRun, JobName, JobsConfig, Schedule};
use proptest::prelude::*;

use crate::oracle::Expression;

const ZONES: [&str; 5] = [
    "UTC",
    "Asia/Kolkata",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
];
const EXPRESSIONS: [&str; 10] = [
    "*/15 * * * *",
    "7-59/15 * * * *",
    "0 * * * *",
    "30 2 * * *",
    "0 2 * * *",
    "5 0 * * 0",
    "15 1,2,3 * * *",
    "0 */6 * * *",
    "59 23 * * 1-5",
    "*/7 0-4 * * *",
];

fn schedule(text: &str, zone: &str) -> Schedule {
    Schedule::parse(text, zone.parse().unwrap()).unwrap()
}

fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn after(text: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
    let schedule = schedule(text, zone);
    let first = schedule.next(moment(from));
    let moments = std::iter::successors(first, |moment| schedule.next(*moment));
    moments.take(count).map(|moment| moment.to_string()).collect()
}

#[test]
fn a_time_of_day_comes_once_a_day_whatever_the_clocks_do() {
    // Berlin's clocks skip 02:30 on 29 March and show it twice on 25 October.
    assert_eq!(
        after("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3),
        ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]
    );
    assert_eq!(
        after("30 2 * * *", "Europe/Berlin", "2026-10-24T01:00:00Z", 2),
        ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    );
}

#[test]
fn what_comes_every_quarter_of_an_hour_goes_on_when_clocks_are_set() {
    let forward = after("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:20:00Z", 3);
    assert_eq!(
        forward,
        ["2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"]
    );
    let back = after("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:20:00Z", 4);
    assert_eq!(
        back,
        [
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:00:00Z",
            "2026-10-25T01:30:00Z",
            "2026-10-25T02:00:00Z"
        ]
    );
}

#[test]
fn what_is_no_expression_or_never_comes_true_is_refused_in_plain_words() {
    let refused = |text| Schedule::parse(text, TimeZone::UTC).unwrap_err().to_string();
    insta::assert_snapshot!(["", "* * * *", "61 * * * *", "0 0 30 2 *", "0 0 0 1 1 *", "every day"].map(refused).join("\n"), @r#"
    "" is not a valid cron expression (minute, hour, day of the month, month, day of the week): CronPattern cannot be an empty string
    "* * * *" is not a valid cron expression (minute, hour, day of the month, month, day of the week): Invalid pattern: Pattern must have 5 fields when seconds are disallowed
    "61 * * * *" is not a valid cron expression (minute, hour, day of the month, month, day of the week): Component error: Number out of bounds
    "0 0 30 2 *" is not a valid cron expression (minute, hour, day of the month, month, day of the week): no date matches it
    "0 0 0 1 1 *" is not a valid cron expression (minute, hour, day of the month, month, day of the week): Invalid pattern: Pattern must have 5 fields when seconds are disallowed
    "every day" is not a valid cron expression (minute, hour, day of the month, month, day of the week): Invalid pattern: Pattern must have 5 fields when seconds are disallowed
    "#);
}

#[test]
fn each_job_has_a_schedule_that_can_be_read() {
    JobsConfig::default().check().unwrap();
    for name in JobName::ALL {
        assert_eq!(name.to_string().parse(), Ok(name));
    }
    let mut config = JobsConfig::default();
    config.compact.cron = "20 25 * * *".to_owned();
    insta::assert_snapshot!(config.check().unwrap_err(), @r#"jobs.compact.cron: "20 25 * * *" is not a valid cron expression (minute, hour, day of the month, month, day of the week): Component error: Number out of bounds"#);
    insta::assert_snapshot!("crawl".parse::<JobName>().unwrap_err(), @r#"no job is called "crawl"; the jobs are refresh-catalogue, refresh-shipping, refresh-reviews, build-release, compact, vacuum, collect-garbage, check-quality, probe-delivery"#);
}

/// Returns a strategy for weeks around clock changes, and for one in summer.
fn weeks() -> impl Strategy<Value = Timestamp> {
    let begins = [
        "2026-03-05",
        "2026-03-26",
        "2026-04-02",
        "2026-07-01",
        "2026-10-01",
        "2026-10-22",
        "2026-10-29",
    ];
    prop::sample::select(begins.map(|day| moment(&format!("{day}T00:00:00Z"))).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn moments_are_those_that_a_look_at_every_minute_finds(
        text in prop::sample::select(EXPRESSIONS.to_vec()),
        zone in prop::sample::select(ZONES.to_vec()),
        week in weeks(),
        later_s in 0i64..86_400,
    ) {
        let (begin, schedule) = (week.plus_millis(later_s * 1000), schedule(text, zone));
        let end = begin.plus_millis(6 * 86_400_000);
        let mut found = Vec::new();
        let mut last = begin;
        while let Some(next) = schedule.next(last).filter(|next| *next <= end) {
            found.push(next);
            last = next;
        }
        let expected: Vec<_> = Expression::new(text).moments(zone, begin, end).into_iter().collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn what_is_due_is_the_latest_moment_and_counts_all_before_it(
        text in prop::sample::select(EXPRESSIONS.to_vec()),
        zone in prop::sample::select(ZONES.to_vec()),
        week in weeks(),
        (from_s, for_s) in (0i64..259_200, 0i64..259_200),
    ) {
        let accounted_to = week.plus_millis(from_s * 1000);
        let now = accounted_to.plus_millis(for_s * 1000 + 999);
        let expected = Expression::new(text).moments(zone, accounted_to, now);
        let expected = expected.last().map(|at| DueRun { at: *at, missed: expected.len() as u32 - 1 });
        prop_assert_eq!(schedule(text, zone).due(accounted_to, now), expected);
    }
}
