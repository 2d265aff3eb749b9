//! Checks that recorded checks can be read back.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use data_checks::{CheckOutcome, CheckReport, LastRun, RunEnd, load, load_newer, record};
use data_model::Timestamp;
use data_storage::{ObjectPath, Storage, put_over};

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

fn run(name: &str, second: i64) -> LastRun {
    LastRun {
        run: format!("20261122T00000{name}Z-00000000").parse().unwrap(),
        ended_at: at(second),
        end: RunEnd::Finished,
        error: None,
    }
}

fn checked(store: &str, second: i64, outcome: CheckOutcome) -> CheckReport {
    let failed = outcome == CheckOutcome::Failed;
    CheckReport {
        store: format!("{store}.example").parse().unwrap(),
        slug: store.parse().unwrap(),
        checked_at: at(second),
        outcome,
        code: failed.then(|| "timeout".to_owned()),
        detail: failed.then(|| "it did not answer".repeat(100)),
        is_incomplete: false,
    }
}

#[tokio::test]
async fn a_check_of_a_clock_that_was_ahead_gives_way_to_the_next_one() {
    const YEAR: i64 = 365 * 24 * 3600;
    let storage = Storage::memory();
    let all = |_: &_| true;
    for second in [YEAR, 1, 2, 3] {
        let outcome = if second == YEAR {
            CheckOutcome::Unchanged
        } else {
            CheckOutcome::Failed
        };
        record(&storage, &run("1", second), &[checked("kith", second, outcome)], all)
            .await
            .unwrap();
    }
    let checks = load(&storage).await.unwrap();
    let kith = checks.of(&"kith.example".parse().unwrap()).unwrap();
    assert_eq!(
        (kith.outcome, kith.bad_in_row, kith.checked_at),
        (CheckOutcome::Failed, 3, at(3))
    );
    assert_eq!(checks.last_run.unwrap().ended_at, at(3));
}

#[tokio::test]
async fn a_brand_keeps_its_last_check_and_when_it_was_last_good() {
    let storage = Storage::memory();
    assert_eq!(load(&storage).await.unwrap().seq, 0);
    let all = |_: &_| true;
    let one = [
        checked("kith", 1, CheckOutcome::Changed),
        checked("bmc", 1, CheckOutcome::Unchanged),
    ];
    record(&storage, &run("1", 2), &one, all).await.unwrap();
    for second in 3..6 {
        let failed = [checked("kith", second, CheckOutcome::Failed)];
        record(&storage, &run(&second.to_string(), second), &failed, all)
            .await
            .unwrap();
    }
    let checks = load(&storage).await.unwrap();
    let kith = checks.of(&"kith.example".parse().unwrap()).unwrap();
    assert_eq!(
        (kith.outcome, kith.bad_in_row, kith.good_at),
        (CheckOutcome::Failed, 3, Some(at(1)))
    );
    assert_eq!(kith.detail.as_ref().unwrap().chars().count(), 401);
    assert_eq!(checks.span(), Some((at(1), at(5))));
    assert_eq!(checks.last_run.unwrap().ended_at, at(5));
}

#[tokio::test]
async fn an_older_check_and_one_told_twice_change_nothing() {
    let storage = Storage::memory();
    let all = |_: &_| true;
    let failed = [checked("kith", 5, CheckOutcome::Failed)];
    record(&storage, &run("1", 6), &failed, all).await.unwrap();
    record(&storage, &run("1", 6), &failed, all).await.unwrap();
    let before = load(&storage).await.unwrap();
    record(
        &storage,
        &run("0", 4),
        &[checked("kith", 3, CheckOutcome::Changed)],
        all,
    )
    .await
    .unwrap();
    let after = load(&storage).await.unwrap();
    assert_eq!(
        (before.brands, before.last_run),
        (after.brands.clone(), after.last_run.clone())
    );
    assert_eq!(after.of(&"kith.example".parse().unwrap()).unwrap().bad_in_row, 1);
}

#[tokio::test]
async fn brands_that_are_no_longer_registered_are_forgotten() {
    let storage = Storage::memory();
    let both = [
        checked("kith", 1, CheckOutcome::Changed),
        checked("bmc", 1, CheckOutcome::Changed),
    ];
    record(&storage, &run("1", 2), &both, |_| true).await.unwrap();
    let checks = record(&storage, &run("2", 3), &[], |store| store.as_str() == "bmc.example")
        .await
        .unwrap();
    assert_eq!(checks.brands.len(), 1);
}

#[tokio::test]
async fn a_damaged_record_is_passed_over_and_old_ones_go() {
    let storage = Storage::memory();
    for second in 1..=30 {
        let one = [checked("kith", second, CheckOutcome::Changed)];
        record(&storage, &run("1", second), &one, |_| true).await.unwrap();
    }
    let newest = load(&storage).await.unwrap();
    assert_eq!(newest.seq, 30);
    assert!(load_newer(&storage, 30).await.unwrap().is_none());
    let path = ObjectPath::from("checks/00000000000000000030.json");
    put_over(&storage, &path, "{\"entry\":").await.unwrap();
    let checks = load(&storage).await.unwrap();
    assert_eq!(checks.span(), Some((at(29), at(29))));
    let next = [checked("kith", 31, CheckOutcome::Unchanged)];
    let checks = record(&storage, &run("1", 31), &next, |_| true).await.unwrap();
    assert_eq!((checks.seq, checks.span()), (31, Some((at(31), at(31)))));
    use futures::TryStreamExt;
    let left: Vec<_> = storage
        .store()
        .list(Some(&ObjectPath::from("checks")))
        .try_collect()
        .await
        .unwrap();
    assert_eq!(left.len(), 9, "{left:?}");
}

#[tokio::test]
async fn crawls_that_end_at_once_are_all_recorded() {
    let storage = Storage::memory();
    let crawls = (0..8).map(|number| {
        let storage = storage.clone();
        tokio::spawn(async move {
            let one = [checked(&format!("store-{number}"), 1, CheckOutcome::Changed)];
            record(&storage, &run(&number.to_string(), 2), &one, |_| true)
                .await
                .unwrap();
        })
    });
    for crawl in crawls.collect::<Vec<_>>() {
        crawl.await.unwrap();
    }
    assert_eq!(load(&storage).await.unwrap().brands.len(), 8);
}

#[tokio::test]
async fn a_check_that_comes_out_otherwise_in_the_same_run_at_the_same_moment_counts() {
    let storage = Storage::memory();
    for outcome in [CheckOutcome::HeldBack, CheckOutcome::Changed] {
        let one = [checked("kith", 1, outcome)];
        record(&storage, &run("1", 2), &one, |_: &_| true).await.unwrap();
    }
    let checks = load(&storage).await.unwrap();
    let kith = checks.of(&"kith.example".parse().unwrap()).unwrap();
    assert_eq!((kith.outcome, kith.bad_in_row), (CheckOutcome::Changed, 0));
}
