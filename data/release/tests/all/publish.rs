use std::sync::Arc;
use std::time::Duration;

use data_index::Manifest;
use data_model::{Clock, Timestamp};
use data_release::{CheckOptions, GcOptions, Publication, Published, ReleaseError, ReleaseStore, Violation};
use data_storage::Storage;
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use object_store::ObjectStoreExt as _;

use crate::bench::{Bench, products, stores};
use crate::fixture::{build, served};

async fn the_whole_life(bench: Bench, linked: bool) {
    let releases = bench.releases();
    assert_eq!(releases.current().await.unwrap(), None);
    let first = bench.build(None, &stores(1));
    assert!(matches!(bench.publish(&first).await.unwrap(), Published::Published(current) if current.seq == 1));
    assert!(matches!(bench.publish(&first).await.unwrap(), Published::Unchanged(_)));
    let second = bench.build(Some(&first), &stores(2));
    assert!(matches!(bench.publish(&second).await.unwrap(), Published::Published(current) if current.seq == 2));
    let fresh = bench.dir.path().join("fresh");
    assert_eq!(bench.served(&fresh).await, products(&stores(2)));

    let (_, again) = releases.fetch_reporting(&second, &fresh).await.unwrap();
    assert_eq!((again.linked, again.downloaded), (0, 0));
    let (_, other) = releases
        .fetch_reporting(&first, &bench.dir.path().join("other"))
        .await
        .unwrap();
    assert_eq!(linked, other.linked > 0 && other.downloaded == 0);

    assert!(matches!(releases.rollback(first.id).await.unwrap(), Published::Published(current) if current.seq == 3));
    assert_eq!(bench.served(&fresh).await, products(&stores(1)));
    let listed = releases.list().await.unwrap();
    assert_eq!(
        listed
            .iter()
            .map(|release| (release.id, release.current))
            .collect::<Vec<_>>(),
        [(first.id, true), (second.id, false)]
    );
    let unknown = "r0000000000000001".parse().unwrap();
    assert!(matches!(
        releases.rollback(unknown).await,
        Err(ReleaseError::NoSuchRelease(_))
    ));
}

#[tokio::test]
async fn a_release_is_published_fetched_and_rolled_back_in_memory() {
    the_whole_life(Bench::memory(), false).await;
}

#[tokio::test]
async fn a_release_is_published_fetched_and_rolled_back_on_local_disk() {
    let root = tempfile::tempdir().unwrap();
    the_whole_life(
        Bench::new(Storage::from_path(root.path()).unwrap().child("releases")),
        true,
    )
    .await;
}

#[tokio::test]
async fn a_release_that_fails_its_checks_is_not_published() {
    let bench = Bench::memory();
    let first = bench.build(None, &stores(1));
    bench.publish(&first).await.unwrap();
    let poor = bench.build(Some(&first), &stores(2)[..2]);
    let Err(ReleaseError::ChecksFailed { violations, .. }) = bench.publish(&poor).await else {
        panic!("published")
    };
    assert!(violations.contains(&Violation::Collapse {
        what: "products",
        before: 32,
        after: 16
    }));
    assert_eq!(bench.releases().current().await.unwrap().unwrap().id, first.id);
    let files = bench.files();
    let confirmed = CheckOptions {
        collapse_confirmed: true,
        ..CheckOptions::default()
    };
    let publication = Publication {
        manifest: &poor,
        files: &files,
        cache: &bench.cache(),
        expected: Some(1),
        checks: &confirmed,
    };
    assert!(matches!(
        bench.releases().publish(publication).await.unwrap(),
        Published::Published(_)
    ));
    let empty = bench.build(None, &[]);
    let Err(ReleaseError::ChecksFailed { violations, .. }) = bench.publish(&empty).await else {
        panic!("published")
    };
    assert!(violations.contains(&Violation::Empty));
    let mut wrong = first.clone();
    wrong.counts.products += 1;
    assert!(matches!(
        bench.publish(&wrong).await,
        Err(ReleaseError::ManifestDamaged { .. })
    ));
}

#[tokio::test]
async fn a_file_damaged_in_the_store_is_found_by_whoever_fetches() {
    let root = tempfile::tempdir().unwrap();
    for storage in [Storage::memory(), Storage::from_path(root.path()).unwrap()] {
        let bench = Bench::new(storage.child("releases"));
        let manifest = bench.build(None, &stores(1));
        bench.publish(&manifest).await.unwrap();
        let file = manifest.files().next().unwrap();
        let path = data_storage::ObjectPath::from(format!("files/{}", file.sha256));
        let whole = data_storage::get_bytes(&bench.storage, &path).await.unwrap().unwrap();
        let mut torn = whole.to_vec();
        torn[0] ^= 1;
        for damaged in [torn, whole[..whole.len() / 2].to_vec()] {
            data_storage::put_over(&bench.storage, &path, damaged).await.unwrap();
            let cache = tempfile::tempdir().unwrap();
            let fetched = bench.releases().fetch(&manifest, cache.path()).await;
            assert!(matches!(fetched, Err(ReleaseError::FileDamaged { .. })), "{fetched:?}");
            assert!(!cache.path().join("files").join(file.sha256.to_string()).exists());
        }
        data_storage::put_over(&bench.storage, &path, whole).await.unwrap();
        let cache = tempfile::tempdir().unwrap();
        bench.releases().fetch(&manifest, cache.path()).await.unwrap();
        // The corrupted file in the cache is replaced by an intact one.
        let cached = cache.path().join("files").join(file.sha256.to_string());
        let mut bytes = std::fs::read(&cached).unwrap();
        bytes[0] ^= 1;
        std::fs::remove_file(&cached).unwrap();
        std::fs::write(&cached, bytes).unwrap();
        let local = bench.releases().fetch(&manifest, cache.path()).await.unwrap();
        assert_eq!(served(&local.open().unwrap()), products(&stores(1)));
    }
}

#[tokio::test]
async fn of_racing_publishers_one_wins_each_round() {
    let root = tempfile::tempdir().unwrap();
    for storage in [Storage::memory(), Storage::from_path(root.path()).unwrap()] {
        let bench = Arc::new(Bench::new(storage.child("releases")));
        // Eight releases share their files, so that they only compete for the log.
        let manifest = build(None, &stores(1), 100, &bench.files());
        let variants: Vec<Manifest> = (0..8_u64)
            .map(|writer| {
                let mut variant = manifest.clone();
                variant.brands[0].facts.brand.name = format!("writer {writer}");
                variant.id = variant.content_id().unwrap();
                variant
            })
            .collect();
        for round in 0..50_u64 {
            let expected = (round > 0).then_some(round);
            let writers = variants.iter().cloned().enumerate().map(|(writer, mut manifest)| {
                manifest.brands[1].facts.brand.name = format!("round {round}");
                manifest.id = manifest.content_id().unwrap();
                let bench = Arc::clone(&bench);
                tokio::spawn(async move {
                    let cache = bench.dir.path().join(format!("cache-{writer}"));
                    bench.publish_after(&manifest, expected, &cache).await.unwrap()
                })
            });
            let mut winners = Vec::new();
            for outcome in futures::future::join_all(writers).await {
                match outcome.unwrap() {
                    Published::Published(current) => winners.push(current),
                    Published::Lost(Some(current)) => assert_eq!(current.seq, round + 1),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(winners.len(), 1);
            assert_eq!(bench.releases().current().await.unwrap(), Some(winners[0]));
        }
    }
}

#[tokio::test]
async fn whatever_write_fails_readers_see_the_old_release_or_the_new() {
    for kind in [FaultKind::BeforeEffect, FaultKind::AfterEffect, FaultKind::TornPut] {
        for nth in 1.. {
            let inner = Storage::memory();
            let faulty = FaultyStore::new(Arc::clone(inner.store()));
            let url = inner.url().clone();
            let bench = Bench::new(Storage::with_store(Arc::new(faulty.clone()), url).child("releases"));
            let first = bench.build(None, &stores(1));
            bench.publish(&first).await.unwrap();
            let second = bench.build(Some(&first), &stores(2));
            faulty.disarm();
            faulty.arm(FaultPlan {
                nth,
                kind,
                dead_after: true,
            });
            let outcome = bench.publish(&second).await;
            let writes = faulty.mutations();
            faulty.disarm();
            if kind == FaultKind::TornPut
                && nth >= writes
                && outcome.is_err()
                && bench.releases().current().await.is_err()
            {
                // Stores opened by `data-storage` never leave a torn log entry behind.
                break;
            }
            let seen = bench.served(&bench.dir.path().join("reader")).await;
            assert!(
                seen == products(&stores(1)) || seen == products(&stores(2)),
                "{kind:?} {nth}"
            );
            // A publisher that tries again succeeds.
            let again = bench.publish(&second).await.unwrap();
            assert!(
                matches!(again, Published::Published(_) | Published::Unchanged(_)),
                "{kind:?} {nth}"
            );
            assert_eq!(
                bench.served(&bench.dir.path().join("reader")).await,
                products(&stores(2)),
                "{kind:?} {nth}"
            );
            if outcome.is_ok() {
                assert!(nth > 5, "more than five writes were tried");
                break;
            }
        }
    }
}

#[tokio::test]
async fn garbage_collection_keeps_what_is_live_and_what_is_young() {
    let bench = Bench::memory();
    let releases = bench.releases();
    let mut manifests: Vec<Manifest> = Vec::new();
    for version in 1..=5 {
        let manifest = bench.build(manifests.last(), &stores(version));
        bench.publish(&manifest).await.unwrap();
        manifests.push(manifest);
    }
    releases.rollback(manifests[1].id).await.unwrap();
    let stray = data_storage::ObjectPath::from(format!("files/{}", "0".repeat(64)));
    data_storage::put_over(&bench.storage, &stray, "left over")
        .await
        .unwrap();

    let young = GcOptions {
        keep_last: 1,
        min_age: Duration::from_secs(u64::from(u32::MAX)),
        ..GcOptions::default()
    };
    assert_eq!(releases.collect(&young).await.unwrap().files, 0);
    let options = GcOptions {
        keep_last: 2,
        min_age: Duration::from_secs(3600),
        dry_run: true,
        ..GcOptions::default()
    };
    bench.clock.advance_ms(7_200_000);
    let dry = releases.collect(&options).await.unwrap();
    assert_eq!(releases.list().await.unwrap().len(), 5);
    let wet = releases
        .collect(&GcOptions {
            dry_run: false,
            ..options.clone()
        })
        .await
        .unwrap();
    assert_eq!(dry, wet);
    assert!(wet.files > 1 && wet.bytes > 0);
    let left: Vec<_> = releases
        .list()
        .await
        .unwrap()
        .into_iter()
        .map(|release| release.id)
        .collect();
    assert_eq!(left, [manifests[1].id, manifests[4].id]);
    for manifest in [&manifests[1], &manifests[4]] {
        let cache = tempfile::tempdir().unwrap();
        let local = releases.fetch(manifest, cache.path()).await.unwrap();
        local.open().unwrap();
    }
    assert!(matches!(
        releases.rollback(manifests[0].id).await,
        Err(ReleaseError::NoSuchRelease(_))
    ));
    assert_eq!(releases.collect(&options).await.unwrap().files, 0);
}

#[tokio::test]
async fn a_cache_loses_only_what_no_kept_release_needs() {
    let bench = Bench::memory();
    let first = bench.build(None, &stores(1));
    bench.publish(&first).await.unwrap();
    let second = bench.build(Some(&first), &stores(2));
    bench.publish(&second).await.unwrap();
    let releases = bench.releases();
    std::fs::write(bench.cache().join("partial").join("interrupted"), "half").unwrap();
    let cache = bench.cache();
    assert_eq!(
        releases
            .clean_cache(&cache, &[], Duration::from_secs(u64::from(u32::MAX)))
            .unwrap(),
        0
    );
    assert!(
        releases
            .clean_cache(&cache, &[&first], Duration::from_secs(60))
            .unwrap()
            > 0
    );
    let (_, report) = releases.fetch_reporting(&first, &cache).await.unwrap();
    assert_eq!(report.downloaded, 0);
    assert_eq!(std::fs::read_dir(cache.join("partial")).unwrap().count(), 0);
}

/// The clock removes a manifest when it is read, as a concurrent garbage collection would: after the release was
/// verified and before it becomes current.
#[derive(Debug)]
struct Collecting {
    storage: Storage,
    manifest: String,
}

impl Clock for Collecting {
    fn now(&self) -> Timestamp {
        let path = data_storage::ObjectPath::from(&*self.manifest);
        // The second removal fails, because the object is gone.
        let _ = futures::executor::block_on(self.storage.store().delete(&path));
        Timestamp::from_micros(4_000_000_000_000_000)
    }
}

#[tokio::test]
async fn a_rollback_to_what_is_collected_meanwhile_is_undone() {
    let bench = Bench::memory();
    let first = bench.build(None, &stores(1));
    bench.publish(&first).await.unwrap();
    let second = bench.build(Some(&first), &stores(2));
    bench.publish(&second).await.unwrap();
    let collecting = Collecting {
        storage: bench.storage.clone(),
        manifest: format!("manifests/{}.json", first.id),
    };
    let releases = ReleaseStore::new(bench.storage.clone(), Arc::new(collecting));
    let refused = releases.rollback(first.id).await.unwrap_err();
    assert!(
        matches!(refused, ReleaseError::NoSuchRelease(id) if id == first.id),
        "{refused}"
    );
    assert_eq!(bench.releases().current().await.unwrap().unwrap().id, second.id);
    let fresh = bench.dir.path().join("fresh");
    assert_eq!(bench.served(&fresh).await, products(&stores(2)));
}
