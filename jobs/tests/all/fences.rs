use jobs::{DEAD_AFTER, JobName, Scheduler, TriggerOutcome};
use state::{State, StateTarget};
use tokio_util::sync::CancellationToken;

use crate::support::{JobScript, Rig, look};

const JOB: JobName = JobName::Compact;

/// Creates a rig one minute before the job's daily scheduled time, with a scheduler of the job.
async fn rig(does: JobScript) -> (Rig, Scheduler) {
    let rig = Rig::new(&[JOB], "2026-11-23T01:19:00Z", "UTC").await;
    rig.does(JOB, does);
    let mut scheduler = rig.scheduler("one");
    look(&mut scheduler).await;
    (rig, scheduler)
}

#[tokio::test]
async fn what_fails_is_tried_again_after_pauses_that_double_and_then_not_before_its_next_moment() {
    let (rig, mut scheduler) = rig(JobScript::Fails).await;
    rig.pass(60);
    look(&mut scheduler).await;
    let mut waited = Vec::new();
    for second in 0..7_200 {
        let before = rig.runs();
        rig.pass(1);
        look(&mut scheduler).await;
        if rig.runs() > before {
            waited.push(second + 1);
        }
    }
    assert_eq!(waited, [60, 180]);
    assert_eq!(
        rig.told(JOB).await,
        [
            "1 schedule failed 1 missed 0",
            "2 retry failed 2 missed 0",
            "3 retry failed 3 missed 0"
        ]
    );
    let last = rig.history(JOB).await.pop().unwrap();
    assert_eq!(last.detail.as_deref(), Some("the disk is full"));
    rig.does(JOB, JobScript::Panics);
    rig.pass(22 * 3600);
    look(&mut scheduler).await;
    let last = rig.history(JOB).await.pop().unwrap();
    assert_eq!(last.detail.as_deref(), Some("the job crashed: see the log"));
}

#[tokio::test]
async fn what_takes_too_long_is_told_to_stop_and_dropped_if_it_does_not() {
    for (does, seconds) in [(JobScript::Waits, 3_600), (JobScript::Hangs, 3_660)] {
        let (rig, mut scheduler) = rig(does).await;
        rig.pass(60);
        look(&mut scheduler).await;
        let mut ended_after = 0;
        while rig.history(JOB).await[0].ended_at.is_none() {
            rig.pass(10);
            ended_after += 10;
            look(&mut scheduler).await;
        }
        assert_eq!(
            (ended_after, rig.told(JOB).await[0].as_str()),
            (seconds, "1 schedule timed_out 1 missed 0")
        );
    }
}

#[tokio::test]
async fn a_process_that_is_told_to_stop_leaves_its_runs_to_the_next_one() {
    let (rig, mut scheduler) = rig(JobScript::Waits).await;
    rig.pass(60);
    look(&mut scheduler).await;
    scheduler.end().await;
    rig.does(JOB, JobScript::Done);
    rig.pass(5);
    look(&mut rig.scheduler("two")).await;
    assert_eq!(
        rig.told(JOB).await,
        ["1 schedule interrupted 1 missed 0", "2 retry done 2 missed 0"]
    );
    assert_eq!(rig.history(JOB).await[0].counts["things"], 1);
}

#[tokio::test]
async fn a_second_scheduler_leaves_a_run_to_the_first_as_long_as_that_lives_and_makes_up_for_it_once_when_it_is_gone() {
    let (rig, mut first) = rig(JobScript::Hangs).await;
    let mut second = rig.scheduler("two");
    rig.pass(60);
    look(&mut first).await;
    for _ in 0..60 {
        rig.pass(10);
        look(&mut first).await;
        look(&mut second).await;
    }
    assert_eq!(rig.runs(), 1);
    // This simulates a kill: the tasks are gone, and no heartbeats are sent.
    drop(first);
    tokio::task::yield_now().await;
    rig.does(JOB, JobScript::Done);
    let mut waited_s = 0;
    while rig.runs() == 1 {
        rig.pass(5);
        waited_s += 5;
        look(&mut second).await;
    }
    assert!(
        waited_s >= DEAD_AFTER.as_secs() - 15 && waited_s <= DEAD_AFTER.as_secs() + 10,
        "{waited_s}"
    );
    rig.pass(3_600);
    look(&mut second).await;
    assert_eq!(
        rig.told(JOB).await,
        ["1 schedule lost 1 missed 0", "2 retry done 2 missed 0"]
    );
}

#[tokio::test]
async fn a_scheduler_that_was_asleep_too_long_gives_its_run_up_before_it_says_anything_about_it() {
    let (rig, mut first) = rig(JobScript::Hangs).await;
    rig.pass(60);
    look(&mut first).await;
    let mut second = rig.scheduler("two");
    // The first scheduler sleeps while the second one polls the state.
    look(&mut second).await;
    rig.pass(DEAD_AFTER.as_secs() as i64);
    second.step().await;
    // The first scheduler wakes up before the job is started again.
    rig.does(JOB, JobScript::Done);
    first.step().await;
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
    first.step().await;
    look(&mut second).await;
    look(&mut first).await;
    assert_eq!(
        rig.told(JOB).await,
        ["1 schedule lost 1 missed 0", "2 retry done 2 missed 0"]
    );
}

#[tokio::test]
async fn a_job_that_kills_whoever_runs_it_is_not_begun_for_ever() {
    let (rig, mut scheduler) = rig(JobScript::Hangs).await;
    rig.pass(60);
    for _ in 0..10 {
        look(&mut scheduler).await;
        drop(scheduler);
        tokio::task::yield_now().await;
        scheduler = rig.scheduler("next");
        look(&mut scheduler).await;
        rig.pass(70);
        look(&mut scheduler).await;
    }
    assert_eq!(
        rig.told(JOB).await,
        [
            "1 schedule lost 1 missed 0",
            "2 retry lost 2 missed 0",
            "3 retry lost 3 missed 0"
        ]
    );
}

#[tokio::test]
async fn a_job_rests_until_it_is_resumed_and_runs_meanwhile_when_it_is_asked_for() {
    let (rig, mut scheduler) = rig(JobScript::Done).await;
    rig.state.pause_job(JOB.as_str(), "asha", rig.now()).await.unwrap();
    rig.pass(3 * 86_400);
    look(&mut scheduler).await;
    assert_eq!(rig.runs(), 0);
    rig.state.trigger_job(JOB.as_str(), "asha", rig.now()).await.unwrap();
    look(&mut scheduler).await;
    rig.state.resume_job(JOB.as_str(), rig.now()).await.unwrap();
    look(&mut scheduler).await;
    rig.pass(86_400);
    look(&mut scheduler).await;
    assert_eq!(
        rig.told(JOB).await,
        ["1 trigger done 1 missed 0", "2 catch_up done 1 missed 0"]
    );
}

#[tokio::test]
async fn what_is_asked_for_here_and_now_is_waited_for_and_told() {
    let (rig, _scheduler) = rig(JobScript::Done).await;
    let stop = CancellationToken::new();
    let ran = rig.scheduler("here").trigger(JOB, stop).await.unwrap();
    let Some(TriggerOutcome::Ran(run)) = ran else {
        panic!("{ran:?}");
    };
    assert_eq!(
        (run.outcome.as_str(), run.worker.as_str(), run.counts["things"]),
        ("done", "here", 3)
    );
    // A job without its work does not run.
    let none = rig
        .scheduler("here")
        .trigger(JobName::Vacuum, CancellationToken::new())
        .await;
    assert!(matches!(none, Ok(None)));
}

#[tokio::test]
async fn no_more_jobs_than_may_be_are_begun_at_once() {
    let rig = Rig::new(&JobName::ALL, "2026-11-23T01:19:00Z", "UTC").await;
    for name in JobName::ALL {
        rig.does(name, JobScript::Waits);
    }
    let mut scheduler = rig.scheduler("one");
    look(&mut scheduler).await;
    rig.pass(86_400);
    look(&mut scheduler).await;
    assert_eq!(rig.runs(), 2);
    let at_work = rig.state.last_job_runs().await.unwrap();
    let names: Vec<_> = at_work.iter().map(|run| run.job.as_str()).collect();
    assert_eq!(names, ["refresh-catalogue", "refresh-shipping"]);
}

#[tokio::test]
async fn without_an_answer_of_the_state_nothing_is_begun_and_what_runs_is_given_up_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let target = StateTarget::Folder(folder.path().join("state"));
    let state = State::open(&target).await.unwrap();
    let mut rig = Rig::over(state, &[JOB], "2026-11-23T01:19:00Z", "UTC");
    rig.does(JOB, JobScript::Hangs);
    let mut scheduler = rig.scheduler("one");
    look(&mut scheduler).await;
    rig.pass(60);
    look(&mut scheduler).await;
    assert_eq!(rig.runs(), 1);
    rig.state.close().await;
    for _ in 0..7 {
        rig.pass(10);
        look(&mut scheduler).await;
    }
    // The first worker is gone, so the next process that opens the folder considers its run lost.
    drop(scheduler);
    rig.state = State::open(&StateTarget::Memory).await.unwrap();
    rig.state = State::open(&target).await.unwrap();
    rig.does(JOB, JobScript::Done);
    let mut two = rig.scheduler("two");
    look(&mut two).await;
    // The duration of the database requests does not matter here.
    let ended = async {
        while rig.told(JOB).await.iter().any(|run| run.contains("running")) || rig.told(JOB).await.len() < 2 {
            look(&mut two).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(300), ended)
        .await
        .unwrap();
    assert_eq!(
        rig.told(JOB).await,
        ["1 schedule lost 1 missed 0", "2 retry done 2 missed 0"]
    );
}
