use std::time::Duration;

use data_index::Manifest;
use data_model::ReleaseId;
use data_release::{GcOptions, GcReport, Published, ReleaseError};
use data_storage::{ObjectPath, put_over};
use futures::TryStreamExt as _;

use crate::bench::{Bench, stores};

/// Publishes five releases, of which the last is current, and advances the clock by two hours.
async fn five() -> (Bench, Vec<Manifest>) {
    let bench = Bench::memory();
    let mut manifests: Vec<Manifest> = Vec::new();
    for version in 1..=5 {
        let manifest = bench.build(manifests.last(), &stores(version));
        bench.publish(&manifest).await.unwrap();
        manifests.push(manifest);
    }
    bench.clock.advance_ms(7_200_000);
    (bench, manifests)
}

/// Damages an object and, for a log entry, its copy too.
async fn damage(bench: &Bench, object: &str) {
    let copy = object.strip_prefix("log/").map(|_| object.replace(".json", ".copy"));
    for object in [Some(object.to_owned()), copy].into_iter().flatten() {
        put_over(&bench.storage, &ObjectPath::from(object), "{\"ev")
            .await
            .unwrap();
    }
}

fn manifest(id: ReleaseId) -> String {
    format!("manifests/{id}.json")
}

fn entry(seq: u64) -> String {
    format!("log/{seq:020}.json")
}

fn keep(keep_last: usize) -> GcOptions {
    GcOptions {
        keep_last,
        min_age: Duration::from_secs(3600),
        ..GcOptions::default()
    }
}

async fn files(bench: &Bench) -> usize {
    let listed = bench.storage.store().list(Some(&ObjectPath::from("files")));
    listed.try_collect::<Vec<_>>().await.unwrap().len()
}

fn named(report: &GcReport) -> Vec<&str> {
    report.unreadable.iter().map(|unreadable| &*unreadable.object).collect()
}

#[tokio::test]
async fn a_damaged_old_manifest_or_entry_is_named_and_stops_neither_list_nor_roll_back() {
    let (bench, manifests) = five().await;
    let (lost, old) = (manifest(manifests[3].id), entry(2));
    damage(&bench, &lost).await;
    damage(&bench, &old).await;
    let releases = bench.releases();
    let listing = releases.listing().await.unwrap();
    let mut objects: Vec<_> = listing
        .unreadable
        .iter()
        .map(|damaged| damaged.object.clone())
        .collect();
    objects.sort();
    assert_eq!(objects, [old, lost]);
    let ids: Vec<_> = listing.releases.iter().map(|release| release.id).collect();
    assert_eq!(ids, [manifests[4].id, manifests[2].id, manifests[0].id]);
    assert_eq!(listing.back, Some(manifests[2].id));
    assert!(matches!(
        releases.rollback(manifests[2].id).await.unwrap(),
        Published::Published(_)
    ));
    // A release whose event is damaged can still be a rollback target by id.
    assert!(matches!(
        releases.rollback(manifests[1].id).await.unwrap(),
        Published::Published(_)
    ));
}

#[tokio::test]
async fn no_file_is_collected_while_a_kept_manifest_cannot_be_read() {
    let (bench, manifests) = five().await;
    let (releases, before) = (bench.releases(), files(&bench).await);
    damage(&bench, &manifest(manifests[3].id)).await;
    let report = releases.collect(&keep(2)).await.unwrap();
    assert_eq!((named(&report), report.held), (vec![&*manifest(manifests[3].id)], true));
    assert_eq!((report.files, files(&bench).await), (0, before));
    // The damaged manifest does not count as one of the retained releases.
    let left: Vec<_> = releases
        .list()
        .await
        .unwrap()
        .iter()
        .map(|release| release.id)
        .collect();
    assert_eq!(left, [manifests[4].id, manifests[2].id]);

    // A copy restores the manifest, and the release is intact because no file was removed.
    let bytes = serde_json::to_vec(&manifests[3]).unwrap();
    let path = ObjectPath::from(manifest(manifests[3].id));
    put_over(&bench.storage, &path, bytes).await.unwrap();
    assert_eq!(releases.verify(&manifests[3]).await.unwrap(), []);

    // The files that only the damaged manifest needed are removed with it.
    damage(&bench, &manifest(manifests[3].id)).await;
    let options = GcOptions {
        drop_damaged: true,
        ..keep(2)
    };
    let dry = GcOptions {
        dry_run: true,
        ..options.clone()
    };
    let planned = releases.collect(&dry).await.unwrap();
    assert_eq!(files(&bench).await, before);
    let report = releases.collect(&options).await.unwrap();
    assert_eq!((&planned, report.dropped.len(), report.held), (&report, 1, false));
    assert!(report.files > 0 && files(&bench).await < before);
    for kept in [&manifests[2], &manifests[4]] {
        assert_eq!(releases.verify(kept).await.unwrap(), []);
    }
    assert_eq!(releases.listing().await.unwrap().unreadable, []);
}

#[tokio::test]
async fn a_damaged_manifest_that_no_kept_release_has_goes_like_any_other() {
    let (bench, manifests) = five().await;
    damage(&bench, &manifest(manifests[0].id)).await;
    let report = bench.releases().collect(&keep(2)).await.unwrap();
    assert_eq!((report.releases.len(), report.held, named(&report)), (3, false, vec![]));
    assert!(report.files > 0);
    assert_eq!(bench.releases().listing().await.unwrap().unreadable, []);
}

#[tokio::test]
async fn no_release_is_collected_while_a_damaged_entry_may_stand_for_one_of_the_last() {
    let (bench, manifests) = five().await;
    let releases = bench.releases();
    // The damaged entry may have made any release current after the fourth.
    let back = releases.rollback(manifests[0].id).await.unwrap();
    assert!(matches!(back, Published::Published(current) if current.seq == 6));
    let last = releases.rollback(manifests[4].id).await.unwrap();
    assert!(matches!(last, Published::Published(current) if current.seq == 7));
    bench.clock.advance_ms(7_200_000);
    damage(&bench, &entry(6)).await;
    let report = releases.collect(&keep(2)).await.unwrap();
    assert_eq!((report.releases.len(), report.held), (0, true));
    assert_eq!(named(&report), [entry(6)]);
    for kept in &manifests {
        assert_eq!(releases.verify(kept).await.unwrap(), []);
    }
    // An entry that is given up, or too old to be one of the last, prevents no removal.
    let report = releases
        .collect(&GcOptions {
            dry_run: true,
            ..keep(1)
        })
        .await
        .unwrap();
    assert_eq!((report.releases.len(), report.held), (4, false));
    let options = GcOptions {
        drop_damaged: true,
        ..keep(2)
    };
    let report = releases.collect(&options).await.unwrap();
    assert_eq!(
        (report.releases.len(), report.dropped.len(), report.held),
        (3, 1, false)
    );
    assert_eq!(releases.listing().await.unwrap().unreadable, []);
}

#[tokio::test]
async fn the_newest_entry_and_the_current_manifest_are_never_given_up() {
    let (bench, manifests) = five().await;
    let releases = bench.releases();
    let options = GcOptions {
        drop_damaged: true,
        ..keep(1)
    };
    damage(&bench, &manifest(manifests[4].id)).await;
    let refused = releases.collect(&options).await.unwrap_err();
    assert!(matches!(refused, ReleaseError::ManifestDamaged { .. }), "{refused}");
    damage(&bench, &entry(5)).await;
    let report = releases.collect(&options).await.unwrap();
    assert_eq!((report.releases.len(), report.dropped.len(), report.held), (0, 0, true));
    let current = releases.listing().await.unwrap().current.unwrap();
    assert_eq!((current.id, current.seq), (manifests[3].id, 5));
    assert_eq!(releases.verify(&manifests[3]).await.unwrap(), []);
}
