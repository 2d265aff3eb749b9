use std::sync::Arc;

use data_storage::Storage;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use pipeline_backfill::BackfillState;

use crate::support::{Rig, all};

fn faulty() -> (FaultyStore, Storage) {
    let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
    let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
    (faulty, storage)
}

#[tokio::test]
async fn a_backfill_that_ends_at_any_write_is_gone_on_with_and_the_lake_is_that_of_one_that_was_not() {
    let shops = ["mate", "rooibos", "tea"].map(|name| (name, (1..=12).map(|id| (id, "499.00")).collect()));
    let mut rig = Rig::with(&shops).await;
    // With so little memory, each store is committed separately.
    rig.config.memory_bytes_max = 16;
    rig.crawl().await;
    for (name, _) in &shops {
        rig.mistake(name, |products| products[3].variants[0].price_minor = 1)
            .await;
    }
    let (counter, storage) = faulty();
    let whole = rig.copied(storage).await;
    whole.lake().await;
    let begun = counter.mutations();
    let expected = whole.backfill(&all()).await.unwrap();
    assert_eq!((expected.totals.changed, expected.commits), (3, 3));
    let writes = counter.mutations() - begun;
    assert!(writes > 30, "{writes}");
    for nth in 1..=writes {
        let (store, storage) = faulty();
        let rig = rig.copied(storage).await;
        rig.lake().await;
        store.arm(FaultPlan {
            nth,
            kind: FaultKind::BeforeEffect,
            dead_after: true,
        });
        let killed = rig.backfill(&all()).await;
        store.disarm();
        let report = rig.backfill(&all()).await.unwrap();
        assert_eq!(
            report.state,
            BackfillState::Finished,
            "killed at write {nth}: {killed:?}"
        );
        for (name, _) in &shops {
            assert_eq!(
                rig.products(name).await,
                whole.products(name).await,
                "killed at write {nth}"
            );
            assert_eq!(
                rig.history(name).await,
                whole.history(name).await,
                "killed at write {nth}"
            );
        }
        // A backfill that was killed in its last steps starts again, and finds nothing to do.
        if killed.is_err() && report.resumed > 0 {
            assert_eq!(report.totals, expected.totals, "killed at write {nth}");
        }
    }
}
