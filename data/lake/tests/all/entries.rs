//! Checks that missing or damaged parts of a table's log are reported before anything is written over them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::sync::Arc;

use crate::support::*;
use bytes::Bytes;
use data_lake::{Lake, LakeConfig, LakeError};
use data_model::Clock;
use data_storage::{ObjectPath, ObjectStoreExt, Storage};

/// Without checkpoints, every log entry is needed.
async fn open_with(buckets: u32, storage: &Storage) -> Result<Lake, LakeError> {
    let config = LakeConfig {
        buckets,
        checkpoint_every: 1000,
    };
    Lake::open(storage.clone(), config, midnight() as Arc<dyn Clock>).await
}

async fn bytes_of(storage: &Storage, path: &ObjectPath) -> Bytes {
    storage.store().get(path).await.unwrap().bytes().await.unwrap()
}

/// The log entry is removed, emptied or truncated.
async fn damage(storage: &Storage, entry: &ObjectPath, fault: &str) {
    let bytes = bytes_of(storage, entry).await;
    let last = bytes.iter().rposition(|byte| *byte == b'\n').unwrap();
    let left = match fault {
        "missing" => return storage.store().delete(entry).await.unwrap(),
        "empty" => Bytes::new(),
        "blank" => Bytes::from_static(b"\n\n"),
        "a line short" => bytes.slice(..last),
        _ => bytes.slice(..last + 9),
    };
    storage.store().put(entry, left.into()).await.unwrap();
}

#[tokio::test]
async fn a_log_without_its_newest_entry_is_told_and_never_written_over() {
    let whole = Storage::memory();
    let lake = open_with(4, &whole).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    let (before, versions) = (content(&lake).await, lake.snapshot().await.unwrap().versions().clone());
    for table in ["crawl_runs", "variants", "brands"] {
        for fault in ["missing", "empty", "a line short", "half a line short"] {
            let (storage, version) = (copied(&whole).await, versions[table]);
            let entry = ObjectPath::from(format!("{table}/_delta_log/{version:020}.json"));
            let bytes = bytes_of(&storage, &entry).await;
            damage(&storage, &entry, fault).await;
            let left = objects(&storage).await;
            let refused = open_with(4, &storage).await.unwrap_err();
            assert!(
                matches!(&refused, LakeError::Log { path, .. } if path == entry.as_ref()),
                "{fault}: {refused:?}"
            );
            assert!(refused.to_string().contains("restore it from a copy"), "{refused}");
            assert_eq!(objects(&storage).await, left, "{table} {fault}");
            storage.store().put(&entry, bytes.into()).await.unwrap();
            let next = open_with(4, &storage).await.unwrap();
            assert_eq!(content(&next).await, before, "{table} {fault}");
        }
    }
}

#[tokio::test]
async fn an_entry_in_the_middle_of_a_log_is_told_by_whatever_opens_the_lake() {
    let whole = Storage::memory();
    let lake = open_with(4, &whole).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let versions = lake.snapshot().await.unwrap().versions().clone();
    lake.commit(second(), run(2)).await.unwrap();
    lake.commit(vec![refresh("gamma", 3, vec![product("gamma", 5, 5)])], run(3))
        .await
        .unwrap();
    let (before, newest) = (content(&lake).await, lake.snapshot().await.unwrap().versions().clone());
    for table in ["price_history", "product_history", "crawl_runs", "variants", "brands"] {
        for fault in ["missing", "empty", "blank", "a line short", "half a line short"] {
            let (storage, version) = (copied(&whole).await, versions[table]);
            assert!(newest[table] > version, "{table}");
            let entry = ObjectPath::from(format!("{table}/_delta_log/{version:020}.json"));
            let bytes = bytes_of(&storage, &entry).await;
            damage(&storage, &entry, fault).await;
            let left = objects(&storage).await;
            let refused = open_with(4, &storage).await.unwrap_err();
            assert!(
                matches!(&refused, LakeError::Log { path, .. } if path == entry.as_ref()),
                "{table} {fault}: {refused:?}"
            );
            assert_eq!(objects(&storage).await, left, "{table} {fault}");
            storage.store().put(&entry, bytes.into()).await.unwrap();
            let next = open_with(4, &storage).await.unwrap();
            assert_eq!(content(&next).await, before, "{table} {fault}");
        }
    }
}

#[tokio::test]
async fn a_build_of_a_process_that_opened_the_lake_before_reads_the_entries_that_came_since() {
    let storage = Storage::memory();
    let [lake, other] = [open_with(4, &storage).await, open_with(4, &storage).await].map(Result::unwrap);
    other.commit(first(), run(1)).await.unwrap();
    let version = other.snapshot().await.unwrap().versions()["products"];
    other.commit(second(), run(2)).await.unwrap();
    let entry = ObjectPath::from(format!("products/_delta_log/{version:020}.json"));
    damage(&storage, &entry, "empty").await;
    let refused = lake.newest_snapshot().await.unwrap_err();
    assert!(
        matches!(&refused, LakeError::Log { path, .. } if path == entry.as_ref()),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_is_lost_is_told_before_a_tick_that_was_begun_is_finished() {
    let first_crawled = Storage::memory();
    let lake = open_with(4, &first_crawled).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let process = |storage| async move {
        let lake = open_with(4, &storage).await.unwrap();
        lake.commit(second(), run(2)).await.unwrap();
    };
    let mut begun = 0;
    for (nth, storage) in deaths(&first_crawled, process).await.into_iter().enumerate() {
        let marks = objects(&storage).await;
        if !marks.contains_key("_ticks/00000000000000000002.json")
            || marks.contains_key("_ticks/00000000000000000002.done.json")
        {
            continue;
        }
        begun += 1;
        let entry = ObjectPath::from(format!("brands/_delta_log/{:020}.json", 1));
        damage(&storage, &entry, "missing").await;
        let left = objects(&storage).await;
        let refused = open_with(4, &storage).await.unwrap_err();
        assert!(matches!(refused, LakeError::Log { .. }), "{refused:?}");
        assert_eq!(objects(&storage).await, left, "after write {nth}");
    }
    assert!(begun > 5, "{begun}");
}

#[tokio::test]
async fn a_log_that_other_writers_go_on_with_or_clean_is_whole() {
    let storage = Storage::memory();
    let lake = open_with(4, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let versions = lake.snapshot().await.unwrap().versions().clone();
    // An entry of another writer may lack commit information.
    let entry =
        |table: &str, version: u64, kind: &str| ObjectPath::from(format!("{table}/_delta_log/{version:020}.{kind}"));
    let path = entry("delivery_matrix", versions["delivery_matrix"], "json");
    let bytes = bytes_of(&storage, &path).await;
    let lines = bytes.split(|byte| *byte == b'\n');
    let untold = |line: &&[u8]| !line.starts_with(b"{\"commitInfo\"");
    let told_nothing = lines.filter(untold).collect::<Vec<_>>().join(&b'\n');
    storage.store().put(&path, told_nothing.into()).await.unwrap();
    open_with(4, &storage).await.unwrap();
    // The checkpoint contains the entries that were cleaned up.
    let path = entry("variants", versions["variants"], "json");
    let checkpoint = entry("variants", versions["variants"] + 1, "checkpoint.parquet");
    storage.store().put(&checkpoint, "PAR1".into()).await.unwrap();
    storage.store().delete(&path).await.unwrap();
    open_with(4, &storage).await.unwrap();
    storage.store().delete(&checkpoint).await.unwrap();
    assert!(matches!(
        open_with(4, &storage).await,
        Err(LakeError::Log { fault: "missing", .. })
    ));
}
