//! Tests an object store that refuses a conditional put although the object does not exist. The lake must not conclude
//! that another process wrote it. An unrecorded state must be an error, not an empty lake.

use std::sync::Arc;

use crate::support::*;
use data_lake::{Lake, LakeConfig, LakeError};
use data_model::Clock;
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use kit::faulty::{FaultKind, FaultPlan};

/// The lake writes no checkpoints, because the threads that write them do not progress while time is paused.
async fn open_still(storage: &Storage, clock: &Arc<SetClock>) -> Result<Lake, LakeError> {
    let config = LakeConfig {
        checkpoint_every: 1000,
        ..config()
    };
    Lake::open(storage.clone(), config, Arc::clone(clock) as Arc<dyn Clock>).await
}

fn plan(nth: u64, kind: FaultKind) -> FaultPlan {
    FaultPlan {
        nth,
        kind,
        dead_after: false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_conflict_at_any_write_changes_nothing_of_what_two_crawls_bring() {
    let (clock, nothing) = (midnight(), Storage::memory());
    let (counter, counted) = faulty(&nothing).await;
    let lake = open_still(&counted, &clock).await.unwrap();
    let opening = counter.mutations();
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    let (writes, expected) = (counter.mutations(), content(&lake).await);
    let mut conflicts = 0;
    for nth in 1..=writes {
        let (faulty, storage) = faulty(&nothing).await;
        faulty.arm(plan(nth, FaultKind::Conflict));
        let lake = open_still(&storage, &clock).await.unwrap();
        let reports = [
            lake.commit(first(), run(1)).await.unwrap(),
            lake.commit(second(), run(2)).await.unwrap(),
        ];
        // Most writes are not conditional, so that they cannot conflict.
        if faulty.conflicts() == 0 {
            continue;
        }
        conflicts += 1;
        assert_eq!(reports.map(|report| report.ticks), [[1], [2]], "at write {nth}");
        assert_eq!(lake.snapshot().await.unwrap().tick(), Some(2), "at write {nth}");
        let next = open_still(&storage, &clock).await.unwrap();
        assert_eq!(content(&next).await, expected, "at write {nth}");
    }
    // Two commit batch records, two batch ends, and more than ten table commits.
    assert!(opening > 0 && conflicts > 14, "{conflicts}");
}

#[tokio::test(start_paused = true)]
async fn conflicts_without_end_fail_the_crawl_and_the_next_process_finishes_what_was_begun() {
    let (clock, begun) = (midnight(), Storage::memory());
    let lake = open_still(&begun, &clock).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let before = content(&lake).await;
    let (counter, counted) = faulty(&begun).await;
    let lake = open_still(&counted, &clock).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    let (writes, after) = (counter.mutations(), content(&lake).await);
    for nth in 1..=writes {
        let (faulty, storage) = faulty(&begun).await;
        let lake = open_still(&storage, &clock).await.unwrap();
        faulty.arm(plan(nth, FaultKind::Conflicts));
        let committed = lake.commit(second(), run(2)).await;
        // A release build at this time is refused, or sees the complete state.
        if let Ok(newest) = lake.newest_snapshot().await {
            let tick = newest.tick();
            assert!(
                tick == Some(2) || nth == 1 || committed.is_err() && tick == Some(1),
                "{nth}"
            );
        }
        faulty.disarm();
        let next = open_still(&storage, &clock).await.unwrap();
        let read = content(&next).await;
        assert!(read == before || read == after, "neither state, at write {nth}");
        assert!(
            committed.is_err() || read == after,
            "acknowledged and gone, at write {nth}"
        );
        next.commit(second(), run(2)).await.unwrap();
        assert_eq!(content(&next).await, after, "at write {nth}");
    }
}

#[tokio::test]
async fn a_tick_whose_end_is_missing_is_an_error_and_never_an_empty_lake() {
    let (clock, storage) = (midnight(), Storage::memory());
    let lake = open(&storage, &clock).await;
    for (tick, crawl) in [(1, first()), (2, second())] {
        lake.commit(crawl, run(tick)).await.unwrap();
        let before = content(&lake).await;
        let end = ObjectPath::from(format!("_ticks/{tick:020}.done.json"));
        storage.store().delete(&end).await.unwrap();
        for state in [lake.snapshot().await, lake.newest_snapshot().await] {
            let missing = state.unwrap_err();
            assert!(
                matches!(missing, LakeError::EndMissing { tick: of } if of == u64::from(tick)),
                "{missing:?}"
            );
        }
        // The next process that opens the lake writes the missing end record.
        let next = open(&storage, &clock).await;
        let state = next.newest_snapshot().await.unwrap();
        assert_eq!(state.tick(), Some(u64::from(tick)));
        assert_eq!(content(&next).await, before);
        assert_eq!(content(&lake).await, before);
    }
}

#[tokio::test]
async fn a_release_is_not_built_of_what_was_there_before_a_tick_that_was_begun() {
    let (clock, begun) = (midnight(), Storage::memory());
    let lake = open(&begun, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let (counter, counted) = faulty(&begun).await;
    let lake = open(&counted, &clock).await;
    lake.commit(second(), run(2)).await.unwrap();
    let (mut refused, mut finished) = (0, 0);
    for nth in 1..=counter.mutations() {
        let (faulty, storage) = faulty(&begun).await;
        let lake = open(&storage, &clock).await;
        faulty.arm(plan(nth, FaultKind::Full));
        let committed = lake.commit(second(), run(2)).await.is_ok();
        let is_begun = objects(&storage).await.contains_key("_ticks/00000000000000000002.json");
        // The disk is still full, so that the commit batch cannot be finished.
        match lake.newest_snapshot().await {
            Ok(state) => assert!(committed || !is_begun || state.tick() == Some(2), "at write {nth}"),
            Err(LakeError::Unfinished { tick, .. }) => {
                assert_eq!(tick, 2, "at write {nth}");
                refused += 1;
            }
            Err(error) => panic!("at write {nth}: {error:?}"),
        }
        faulty.disarm();
        let state = lake.newest_snapshot().await.unwrap();
        assert_eq!(state.tick(), Some(if is_begun { 2 } else { 1 }), "at write {nth}");
        finished += u32::from(is_begun && !committed);
    }
    assert!(refused > 5 && finished > 5, "{refused} refused, {finished} finished");
}
