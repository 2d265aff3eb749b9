use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use data_index::{FileEntry, Manifest, PartEntry};
use data_release::{DamageKind, Published, ReleaseError};
use data_storage::{ObjectPath, Storage, get_bytes, put_over};
use object_store::ObjectStoreExt;

use crate::bench::{Bench, products, stores};
use crate::fixture::{build, served};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Harm {
    Flip,
    Cut,
    Remove,
}

const HARMS: [Harm; 3] = [Harm::Flip, Harm::Cut, Harm::Remove];

fn object(file: &FileEntry) -> ObjectPath {
    ObjectPath::from(format!("files/{}", file.sha256))
}

/// Each content occurs once.
fn contents(manifest: &Manifest) -> Vec<&FileEntry> {
    let files: BTreeMap<_, _> = manifest.files().map(|file| (file.sha256, file)).collect();
    files.into_values().collect()
}

/// Damages a stored file in place, as a disk does, so that a hard link in a cache is damaged too.
async fn harm(bench: &Bench, file: &FileEntry, harm: Harm) {
    let path = object(file);
    let whole = get_bytes(&bench.storage, &path).await.unwrap().unwrap();
    let mut bytes = whole.to_vec();
    match harm {
        Harm::Flip => bytes[whole.len() / 2] ^= 1,
        Harm::Cut => bytes.truncate(whole.len() / 2),
        Harm::Remove => return bench.storage.store().delete(&path).await.unwrap(),
    }
    match bench.storage.local_dir() {
        Some(root) => std::fs::write(root.join(path.as_ref()), bytes).unwrap(),
        None => put_over(&bench.storage, &path, Bytes::from(bytes)).await.unwrap(),
    }
}

/// Returns a store in memory and a store on disk. Each has a release whose second part a later release shares.
async fn benches() -> Vec<(Bench, Manifest, tempfile::TempDir)> {
    let mut benches = Vec::new();
    for local in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let storage = if local {
            Storage::from_path(root.path()).unwrap()
        } else {
            Storage::memory()
        };
        let bench = Bench::new(storage.child("releases"));
        let manifest = bench.build(None, &stores(1));
        bench.publish(&manifest).await.unwrap();
        benches.push((bench, manifest, root));
    }
    benches
}

async fn read_by_others(bench: &Bench) -> Vec<data_model::Product> {
    bench.served(tempfile::tempdir().unwrap().path()).await
}

/// Builds the next release, with new files in `dir`. Also returns a part that both releases share.
fn next(first: &Manifest, dir: &Path) -> (Manifest, PartEntry) {
    let second = build(Some(first), &stores(2), 30, dir);
    let held = |part: &&PartEntry| first.parts.iter().any(|held| held.id == part.id);
    let shared = second.parts.iter().find(held).unwrap().clone();
    (second, shared)
}

#[tokio::test]
async fn a_full_build_of_the_current_release_replaces_whatever_is_damaged() {
    for kind in HARMS {
        for (bench, first, _root) in benches().await {
            for file in contents(&first) {
                harm(&bench, file, kind).await;
            }
            let found = bench.releases().verify(&first).await.unwrap();
            assert_eq!(found.len(), contents(&first).len(), "{kind:?}");
            let fresh = tempfile::tempdir().unwrap();
            let full = build(None, &stores(1), 30, fresh.path());
            assert_eq!(full.id, first.id);
            let outcome = bench.publish_from(fresh.path(), &full, Some(1), &bench.cache()).await;
            assert!(
                matches!(outcome, Ok(Published::Unchanged(current)) if current.seq == 1),
                "{kind:?} {outcome:?}"
            );
            assert_eq!(bench.releases().verify(&full).await.unwrap(), []);
            assert_eq!(read_by_others(&bench).await, products(&stores(1)));
        }
    }
}

#[tokio::test]
async fn a_full_build_of_another_release_replaces_the_damaged_files_it_has() {
    for kind in HARMS {
        for (bench, first, _root) in benches().await {
            for file in contents(&first) {
                harm(&bench, file, kind).await;
            }
            let fresh = tempfile::tempdir().unwrap();
            let mut catalogues = stores(1);
            catalogues.push(crate::fixture::catalogue(9, 1, 30));
            let second = build(None, &catalogues, 16, fresh.path());
            assert_ne!(second.id, first.id);
            assert!(contents(&first).iter().all(|file| contents(&second).contains(file)));
            let outcome = bench.publish_from(fresh.path(), &second, Some(1), &bench.cache()).await;
            assert!(matches!(outcome, Ok(Published::Published(_))), "{kind:?} {outcome:?}");
            assert_eq!(bench.releases().verify(&second).await.unwrap(), []);
            assert_eq!(read_by_others(&bench).await.len(), 62);
        }
    }
}

#[tokio::test]
async fn a_shared_file_that_nobody_has_whole_stops_a_release_and_the_way_out_is_told() {
    for kind in HARMS {
        for (bench, first, _root) in benches().await {
            let (fresh, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let (second, shared) = next(&first, fresh.path());
            let file = &shared.files[0];
            harm(&bench, file, kind).await;
            let refused = bench
                .publish_from(fresh.path(), &second, Some(1), cache.path())
                .await
                .unwrap_err();
            let text = refused.to_string();
            let ReleaseError::NoGoodCopy { damage, .. } = refused else {
                panic!("{text}")
            };
            assert_eq!(damage[0].sha256, file.sha256);
            for told in [
                second.id.to_string(),
                file.sha256.to_string(),
                file.name.clone(),
                shared.id.to_string(),
                shared.stores[0].store.to_string(),
                "haat release build --full".to_owned(),
            ] {
                assert!(text.contains(&told), "{told:?} in {text:?}");
            }
            assert_eq!(bench.releases().current().await.unwrap().unwrap().id, first.id);
            // The full build that the error message recommends succeeds.
            let whole = tempfile::tempdir().unwrap();
            let full = build(None, &stores(2), 30, whole.path());
            let outcome = bench.publish_from(whole.path(), &full, Some(1), cache.path()).await;
            assert!(matches!(outcome, Ok(Published::Published(_))), "{kind:?} {outcome:?}");
            assert_eq!(read_by_others(&bench).await, products(&stores(2)));
        }
    }
}

#[tokio::test]
async fn a_shared_file_that_the_cache_has_whole_is_replaced_from_there() {
    for (kind, local) in [
        (Harm::Cut, false),
        (Harm::Remove, false),
        (Harm::Flip, true),
        (Harm::Cut, true),
        (Harm::Remove, true),
    ] {
        let (bench, first, _root) = benches().await.into_iter().nth(usize::from(local)).unwrap();
        let fresh = tempfile::tempdir().unwrap();
        let (second, shared) = next(&first, fresh.path());
        let file = &shared.files[0];
        let cached = bench.cache().join("files").join(file.sha256.to_string());
        // An independent copy replaces the hard link.
        let bytes = std::fs::read(&cached).unwrap();
        std::fs::remove_file(&cached).unwrap();
        std::fs::write(&cached, bytes).unwrap();
        harm(&bench, file, kind).await;
        let outcome = bench.publish_from(fresh.path(), &second, Some(1), &bench.cache()).await;
        assert!(matches!(outcome, Ok(Published::Published(_))), "{kind:?} {outcome:?}");
        assert_eq!(bench.releases().verify(&second).await.unwrap(), []);
        assert_eq!(read_by_others(&bench).await, products(&stores(2)));
    }
}

#[tokio::test]
async fn a_release_that_is_current_already_is_not_taken_for_whole() {
    for (bench, first, _root) in benches().await {
        let file = &first.parts[0].files[0];
        for kind in [Harm::Cut, Harm::Remove] {
            harm(&bench, file, kind).await;
            let (nothing, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let hidden = bench.publish_from(nothing.path(), &first, Some(1), cache.path()).await;
            assert!(
                matches!(hidden, Err(ReleaseError::NoGoodCopy { .. })),
                "{kind:?} {hidden:?}"
            );
            assert!(matches!(bench.publish(&first).await, Ok(Published::Unchanged(_))));
            assert_eq!(bench.releases().verify(&first).await.unwrap(), []);
        }
    }
}

#[tokio::test]
async fn a_damaged_copy_never_replaces_a_good_file() {
    for (bench, first, _root) in benches().await {
        let file = first.files().next().unwrap();
        let rotten = tempfile::tempdir().unwrap();
        let mut bytes = get_bytes(&bench.storage, &object(file))
            .await
            .unwrap()
            .unwrap()
            .to_vec();
        bytes[0] ^= 1;
        std::fs::write(rotten.path().join(file.sha256.to_string()), bytes).unwrap();
        let outcome = bench.publish_from(rotten.path(), &first, Some(1), &bench.cache()).await;
        assert!(matches!(outcome, Ok(Published::Unchanged(_))), "{outcome:?}");
        assert_eq!(bench.releases().verify(&first).await.unwrap(), []);
    }
}

#[tokio::test]
async fn verification_reads_the_store_and_names_what_is_damaged() {
    for (bench, first, _root) in benches().await {
        assert_eq!(bench.releases().verify(&first).await.unwrap(), []);
        // Several parts may share files, such as those of parts whose variants have neither barcode nor size.
        let of_one = |file: &&FileEntry| first.files().filter(|other| other.sha256 == file.sha256).count() == 1;
        let files: Vec<&FileEntry> = first.parts[0].files.iter().filter(of_one).collect();
        for (file, kind) in files.iter().zip(HARMS) {
            harm(&bench, file, kind).await;
        }
        let mut found = bench.releases().verify(&first).await.unwrap();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(found.len(), 3);
        for (damage, file) in found.iter().zip(&files) {
            assert_eq!((damage.sha256, &damage.name), (file.sha256, &file.name));
            assert_eq!(damage.parts, [first.parts[0].id]);
            assert!(damage.stores.contains(&"s001.example".parse().unwrap()));
        }
        assert!(matches!(found[0].kind, DamageKind::Content { .. }));
        let half = files[1].size_bytes / 2;
        assert!(matches!(found[1].kind, DamageKind::Size { found, .. } if found == half));
        assert_eq!(found[2].kind, DamageKind::Missing);
    }
}

#[tokio::test]
async fn nobody_rolls_back_to_a_damaged_release() {
    for kind in HARMS {
        for (bench, first, _root) in benches().await {
            let second = bench.build(Some(&first), &stores(2));
            bench.publish(&second).await.unwrap();
            let shared = |file: &&FileEntry| second.files().all(|other| other.sha256 != file.sha256);
            let file = first.files().find(shared).unwrap();
            harm(&bench, file, kind).await;
            let refused = bench.releases().rollback(first.id).await.unwrap_err();
            assert!(
                matches!(&refused, ReleaseError::Damaged { id, .. } if *id == first.id),
                "{kind:?} {refused:?}"
            );
            let text = refused.to_string();
            assert!(
                text.contains(&first.id.to_string()) && text.contains(&file.sha256.to_string()),
                "{text}"
            );
            assert_eq!(bench.releases().current().await.unwrap().unwrap().id, second.id);
        }
    }
}

#[tokio::test]
async fn a_full_build_gets_past_a_damaged_manifest_but_not_past_a_collapse() {
    for (bench, first, _root) in benches().await {
        let second = bench.build(Some(&first), &stores(2));
        bench.publish(&second).await.unwrap();
        let path = ObjectPath::from(format!("manifests/{}.json", second.id));
        put_over(&bench.storage, &path, "{").await.unwrap();
        let poor = build(None, &stores(3)[..2], 30, &bench.files());
        assert!(matches!(
            bench.publish(&poor).await,
            Err(ReleaseError::ChecksFailed { .. })
        ));
        let third = build(None, &stores(3), 30, &bench.files());
        assert!(matches!(bench.publish(&third).await, Ok(Published::Published(_))));
        let path = ObjectPath::from(format!("manifests/{}.json", third.id));
        put_over(&bench.storage, &path, "{").await.unwrap();
        assert!(matches!(bench.publish(&third).await, Ok(Published::Unchanged(_))));
        let cache = tempfile::tempdir().unwrap();
        let manifest = bench.releases().manifest(third.id).await.unwrap();
        let local = bench.releases().fetch(&manifest, cache.path()).await.unwrap();
        assert_eq!(served(&local.open().unwrap()), products(&stores(3)));
    }
}

#[tokio::test]
async fn a_build_gets_past_a_release_that_the_log_names_and_that_is_gone_but_not_past_a_collapse() {
    for (bench, first, _root) in benches().await {
        let second = bench.build(Some(&first), &stores(2));
        bench.publish(&second).await.unwrap();
        // A rollback died before it noticed that its target had been collected.
        bench.releases().rollback(first.id).await.unwrap();
        let path = ObjectPath::from(format!("manifests/{}.json", first.id));
        bench.storage.store().delete(&path).await.unwrap();
        let stands_in = bench.releases().last_readable(first.id).await.unwrap();
        assert_eq!(stands_in.map(|manifest| manifest.id), Some(second.id));
        let poor = build(None, &stores(3)[..2], 30, &bench.files());
        assert!(matches!(
            bench.publish(&poor).await,
            Err(ReleaseError::ChecksFailed { .. })
        ));
        let third = bench.build(Some(&second), &stores(3));
        assert!(matches!(bench.publish(&third).await, Ok(Published::Published(_))));
        assert_eq!(
            bench.served(&bench.dir.path().join("fresh")).await,
            products(&stores(3))
        );
    }
}

#[tokio::test]
async fn a_lake_that_was_only_compacted_makes_no_new_release() {
    for (bench, first, _root) in benches().await {
        let mut again = bench.build(Some(&first), &stores(1));
        again.lake.insert("products".into(), 8);
        again.id = again.content_id().unwrap();
        assert_eq!(again.id, first.id);
        assert!(matches!(bench.publish(&again).await, Ok(Published::Unchanged(current)) if current.seq == 1));
        assert_eq!(bench.releases().list().await.unwrap().len(), 1);
        assert_eq!(bench.releases().manifest(first.id).await.unwrap().lake, first.lake);
    }
}
