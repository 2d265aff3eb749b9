//! Tests of the metric for the time since which a successful run of a job is overdue.

use data_model::Timestamp;
use jobs::{JobName, Schedule};
use metrics_exporter_prometheus::PrometheusBuilder;
use proptest::prelude::*;

use crate::support::{JobScript, Rig, look};

const EXPRESSIONS: [&str; 4] = ["*/15 * * * *", "7 * * * *", "30 2 * * *", "0 3 * * 1-5"];
const ZONE: &str = "Europe/Berlin";
const LOOK_S: i64 = 240;

/// Returns the metric of the job in whole seconds.
fn told(metrics: &str) -> Option<i64> {
    let line = "job_owed_timestamp_seconds{job=\"vacuum\"} ";
    let value = metrics.lines().find_map(|found| found.strip_prefix(line))?;
    value.parse::<f64>().ok().map(|seconds| seconds as i64)
}

#[derive(Debug, Clone)]
struct Story {
    cron: &'static str,
    begin_s: i64,
    /// Number of scheduler steps, and the steps before which another process replaces the scheduler.
    looks: usize,
    restarts: Vec<usize>,
    /// First step from which on runs succeed, if any.
    good_from: Option<usize>,
}

fn story() -> impl Strategy<Value = Story> {
    let looks = 1usize..700;
    let moments = (0usize..700, prop::option::of(0usize..700));
    let cron = prop::sample::select(EXPRESSIONS.as_slice());
    (cron, 0i64..31_536_000, looks, moments).prop_map(|(cron, begin_s, looks, (restart, good_from))| Story {
        cron,
        begin_s,
        looks,
        restarts: vec![restart, restart / 2],
        good_from,
    })
}

/// Asserts that the metric is correct after any sequence of failed runs and restarts.
async fn holds(story: &Story, metrics: impl Fn() -> String) {
    let begin = Timestamp::from_micros((1_767_225_600 + story.begin_s) * 1_000_000);
    let mut rig = Rig::new(&[JobName::Vacuum], &begin.to_string(), ZONE).await;
    story.cron.clone_into(&mut rig.config.vacuum.cron);
    rig.does(JobName::Vacuum, JobScript::Fails);
    let schedule = Schedule::parse(story.cron, ZONE.parse().unwrap()).unwrap();
    let mut scheduler = rig.scheduler("first");
    for at in 0..story.looks {
        if story.restarts.contains(&at) {
            scheduler = rig.scheduler("after a restart");
        }
        if story.good_from == Some(at) {
            rig.does(JobName::Vacuum, JobScript::Done);
        }
        look(&mut scheduler).await;
        let good_at = rig.state.job("vacuum", rig.now()).await.unwrap().good_at;
        let owed = schedule.next(good_at.unwrap_or(begin)).unwrap();
        assert_eq!(told(&metrics()), Some(owed.micros() / 1_000_000), "{story:?} {at}");
        rig.pass(LOOK_S);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_job_owes_a_run_from_the_first_moment_of_its_schedule_that_no_good_run_came_after(story in story()) {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        metrics::with_local_recorder(&recorder, || runtime.block_on(holds(&story, || handle.render())));
    }
}
