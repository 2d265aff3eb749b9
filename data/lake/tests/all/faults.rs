//! Kills the process at every write, and checks that the next process finishes the commit batch without losing or
//! duplicating rows.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::*;
use data_lake::{Lake, VacuumKeep};
use data_model::Clock;
use data_storage::Storage;
use futures::StreamExt;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};

type Content = BTreeMap<String, Vec<String>>;

/// Commits two crawls and then compacts and vacuums, as one process does. Stops at the first failure.
async fn two_crawls(storage: &Storage, clock: &Arc<SetClock>) -> Result<(), data_lake::LakeError> {
    let lake = Lake::open(storage.clone(), config(), Arc::clone(clock) as Arc<dyn Clock>).await?;
    lake.commit(first(), run(1)).await?;
    lake.commit(second(), run(2)).await?;
    lake.compact(false).await?;
    clock.advance_ms(1000);
    let keep = VacuumKeep {
        retention: Duration::ZERO,
        versions: Vec::new(),
        dry_run: false,
    };
    lake.vacuum(&keep).await.map(drop)
}

/// Commits the crawls that may be missing, as the next process would.
async fn finish(storage: &Storage, clock: &Arc<SetClock>) {
    let lake = open(storage, clock).await;
    let ticks = lake.snapshot().await.unwrap().tick().unwrap();
    for (tick, refreshes) in [(1, first()), (2, second())] {
        if ticks < tick {
            lake.commit(refreshes, run(u32::try_from(tick).unwrap())).await.unwrap();
        }
    }
}

/// Runs all cases, two at a time.
async fn every(cases: impl Iterator<Item = impl Future<Output = ()> + Send + 'static>) {
    let tasks = futures::stream::iter(cases.map(tokio::spawn)).buffer_unordered(2);
    tasks.for_each(|ended| async { ended.unwrap() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn death_at_any_write_loses_nothing_and_doubles_nothing() {
    let process = |storage| async move { two_crawls(&storage, &midnight()).await.unwrap() };
    let left = deaths(&Storage::memory(), process).await;
    let last = open(left.last().unwrap(), &midnight()).await;
    let expected: Arc<Content> = Arc::new(content(&last).await);
    assert!((50..300).contains(&left.len()), "{} writes", left.len());
    every(left.into_iter().enumerate().map(|(nth, storage)| {
        let expected = Arc::clone(&expected);
        async move {
            let clock = midnight();
            finish(&storage, &clock).await;
            // A third process finds everything in order.
            assert_eq!(
                content(&open(&storage, &clock).await).await,
                *expected,
                "after write {nth}"
            );
        }
    }))
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_failed_write_does_not_stop_the_process_that_goes_on() {
    let (clock, new) = (midnight(), Storage::memory());
    open(&new, &clock).await;
    let (counter, counted) = faulty(&new).await;
    let lake = open(&counted, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let writes = counter.mutations();
    let expected: Arc<Content> = Arc::new(content(&lake).await);
    let kinds = [FaultKind::BeforeEffect, FaultKind::AfterEffect];
    every(
        kinds
            .into_iter()
            .flat_map(|kind| (1..=writes).map(move |nth| (kind, nth)))
            .map(|(kind, nth)| {
                let (expected, clock, new) = (Arc::clone(&expected), Arc::clone(&clock), new.clone());
                async move {
                    let (faulty, storage) = faulty(&new).await;
                    let lake = open(&storage, &clock).await;
                    faulty.arm(FaultPlan {
                        nth,
                        kind,
                        dead_after: false,
                    });
                    if lake.commit(first(), run(1)).await.is_err() {
                        lake.commit(first(), run(1)).await.unwrap();
                    }
                    assert_eq!(content(&lake).await, *expected, "{kind:?} at write {nth}");
                }
            }),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_can_be_read_and_freed_and_what_was_begun_is_finished_once_there_is_room() {
    let (clock, begun) = (midnight(), Storage::memory());
    let lake = open(&begun, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let before: Arc<Content> = Arc::new(content(&lake).await);
    let (counter, counted) = faulty(&begun).await;
    let lake = open(&counted, &clock).await;
    lake.commit(second(), run(2)).await.unwrap();
    let writes = counter.mutations();
    let after: Arc<Content> = Arc::new(content(&lake).await);
    assert_ne!(before, after);
    let some_unfinished = Arc::new(AtomicBool::new(false));
    every((1..=writes).map(|nth| {
        let (before, after, clock) = (Arc::clone(&before), Arc::clone(&after), Arc::clone(&clock));
        let (seen, begun) = (Arc::clone(&some_unfinished), begun.clone());
        async move {
            let (faulty, storage) = faulty(&begun).await;
            let lake = open(&storage, &clock).await;
            faulty.arm(FaultPlan {
                nth,
                kind: FaultKind::Full,
                dead_after: false,
            });
            let committed = lake.commit(second(), run(2)).await.is_ok();
            let next = open(&storage, &clock).await;
            let read = content(&next).await;
            // The next process knows that it cannot commit, even if the commit batch was not recorded.
            let unfinished = next.unfinished_tick().await;
            assert!(
                unfinished.is_none() || unfinished == Some(2) && read == *before,
                "full at write {nth}"
            );
            seen.fetch_or(unfinished.is_some(), Ordering::Relaxed);
            assert!(read == *before || read == *after, "neither state, full at write {nth}");
            assert!(
                !committed || read == *after,
                "acknowledged and gone, full at write {nth}"
            );
            for dry_run in [true, false] {
                let keep = VacuumKeep {
                    retention: Duration::ZERO,
                    versions: Vec::new(),
                    dry_run,
                };
                next.vacuum(&keep).await.unwrap();
            }
            assert_eq!(content(&next).await, read, "full at write {nth}");
            faulty.disarm();
            let last = open(&storage, &clock).await;
            assert_eq!(last.unfinished_tick().await, None);
            last.commit(second(), run(2)).await.unwrap();
            assert_eq!(content(&last).await, *after, "full at write {nth}");
        }
    }))
    .await;
    assert!(some_unfinished.load(Ordering::Relaxed));
}

#[tokio::test]
async fn a_storage_that_ignores_conditions_holds_no_lake() {
    let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
    faulty.arm(FaultPlan {
        nth: 1,
        kind: FaultKind::Unconditional,
        dead_after: false,
    });
    let storage = Storage::with_store(Arc::new(faulty), "memory:///".parse().unwrap());
    for _ in 0..2 {
        let opened = Lake::open(storage.clone(), config(), midnight()).await;
        let error = opened.unwrap_err();
        assert!(error.to_string().contains("If-None-Match"), "{error}");
    }
    assert!(objects(&storage).await.is_empty(), "nothing is left behind");
}
