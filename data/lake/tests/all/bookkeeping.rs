//! Checks that damage to any single object outside of the tables does not stop the lake. Crawls can still be committed,
//! and after a repair everything is readable.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::support::*;
use bytes::Bytes;
use data_lake::{Lake, LakeConfig, LakeError, RepairKind, RepairReport, VacuumKeep};
use data_model::Clock;
use data_storage::{ObjectPath, ObjectStoreExt, Storage, get_bytes, put_over};

const LAYOUT: &str = "_ticks/layout.json";

type Objects = BTreeMap<String, Bytes>;

async fn all(storage: &Storage) -> Objects {
    let mut all = Objects::new();
    for path in objects(storage).await.into_keys() {
        let bytes = get_bytes(storage, &ObjectPath::from(path.clone())).await.unwrap();
        all.insert(path, bytes.unwrap());
    }
    all
}

/// The object at `path` is removed or replaced by `left`.
async fn harmed(objects: &Objects, path: &str, left: Option<&[u8]>) -> Storage {
    let storage = Storage::memory();
    for (other, bytes) in objects {
        put_over(&storage, &ObjectPath::parse(other).unwrap(), bytes.clone())
            .await
            .unwrap();
    }
    let path = ObjectPath::from(path);
    match left {
        Some(left) => put_over(&storage, &path, left.to_vec()).await.unwrap(),
        None => storage.store().delete(&path).await.unwrap(),
    }
    storage
}

/// Returns possible remains of the bytes after damage. `None` stands for a missing object.
fn harms(bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
    let step = bytes.len() / 3 + 1;
    let cut = (0..bytes.len())
        .step_by(step)
        .map(|end| bytes.get(..end).map(<[u8]>::to_vec));
    cut.chain([Some(b"{}".to_vec()), Some(vec![0; bytes.len()]), None])
        .collect()
}

async fn repair(storage: &Storage, dry_run: bool) -> Result<RepairReport, LakeError> {
    Lake::repair(storage, config(), midnight() as Arc<dyn Clock>, dry_run).await
}

/// Creates a lake with two crawls of three brands, one crawl of one brand, and a vacuum.
async fn crawled() -> Storage {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    let third = vec![refresh("gamma", 3, vec![product("gamma", 5, 5)])];
    lake.commit(third, run(3)).await.unwrap();
    let keep = VacuumKeep {
        retention: Duration::from_secs(30 * 24 * 3600),
        versions: Vec::new(),
        dry_run: false,
    };
    lake.vacuum(&keep).await.unwrap();
    storage
}

fn fourth() -> Vec<data_model::BrandRefresh> {
    let crawled = |name| refresh(name, 4, vec![product(name, 7, 700)]);
    vec![crawled("alpha"), crawled("beta")]
}

fn all_harms(objects: &Objects) -> Vec<(&String, Option<Vec<u8>>)> {
    let beside = objects.iter().filter(|(path, _)| path.starts_with("_ticks/"));
    let harms = beside.flat_map(|(path, bytes)| harms(bytes).into_iter().map(move |left| (path, left)));
    let harms: Vec<_> = harms.collect();
    // Three commit batches with a record and an end each, the layout, and the record of the last vacuum.
    assert_eq!(harms.len(), 8 * 6);
    harms
}

#[tokio::test]
async fn whatever_becomes_of_one_object_beside_the_tables_crawls_are_committed() {
    let before = all(&crawled().await).await;
    let whole = harmed(&before, LAYOUT, before.get(LAYOUT).map(AsRef::as_ref)).await;
    let lake = open(&whole, &midnight()).await;
    lake.commit(fourth(), run(4)).await.unwrap();
    let expected = content(&lake).await;
    for (path, left) in all_harms(&before) {
        let said = format!("{path} {:?}", left.as_deref().map(<[u8]>::len));
        let storage = harmed(&before, path, left.as_deref()).await;
        let lake = open(&storage, &midnight()).await;
        lake.commit(fourth(), run(4)).await.unwrap();
        assert_eq!(content(&lake).await, expected, "{said}");
    }
}

#[tokio::test]
async fn whatever_becomes_of_one_object_beside_the_tables_a_repair_keeps_what_is_left_of_it_and_leaves_nothing_to_repair()
 {
    let before = all(&crawled().await).await;
    let whole = harmed(&before, LAYOUT, before.get(LAYOUT).map(AsRef::as_ref)).await;
    let unharmed = content(&open(&whole, &midnight()).await).await;
    for (path, left) in all_harms(&before) {
        let said = format!("{path} {:?}", left.as_deref().map(<[u8]>::len));
        let storage = harmed(&before, path, left.as_deref()).await;
        let there = all(&storage).await;
        let planned = repair(&storage, true).await.unwrap();
        assert_eq!(all(&storage).await, there, "a dry run writes nothing: {said}");
        assert_eq!(repair(&storage, false).await.unwrap(), planned, "{said}");
        let kept = all(&storage).await;
        let is_kept = |left: &Vec<u8>| kept.values().any(|bytes| *bytes == *left);
        assert!(left.as_ref().is_none_or(is_kept), "{said}");
        let lake = open(&storage, &midnight()).await;
        assert_eq!(content(&lake).await, unharmed, "{said}");
        let left = repair(&storage, true).await.unwrap();
        assert_eq!(
            (left.repaired, left.stuck.len()),
            (vec![], planned.stuck.len()),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_layout_that_is_lost_is_told_by_where_rows_lie_and_never_guessed() {
    let before = all(&crawled().await).await;
    let buckets = |buckets| LakeConfig { buckets, ..config() };
    let open = |storage: &Storage, config| Lake::open(storage.clone(), config, midnight());
    let altered = String::from_utf8(before[LAYOUT].to_vec()).unwrap();
    let altered = altered.replace("\"buckets\":4", "\"buckets\":5");
    for left in [None, Some("{\"buckets\":4"), Some(""), Some(altered.as_str())] {
        let storage = harmed(&before, LAYOUT, left.map(str::as_bytes)).await;
        let there = all(&storage).await;
        // The lake must not open with another number of buckets than the one that it was created with.
        for wrong in [1, 3, 64] {
            let refused = open(&storage, buckets(wrong)).await.unwrap_err();
            let is_told = matches!(refused, LakeError::Buckets { .. } | LakeError::BucketsUnknown { .. });
            assert!(is_told, "{left:?} {wrong} {refused}");
        }
        assert_eq!(all(&storage).await, there);
        let planned = repair(&storage, true).await.unwrap();
        assert_eq!(planned.repaired[0].how, RepairKind::Layout, "{left:?}");
        open(&storage, config()).await.unwrap();
        let written = all(&storage).await;
        assert_eq!(written[LAYOUT], before[LAYOUT], "{left:?}");
        let aside = written.get("damaged/_ticks/layout.json").map(AsRef::as_ref);
        assert_eq!(aside, left.map(str::as_bytes));
    }
}
