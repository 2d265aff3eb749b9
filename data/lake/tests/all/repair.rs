//! Checks that a repair reports the lost parts of a lake beforehand, does exactly the reported work, and drops only the
//! lost rows.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::*;
use bytes::Bytes;
use data_lake::{AsOf, Lake, LakeConfig, LakeError, RepairKind, RepairReport};
use data_model::Clock;
use data_storage::{ObjectPath, ObjectStoreExt, Storage};

/// Each store has its own bucket.
fn config_with(checkpoint_every: u64) -> LakeConfig {
    LakeConfig {
        buckets: 64,
        checkpoint_every,
    }
}

async fn open_with(checkpoint_every: u64, storage: &Storage) -> Result<Lake, LakeError> {
    Lake::open(
        storage.clone(),
        config_with(checkpoint_every),
        midnight() as Arc<dyn Clock>,
    )
    .await
}

/// Runs a dry repair and then a real one, checks that both reports agree, and returns the report.
async fn repaired(storage: &Storage, checkpoint_every: u64) -> RepairReport {
    let before = whole(storage).await;
    let clock = || midnight() as Arc<dyn Clock>;
    let said = Lake::repair(storage, config_with(checkpoint_every), clock(), true)
        .await
        .unwrap();
    assert_eq!(whole(storage).await, before, "a dry run writes nothing");
    let done = Lake::repair(storage, config_with(checkpoint_every), clock(), false)
        .await
        .unwrap();
    let tick = done.tick;
    assert_eq!(
        RepairReport { tick: None, ..done },
        said,
        "what was said is what was done"
    );
    RepairReport { tick, ..said }
}

async fn whole(storage: &Storage) -> BTreeMap<String, Bytes> {
    let mut whole = BTreeMap::new();
    for path in objects(storage).await.into_keys() {
        let bytes = bytes_of(storage, &ObjectPath::from(path.clone())).await;
        whole.insert(path, bytes);
    }
    whole
}

async fn bytes_of(storage: &Storage, path: &ObjectPath) -> Bytes {
    storage.store().get(path).await.unwrap().bytes().await.unwrap()
}

fn versions_of(end: &Bytes) -> serde_json::Value {
    serde_json::from_slice::<serde_json::Value>(end).unwrap()["versions"].take()
}

async fn delete(storage: &Storage, path: &str) {
    storage.store().delete(&ObjectPath::from(path)).await.unwrap();
}

/// The object is removed, emptied or truncated, or gets flipped bits.
async fn damage(storage: &Storage, path: &ObjectPath, fault: &str) {
    let bytes = bytes_of(storage, path).await;
    let mut left = bytes.to_vec();
    match fault {
        "missing" => return storage.store().delete(path).await.unwrap(),
        "empty" => left.clear(),
        "cut" => left.truncate(bytes.len() / 2),
        // Altering a column name of a checkpoint leaves a readable file without usable content.
        "schemaString" | "minReaderVersion" | "partitionValues" => {
            let at = bytes.windows(fault.len()).position(|part| part == fault.as_bytes());
            left[at.unwrap()] ^= 1;
        }
        _ => left[bytes.len() / 2] ^= 0xff,
    }
    storage.store().put(path, left.into()).await.unwrap();
}

/// Commits three crawls: two of all brands, and one of gamma.
async fn crawled(lake: &Lake) {
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    let third = vec![refresh("gamma", 3, vec![product("gamma", 5, 5)])];
    lake.commit(third, run(3)).await.unwrap();
}

/// Returns the first file of a table whose path below the table's folder starts with `part`.
async fn file_of(storage: &Storage, table: &str, part: &str) -> ObjectPath {
    let folder = format!("{table}/{part}");
    let files = objects(storage).await.into_keys();
    let mut files: Vec<String> = files.filter(|path| path.starts_with(&folder)).collect();
    files.sort();
    ObjectPath::from(files.remove(0))
}

fn bucket_of(name: &str) -> String {
    format!("bucket={}/", host(name).bucket(64))
}

#[tokio::test]
async fn a_lost_entry_of_a_log_is_named_with_its_table_and_version_and_the_way_back_and_left_alone() {
    let unharmed = Storage::memory();
    let lake = open_with(1000, &unharmed).await.unwrap();
    crawled(&lake).await;
    let (before, versions) = (content(&lake).await, lake.snapshot().await.unwrap().versions().clone());
    for table in ["crawl_runs", "price_history", "variants", "brands"] {
        for (back, fault) in [
            (0, "missing"),
            (0, "empty"),
            (1, "missing"),
            (1, "cut"),
            (99, "missing"),
        ] {
            let storage = copied(&unharmed).await;
            let version = versions[table].saturating_sub(back);
            let entry = ObjectPath::from(format!("{table}/_delta_log/{version:020}.json"));
            let bytes = bytes_of(&storage, &entry).await;
            damage(&storage, &entry, fault).await;
            let refused = open_with(1000, &storage).await.unwrap_err();
            assert!(refused.to_string().contains("haat lake repair"), "{refused}");
            let left = whole(&storage).await;
            let report = repaired(&storage, 1000).await;
            assert!(!report.complete && report.repaired.is_empty(), "{report:?}");
            let [stuck] = &report.stuck[..] else {
                panic!("{report:?}")
            };
            let named = (stuck.path.as_str(), stuck.table, stuck.version);
            assert_eq!(
                named,
                (entry.as_ref(), Some(table), Some(version)),
                "{table} {back} {fault}"
            );
            for way in [
                "haat restore",
                "haat backfill --all",
                "haat crawl --force",
                "haat release build --full",
            ] {
                assert!(stuck.reason.contains(way), "{way}: {report:?}");
            }
            assert_eq!(whole(&storage).await, left, "{table} {back} {fault}");
            assert!(matches!(open_with(1000, &storage).await, Err(LakeError::Log { .. })));
            storage.store().put(&entry, bytes.into()).await.unwrap();
            let next = open_with(1000, &storage).await.unwrap();
            assert_eq!(content(&next).await, before, "{table} {back} {fault}");
        }
    }
}

#[tokio::test]
async fn an_entry_that_says_something_else_than_was_committed_is_named() {
    let storage = Storage::memory();
    let lake = open_with(1000, &storage).await.unwrap();
    crawled(&lake).await;
    assert_eq!(repaired(&storage, 1000).await.stuck, []);
    let version = lake.snapshot().await.unwrap().versions()["variants"];
    let entry = ObjectPath::from(format!("variants/_delta_log/{version:020}.json"));
    let mut altered = bytes_of(&storage, &entry).await.to_vec();
    let count = br#"numRecords\":"#;
    let at = altered.windows(count.len()).position(|part| part == count).unwrap();
    altered[at + count.len()] ^= 1;
    storage.store().put(&entry, altered.into()).await.unwrap();
    // The altered entry is still well-formed.
    open_with(1000, &storage).await.unwrap();
    let report = repaired(&storage, 1000).await;
    assert!(
        report.complete && report.repaired.is_empty() && report.lost.is_empty(),
        "{report:?}"
    );
    let [stuck] = &report.stuck[..] else {
        panic!("{report:?}")
    };
    assert_eq!((stuck.table, stuck.version), (Some("variants"), Some(version)));
    assert!(stuck.reason.contains("differs from what was committed"), "{report:?}");
}

#[tokio::test]
async fn a_lost_or_damaged_checkpoint_is_written_again_from_the_log() {
    let unharmed = Storage::memory();
    let lake = open_with(2, &unharmed).await.unwrap();
    crawled(&lake).await;
    let before = content(&lake).await;
    for fault in [
        "missing",
        "empty",
        "cut",
        "hint",
        "schemaString",
        "minReaderVersion",
        "partitionValues",
    ] {
        let storage = copied(&unharmed).await;
        let files = objects(&storage).await.into_keys();
        let checkpoint = files.filter(|path| path.starts_with("variants/") && path.ends_with(".checkpoint.parquet"));
        let checkpoint = ObjectPath::from(checkpoint.max().unwrap());
        if fault == "hint" {
            let hint = ObjectPath::from("variants/_delta_log/_last_checkpoint");
            storage.store().put(&hint, "{\"ver".into()).await.unwrap();
        } else {
            damage(&storage, &checkpoint, fault).await;
        }
        let report = repaired(&storage, 2).await;
        assert!(
            report.complete && report.lost.is_empty() && report.stuck.is_empty(),
            "{report:?}"
        );
        assert!(
            report.repaired.iter().all(|one| one.how == RepairKind::Checkpoint),
            "{report:?}"
        );
        assert_eq!(report.repaired.len(), 1, "{fault}: {report:?}");
        let next = open_with(2, &storage).await.unwrap();
        assert_eq!(content(&next).await, before, "{fault}");
        // The repair leaves nothing to do, and the next crawl succeeds.
        assert!(repaired(&storage, 2).await.repaired.is_empty(), "{fault}");
        next.commit(vec![refresh("beta", 4, vec![product("beta", 9, 9)])], run(4))
            .await
            .unwrap();
        assert_eq!(products(&next.snapshot().await.unwrap(), &["beta"]).await.len(), 1);
    }
}

#[tokio::test]
async fn a_lost_end_of_the_last_tick_is_written_again_and_one_of_before_is_named() {
    let unharmed = Storage::memory();
    let lake = open_with(1000, &unharmed).await.unwrap();
    crawled(&lake).await;
    let before = content(&lake).await;
    for (tick, fault) in [(1, "missing"), (2, "cut"), (3, "missing"), (3, "cut")] {
        let storage = copied(&unharmed).await;
        let end = ObjectPath::from(format!("_ticks/{tick:020}.done.json"));
        let bytes = bytes_of(&storage, &end).await;
        damage(&storage, &end, fault).await;
        let report = repaired(&storage, 1000).await;
        assert!(report.complete && report.lost.is_empty(), "{report:?}");
        let next = open_with(1000, &storage).await.unwrap();
        assert_eq!(content(&next).await, before, "{tick} {fault}");
        // Missing ends before the first existing one may have been vacuumed, so that they are not reported.
        let named: Vec<_> = report.stuck.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(
            named,
            if tick == 2 { vec![end.as_ref()] } else { Vec::new() },
            "{fault}"
        );
        if tick == 3 {
            assert_eq!(
                versions_of(&bytes_of(&storage, &end).await),
                versions_of(&bytes),
                "{fault}"
            );
        }
    }
}

#[tokio::test]
async fn rows_of_a_lost_file_are_given_up_in_a_tick_of_its_own_and_the_next_crawl_brings_them_back() {
    for table in ["products", "variants", "reviews"] {
        for fault in ["missing", "flip"] {
            let storage = Storage::memory();
            let lake = open_with(1000, &storage).await.unwrap();
            lake.commit(first(), run(1)).await.unwrap();
            let file = file_of(&storage, table, &bucket_of("alpha")).await;
            damage(&storage, &file, fault).await;
            let history = sql(&lake, "SELECT count(*) FROM price_history").await;
            let report = repaired(&storage, 1000).await;
            assert_eq!((report.lost.len(), report.tick), (1, Some(2)), "{report:?}");
            let lost = &report.lost[0];
            assert_eq!((lost.path.as_str(), lost.table), (file.as_ref(), table));
            assert!(lost.comes_back && lost.rows.is_some_and(|rows| rows > 0), "{lost:?}");
            assert_eq!(
                lost.brands.iter().map(|slug| slug.as_str()).collect::<Vec<_>>(),
                ["alpha"]
            );
            let next = open_with(1000, &storage).await.unwrap();
            let snapshot = next.snapshot().await.unwrap();
            assert_eq!(snapshot.damaged_files(true).await.unwrap(), Vec::<String>::new());
            let hashes: Vec<_> = snapshot.brands().await.unwrap();
            let unknown: Vec<_> = hashes.iter().filter(|row| row.catalogue_hash.is_empty()).collect();
            assert_eq!(unknown.len(), 1, "alpha alone is to come again");
            assert_eq!(products(&snapshot, &["beta"]).await, first()[1].products);
            // The same catalogue is committed again, because its hash was cleared. No price changed.
            let report = next.commit(first(), run(2)).await.unwrap();
            assert_eq!(report.changed, [host("alpha")], "{table} {fault}");
            let snapshot = next.snapshot().await.unwrap();
            assert_eq!(products(&snapshot, &["alpha"]).await, first()[0].products);
            assert_eq!(
                sql(&next, "SELECT count(*) FROM price_history").await,
                history,
                "{table}"
            );
            assert!(
                sql(&next, "SELECT kind FROM crawl_runs WHERE tick = 2")
                    .await
                    .contains("repair")
            );
        }
    }
}

#[tokio::test]
async fn lost_shipping_terms_are_said_not_to_come_back_with_a_crawl_and_cost_nothing_else() {
    let storage = Storage::memory();
    let lake = open_with(1000, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let file = file_of(&storage, "shipping_policies", &bucket_of("alpha")).await;
    delete(&storage, file.as_ref()).await;
    let report = repaired(&storage, 1000).await;
    assert_eq!(report.lost.len(), 1, "{report:?}");
    let lost = &report.lost[0];
    assert_eq!(
        (lost.path.as_str(), lost.rows, lost.comes_back),
        (file.as_ref(), Some(1), false)
    );
    let next = open_with(1000, &storage).await.unwrap();
    let snapshot = next.snapshot().await.unwrap();
    let hashes = snapshot.brands().await.unwrap();
    assert!(
        hashes.iter().all(|row| !row.catalogue_hash.is_empty()),
        "no brand is to come again"
    );
    assert_eq!(products(&snapshot, &["alpha"]).await, first()[0].products);
}

#[tokio::test]
async fn a_lost_file_of_the_price_history_costs_the_rows_that_it_held_and_nothing_else() {
    let storage = Storage::memory();
    let lake = open_with(1000, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let file = file_of(&storage, "price_history", "month=").await;
    lake.commit(second(), run(2)).await.unwrap();
    let before = content(&lake).await;
    delete(&storage, file.as_ref()).await;
    let stores = ["alpha", "beta", "gamma"].map(host).into();
    let snapshot = lake.snapshot().await.unwrap();
    let (left, lost) = snapshot.readable_price_history(&stores).await.unwrap();
    assert_eq!(lost.unwrap().lost_file(), Some(file.as_ref()));
    assert!(left.values().flat_map(|store| store.values()).flatten().count() > 0);
    let report = repaired(&storage, 1000).await;
    let rows = report.lost[0].rows.unwrap();
    assert!(!report.lost[0].comes_back && report.lost.len() == 1, "{report:?}");
    let next = open_with(1000, &storage).await.unwrap();
    let after = content(&next).await;
    for (table, rows_before) in &before {
        let expected = match table.as_str() {
            "price_history" => rows_before.len() - usize::try_from(rows).unwrap(),
            "crawl_runs" => rows_before.len() + 1,
            _ => {
                assert_eq!(&after[table], rows_before, "{table}");
                continue;
            }
        };
        assert_eq!(after[table].len(), expected, "{table}");
    }
    assert!(next.commit(second(), run(3)).await.unwrap().ticks.is_empty());
    next.compact(false).await.unwrap();
}

#[tokio::test]
async fn several_faults_at_once_are_told_and_mended_together() {
    let storage = Storage::memory();
    let lake = open_with(1000, &storage).await.unwrap();
    crawled(&lake).await;
    let end = ObjectPath::from(format!("_ticks/{:020}.done.json", 3));
    damage(&storage, &end, "cut").await;
    delete(&storage, "_ticks/layout.json").await;
    let file = file_of(&storage, "brands", &bucket_of("beta")).await;
    damage(&storage, &file, "cut").await;
    let report = repaired(&storage, 1000).await;
    assert!(report.complete, "{report:?}");
    assert_eq!(report.repaired.len(), 2, "{report:?}");
    assert_eq!(report.lost.len(), 1, "{report:?}");
    let next = open_with(1000, &storage).await.unwrap();
    let names: Vec<_> = next.snapshot().await.unwrap().brands().await.unwrap();
    assert_eq!(names.iter().filter(|row| row.brand.store == host("beta")).count(), 0);
    next.commit(vec![refresh("beta", 1, first()[1].products.clone())], run(4))
        .await
        .unwrap();
    assert_eq!(
        products(&next.snapshot().await.unwrap(), &["beta"]).await,
        first()[1].products
    );
}

#[tokio::test]
async fn an_earlier_version_whose_log_is_lost_ends_in_words() {
    let storage = Storage::memory();
    let lake = open_with(2, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let versions = lake.snapshot().await.unwrap().versions().clone();
    lake.commit(second(), run(2)).await.unwrap();
    lake.commit(vec![refresh("alpha", 3, vec![product("alpha", 5, 5)])], run(3))
        .await
        .unwrap();
    delete(
        &storage,
        &format!("products/_delta_log/{:020}.json", versions["products"]),
    )
    .await;
    let files = objects(&storage).await.into_keys();
    let checkpoints = files.filter(|path| path.starts_with("products/") && path.ends_with(".checkpoint.parquet"));
    let mut checkpoints: Vec<String> = checkpoints.collect();
    checkpoints.pop();
    for path in checkpoints {
        delete(&storage, &path).await;
    }
    let next = open_with(2, &storage).await.unwrap();
    let earlier = next.snapshot_at(&AsOf::Versions(versions)).await.unwrap();
    let refused = earlier.products(&["alpha"].map(host).into()).await.err().unwrap();
    assert!(matches!(refused, LakeError::VersionLost { .. }), "{refused:?}");
    assert_eq!(products(&next.snapshot().await.unwrap(), &["alpha"]).await.len(), 1);
    let report = repaired(&storage, 2).await;
    assert!(report.complete && report.repaired.is_empty(), "{report:?}");
    let lost = |one: &data_lake::UnrepairableObject| {
        one.table == Some("products") && one.reason.contains("earlier states cannot be read")
    };
    assert!(!report.stuck.is_empty() && report.stuck.iter().all(lost), "{report:?}");
}

#[tokio::test]
async fn a_crawl_that_finds_nothing_new_still_mends_what_is_missing_or_was_noted() {
    let storage = Storage::memory();
    let lake = open_with(1000, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    assert!(lake.find_damage(false).await.unwrap().is_empty());
    let file = file_of(&storage, "products", &bucket_of("alpha")).await;
    delete(&storage, file.as_ref()).await;
    let flipped = file_of(&storage, "variants", &bucket_of("beta")).await;
    damage(&storage, &flipped, "flip").await;
    assert_eq!(
        lake.find_damage(false).await.unwrap(),
        [host("alpha")].into(),
        "a flip is not seen in a list"
    );
    lake.note_damage([flipped.as_ref()]).await.unwrap();
    assert_eq!(
        lake.find_damage(false).await.unwrap(),
        ["alpha", "beta"].map(host).into()
    );
    let report = lake.commit(first(), run(2)).await.unwrap();
    assert_eq!(report.changed.len(), 2, "{report:?}");
    let snapshot = lake.snapshot().await.unwrap();
    assert_eq!(snapshot.damaged_files(true).await.unwrap(), Vec::<String>::new());
    assert_eq!(products(&snapshot, &["alpha", "beta"]).await.len(), 8);
    assert!(lake.find_damage(false).await.unwrap().is_empty());
    assert!(
        !objects(&storage).await.contains_key("_ticks/damaged.json"),
        "the note is gone"
    );
}
