use std::collections::{BTreeMap, BTreeSet};

use state::{JobCause, JobRow, JobRunEnd, JobRunOutcome, JobWork, LeaseToken, NewJobRun, State};

use crate::support::{at, on_both};

const JOB: &str = "refresh-catalogue";

fn run(cause: JobCause, second: i64, worker: &str) -> NewJobRun {
    NewJobRun {
        cause,
        scheduled_at: at(second),
        missed: 2,
        attempt: 1,
        accounted_to: at(second),
        worker: worker.to_owned(),
    }
}

fn ended(outcome: JobRunOutcome, retry: Option<i64>) -> JobRunEnd {
    JobRunEnd {
        outcome,
        counts: BTreeMap::from([("stores".to_owned(), 3)]),
        detail: Some("one store failed".to_owned()),
        retry_at: retry.map(at),
    }
}

async fn job(state: &State) -> JobRow {
    state.job(JOB, at(0)).await.unwrap()
}

async fn begun(state: &State, second: i64) -> (i64, LeaseToken) {
    let lease = LeaseToken::new().unwrap();
    let row = job(state).await;
    let number = state
        .begin_job(&row, &run(JobCause::Schedule, second, "one"), &lease, at(second))
        .await
        .unwrap();
    (number.unwrap(), lease)
}

async fn outcomes(state: &State) -> Vec<(i64, &'static str)> {
    let runs = state.job_runs(Some(JOB), 10).await.unwrap();
    runs.iter().map(|run| (run.number, run.outcome.as_str())).collect()
}

#[test]
fn a_run_is_told_from_its_begin_to_its_end_with_what_it_did() {
    on_both(async |place| {
        let state = place.open().await;
        assert_eq!(job(&state).await.work, JobWork::Idle);
        let (number, lease) = begun(&state, 10).await;
        assert!(matches!(job(&state).await.work, JobWork::Held { .. }));
        assert!(state.beat_job(JOB, &lease).await.unwrap());
        let end = ended(JobRunOutcome::Partial, None);
        assert!(state.end_job(JOB, number, &lease, &end, at(12)).await.unwrap());
        // A run can end only once.
        assert!(!state.end_job(JOB, number, &lease, &end, at(13)).await.unwrap());
        assert!(!state.beat_job(JOB, &lease).await.unwrap());
        state.close().await;
        let state = place.open().await;
        let row = job(&state).await;
        assert_eq!(
            (row.work, row.good_at, row.accounted_to),
            (JobWork::Idle, Some(at(12)), at(10))
        );
        let told = serde_json::to_string(&state.last_job_runs().await.unwrap()).unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @r#"[{"job":"refresh-catalogue","number":1,"cause":"schedule","outcome":"partial","scheduled_at":"2026-11-23T04:00:10Z","missed":2,"attempt":1,"started_at":"2026-11-23T04:00:10Z","ended_at":"2026-11-23T04:00:12Z","worker":"one","counts":{"stores":3},"detail":"one store failed"}]"#);
        }
    });
}

#[test]
fn of_many_that_would_begin_the_same_run_one_does() {
    on_both(async |place| {
        let row = job(&place.open().await).await;
        let beginning = (0..8).map(|nth| {
            let (target, row) = (place.target.clone(), row.clone());
            tokio::spawn(async move {
                let state = State::open(&target).await.unwrap();
                let lease = LeaseToken::new().unwrap();
                let new = run(JobCause::Schedule, 5, &format!("worker {nth}"));
                state.begin_job(&row, &new, &lease, at(5)).await.unwrap()
            })
        });
        let mut numbers = Vec::new();
        for begun in beginning.collect::<Vec<_>>() {
            numbers.extend(begun.await.unwrap());
        }
        assert_eq!(numbers, [1]);
    });
}

#[test]
fn a_lost_run_is_told_and_its_holder_who_lives_after_all_is_fenced_off() {
    on_both(async |place| {
        let state = place.open().await;
        let (first, lost) = begun(&state, 10).await;
        let before = job(&state).await;
        assert!(state.beat_job(JOB, &lost).await.unwrap());
        // The holder lives, so a decision based on an older row is refused.
        assert!(!state.lose_job(&before, Some(at(20)), at(20)).await.unwrap());
        let now = job(&state).await;
        assert!(state.lose_job(&now, Some(at(21)), at(20)).await.unwrap());
        assert!(!state.lose_job(&now, Some(at(21)), at(20)).await.unwrap());
        assert_eq!(job(&state).await.retry_at, Some(at(21)));
        let (second, lease) = begun(&state, 21).await;
        assert!(!state.beat_job(JOB, &lost).await.unwrap());
        let end = ended(JobRunOutcome::Done, None);
        assert!(!state.end_job(JOB, first, &lost, &end, at(30)).await.unwrap());
        assert_eq!(outcomes(&state).await, [(second, "running"), (first, "lost")]);
        assert!(state.end_job(JOB, second, &lease, &end, at(30)).await.unwrap());
        assert_eq!(outcomes(&state).await, [(second, "done"), (first, "lost")]);
    });
}

#[test]
fn a_job_rests_and_is_asked_for_and_what_was_due_meanwhile_is_not_caught_up() {
    on_both(async |place| {
        let state = place.open().await;
        assert!(state.pause_job(JOB, "asha", at(5)).await.unwrap());
        assert!(!state.pause_job(JOB, "ravi", at(6)).await.unwrap());
        assert!(state.trigger_job(JOB, "ravi", at(7)).await.unwrap());
        assert!(!state.trigger_job(JOB, "ravi", at(8)).await.unwrap());
        let row = job(&state).await;
        assert_eq!(row.paused.as_ref().map(|paused| paused.by.as_str()), Some("asha"));
        assert_eq!(row.triggered.as_ref().map(|asked| asked.at), Some(at(7)));
        let (number, lease) = begun(&state, 9).await;
        assert_eq!(job(&state).await.triggered, None);
        let end = ended(JobRunOutcome::Failed, Some(60));
        assert!(state.end_job(JOB, number, &lease, &end, at(10)).await.unwrap());
        assert_eq!(
            (job(&state).await.retry_at, job(&state).await.good_at),
            (Some(at(60)), None)
        );
        assert!(state.resume_job(JOB, at(100)).await.unwrap());
        assert!(!state.resume_job(JOB, at(101)).await.unwrap());
        let row = job(&state).await;
        assert_eq!((row.accounted_to, row.retry_at, row.paused), (at(100), None, None));
        // A clock that was far ahead marked the schedule as done.
        assert!(state.rewind_job(&job(&state).await, at(50)).await.unwrap());
        assert_eq!(job(&state).await.accounted_to, at(50));
    });
}

#[test]
fn runs_are_told_newest_first_and_a_bounded_number_is_kept() {
    on_both(async |place| {
        let state = place.open().await;
        for second in 0..1_003 {
            let (number, lease) = begun(&state, second).await;
            let end = ended(JobRunOutcome::Done, None);
            assert!(state.end_job(JOB, number, &lease, &end, at(second)).await.unwrap());
        }
        let kept = state.job_runs(None, 2_000).await.unwrap();
        let numbers: BTreeSet<_> = kept.iter().map(|run| run.number).collect();
        assert_eq!((kept.len(), numbers.first(), kept[0].number), (1_000, Some(&4), 1_003));
        assert_eq!(state.job_runs(Some("compact"), 5).await.unwrap(), []);
        assert_eq!(state.jobs().await.unwrap().len(), 1);
    });
}

#[test]
fn a_run_that_an_ended_program_left_in_a_folder_is_known_to_be_nobodys() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let place = crate::support::Place::sqlite();
        let state = place.open().await;
        begun(&state, 1).await;
        // The job may still run in the other process that has the folder open.
        assert!(matches!(job(&place.open().await).await.work, JobWork::Held { .. }));
        state.close().await;
        drop(state);
        assert!(matches!(job(&place.open().await).await.work, JobWork::Abandoned { .. }));
    });
}
