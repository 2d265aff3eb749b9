//! Tests merges of small files when one of them is lost.

use std::collections::BTreeMap;

use crate::support::*;
use data_storage::{ObjectPath, ObjectStoreExt, Storage};

#[tokio::test]
async fn a_lost_file_is_left_out_of_a_merge_and_where_nothing_is_left_to_merge_there_is_no_tick() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    let alpha = (2..=6).map(|id| product("alpha", id, 3_300)).collect();
    lake.commit(vec![refresh("alpha", 3, alpha)], run(3)).await.unwrap();
    let is_of_history = |path: &&String| path.starts_with("price_history/") && path.ends_with(".parquet");
    let stored = objects(&storage).await;
    let mut partitions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in stored.keys().filter(is_of_history) {
        let (partition, _) = path.rsplit_once('/').unwrap();
        partitions.entry(partition).or_default().push(path);
    }
    let files = partitions.values().max_by_key(|files| files.len()).unwrap();
    assert!(files.len() >= 3, "{partitions:?}");
    storage.store().delete(&ObjectPath::from(files[1])).await.unwrap();

    let done = lake.compact(false).await.unwrap();
    let of_history = done
        .merged
        .iter()
        .filter(|merged| merged.table.as_str() == "price_history")
        .map(|merged| merged.files)
        .max();
    assert_eq!((done.tick, of_history), (Some(4), Some(files.len() - 1)));
    let before = objects(&storage).await;
    for _ in 0..2 {
        let again = lake.compact(false).await.unwrap();
        assert_eq!((again.tick, again.merged), (None, Vec::new()));
    }
    assert_eq!(objects(&storage).await, before, "nothing is written for nothing");
}
