use std::sync::Arc;

use data_release::ReleaseError;
use data_storage::{ObjectPath, Storage, put_over};
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};

use crate::bench::{Bench, stores};

#[tokio::test]
async fn a_refused_release_is_recorded_until_a_build_succeeds() {
    let bench = Bench::memory();
    let releases = bench.releases();
    assert_eq!(releases.refused().await.unwrap(), None);
    let first = bench.build(None, &stores(1));
    bench.publish(&first).await.unwrap();
    assert_eq!(releases.refused().await.unwrap(), None);
    let poor = bench.build(Some(&first), &stores(2)[..2]);
    bench.publish(&poor).await.unwrap_err();
    let refused = releases.refused().await.unwrap().unwrap();
    assert!(
        refused.reason.contains("products collapses from 32 to 16"),
        "{}",
        refused.reason
    );
    assert_eq!((refused.release, refused.current), (Some(poor.id), Some(first.id)));
    assert_eq!(refused.counts, Some(poor.counts.clone()));
    assert_eq!(refused.current_counts, Some(first.counts.clone()));
    assert_eq!(refused.lake, poor.lake);
    // The lake has the content that is already served, so that nothing counts as refused any more.
    bench.publish(&first).await.unwrap();
    assert_eq!(releases.refused().await.unwrap(), None);

    let failure = ReleaseError::Interrupted { action: "build" };
    releases.record_failure(&failure).await;
    let failed = releases.refused().await.unwrap().unwrap();
    assert_eq!(
        (failed.release, &*failed.reason),
        (None, "interrupted while trying to build")
    );
    let second = bench.build(Some(&first), &stores(2));
    bench.publish(&second).await.unwrap();
    assert_eq!(releases.refused().await.unwrap(), None);
    put_over(&bench.storage, &ObjectPath::from("refused.json"), "{")
        .await
        .unwrap();
    assert!(releases.refused().await.is_err(), "a guess");
}

#[tokio::test]
async fn a_publication_of_which_nobody_knows_whether_it_happened_is_not_called_refused() {
    for kind in [FaultKind::BeforeEffect, FaultKind::AfterEffect] {
        // A different write fails in each iteration. The append to the log is the last write but one.
        for nth in 1.. {
            let inner = Storage::memory();
            let faulty = FaultyStore::new(Arc::clone(inner.store()));
            let storage = Storage::with_store(Arc::new(faulty.clone()), inner.url().clone());
            let bench = Bench::new(storage.child("releases"));
            let first = bench.build(None, &stores(1));
            faulty.arm(FaultPlan {
                nth,
                kind,
                dead_after: true,
            });
            let outcome = bench.publish(&first).await;
            faulty.disarm();
            let published = bench.releases().current().await.unwrap().is_some();
            match outcome {
                Ok(_) => {
                    assert!(published && nth > 5);
                    break;
                }
                Err(ReleaseError::Unknown { id, .. }) => {
                    assert_eq!(id, first.id);
                    assert_eq!(published, kind == FaultKind::AfterEffect);
                }
                Err(_) => assert!(!published, "{kind:?} {nth}"),
            }
        }
    }
}

#[tokio::test]
async fn a_single_lost_answer_fails_no_publication_and_no_roll_back() {
    for kind in [FaultKind::BeforeEffect, FaultKind::AfterEffect] {
        for nth in 1.. {
            let inner = Storage::memory();
            let faulty = FaultyStore::new(Arc::clone(inner.store()));
            let storage = Storage::with_store(Arc::new(faulty.clone()), inner.url().clone());
            let bench = Bench::new(storage.child("releases"));
            let plan = FaultPlan {
                nth,
                kind,
                dead_after: false,
            };
            let first = bench.build(None, &stores(1));
            faulty.arm(plan);
            bench.publish(&first).await.unwrap();
            let writes = faulty.mutations();
            faulty.disarm();
            let second = bench.build(Some(&first), &stores(2));
            bench.publish(&second).await.unwrap();
            faulty.arm(FaultPlan { nth: 1, ..plan });
            bench.releases().rollback(first.id).await.unwrap();
            faulty.disarm();
            let current = bench.releases().current().await.unwrap().unwrap();
            assert_eq!((current.id, current.seq), (first.id, 3), "{kind:?} {nth}");
            if nth > writes {
                break;
            }
        }
    }
}
