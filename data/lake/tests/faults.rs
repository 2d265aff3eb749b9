//! Wherever a process dies, the next one finishes what was begun: no row is lost, none is doubled.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use data_lake::Lake;
use data_model::{BrandRefresh, Clock};
use data_storage::Storage;
use data_storage::faulty::{FaultKind, FaultPlan, FaultyStore};
use support::*;

type Content = BTreeMap<String, Vec<String>>;

/// Two crawls, as one process does them. Stops at the first failure.
async fn two_crawls(storage: &Storage, clock: &Arc<SetClock>) -> Result<(), data_lake::LakeError> {
    let lake = Lake::open(storage.clone(), config(), Arc::clone(clock) as Arc<dyn Clock>).await?;
    lake.commit(first(), run(1)).await?;
    lake.commit(second(), run(2)).await?;
    Ok(())
}

/// What the next process does: hands over the crawls again, from the first that may be missing.
async fn finish(storage: &Storage, clock: &Arc<SetClock>) -> Lake {
    let lake = open(storage, clock).await;
    let ticks = lake.snapshot().await.unwrap().tick().unwrap();
    let missing: [(u64, Vec<BrandRefresh>); 2] = [(1, first()), (2, second())];
    for (tick, refreshes) in missing {
        if ticks < tick {
            lake.commit(refreshes, run(u32::try_from(tick).unwrap())).await.unwrap();
        }
    }
    lake
}

#[tokio::test]
async fn death_at_any_write_loses_nothing_and_doubles_nothing() {
    let memory = Storage::memory();
    let faulty = FaultyStore::new(Arc::clone(memory.store()));
    let counted = Storage::with_store(Arc::new(faulty.clone()), memory.url().clone());
    two_crawls(&counted, &SetClock::start()).await.unwrap();
    let writes = faulty.mutations();
    let expected: Content = content(&open(&counted, &SetClock::start()).await).await;
    assert!((30..200).contains(&writes), "{writes} writes");

    for kind in [FaultKind::BeforeEffect, FaultKind::AfterEffect] {
        for nth in 1..=writes {
            let memory = Storage::memory();
            let faulty = FaultyStore::new(Arc::clone(memory.store()));
            let storage = Storage::with_store(Arc::new(faulty.clone()), memory.url().clone());
            let clock = SetClock::start();
            faulty.arm(FaultPlan {
                nth,
                kind,
                dead_after: true,
            });
            // A failure of what only saves time or space is not reported.
            let _ = two_crawls(&storage, &clock).await;
            faulty.disarm();
            let lake = finish(&storage, &clock).await;
            assert_eq!(content(&lake).await, expected, "{kind:?} at write {nth}");
            // The process after that finds everything in order too.
            assert_eq!(
                content(&open(&storage, &clock).await).await,
                expected,
                "{kind:?} at write {nth}"
            );
        }
    }
}

#[tokio::test]
async fn one_failed_write_does_not_stop_the_process_that_goes_on() {
    let memory = Storage::memory();
    let faulty = FaultyStore::new(Arc::clone(memory.store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), memory.url().clone());
    let clock = SetClock::start();
    let lake = open(&storage, &clock).await;
    faulty.disarm();
    lake.commit(first(), run(1)).await.unwrap();
    let writes = faulty.mutations();
    let expected: Content = content(&lake).await;
    for kind in [FaultKind::BeforeEffect, FaultKind::AfterEffect] {
        for nth in 1..=writes {
            let memory = Storage::memory();
            let faulty = FaultyStore::new(Arc::clone(memory.store()));
            let storage = Storage::with_store(Arc::new(faulty.clone()), memory.url().clone());
            let lake = open(&storage, &clock).await;
            faulty.arm(FaultPlan {
                nth,
                kind,
                dead_after: false,
            });
            if lake.commit(first(), run(1)).await.is_err() {
                lake.commit(first(), run(1)).await.unwrap();
            }
            assert_eq!(content(&lake).await, expected, "{kind:?} at write {nth}");
        }
    }
}
