//! Checks that the rows of a commit batch are written once: rows in its data files are not staged as well.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeMap;

use crate::support::*;
use data_lake::Lake;
use data_model::BrandRefresh;
use data_storage::{ObjectPath, ObjectStoreExt, Storage};

/// Returns a store with hardly compressible descriptions, in which the titles of the first `changed` products differ.
fn told(changed: u64) -> Vec<BrandRefresh> {
    let products = (1..=100).map(|id| {
        let word = |nth: u64| format!("{:016x} ", (id * 60 + nth).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut product = product("alpha", id, 4200);
        product.description = (0..60).map(word).collect();
        product.title += if id <= changed { " again" } else { "" };
        product.reviews.clear();
        product
    });
    vec![refresh("alpha", u32::from(changed > 0) + 1, products.collect())]
}

/// A lake in which a commit batch died.
struct InterruptedTick {
    storage: Storage,
    before: BTreeMap<String, u64>,
    after: BTreeMap<String, u64>,
}

impl InterruptedTick {
    /// Returns the lake wherever the commit batch can die after it began.
    async fn all() -> Vec<Self> {
        let begun = Storage::memory();
        opened(&begun).await.commit(told(0), run(1)).await.unwrap();
        let before = objects(&begun).await;
        let process = |storage| async move {
            opened(&storage).await.commit(told(2), run(2)).await.unwrap();
        };
        let mut all = Vec::new();
        for storage in deaths(&begun, process).await {
            let (before, after) = (before.clone(), objects(&storage).await);
            let died = Self { storage, before, after };
            if died.is_unfinished() {
                all.push(died);
            }
        }
        all
    }

    fn is_unfinished(&self) -> bool {
        let has = |path: &str| self.after.contains_key(path);
        has("_ticks/00000000000000000002.json") && !has("_ticks/00000000000000000002.done.json")
    }

    /// Returns the files that the commit batch wrote below a folder, with their sizes.
    fn written(&self, folder: &str, extension: &str) -> BTreeMap<&str, u64> {
        let is_of = |path: &str| path.starts_with(folder) && path.ends_with(extension);
        let new = self
            .after
            .iter()
            .filter(|(path, _)| is_of(path) && !self.before.contains_key(*path));
        new.map(|(path, size)| (path.as_str(), *size)).collect()
    }
}

async fn opened(storage: &Storage) -> Lake {
    open(storage, &midnight()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tick_stages_no_row_that_its_data_files_hold_and_is_finished_from_them() {
    let expected = {
        let storage = Storage::memory();
        let lake = opened(&storage).await;
        lake.commit(told(0), run(1)).await.unwrap();
        lake.commit(told(2), run(2)).await.unwrap();
        content(&lake).await
    };
    let mut finished = 0;
    for died in InterruptedTick::all().await {
        let written = |folder, extension| died.written(folder, extension).into_values().sum::<u64>();
        let (staged, rows) = (written("_ticks/", ".arrow"), written("products/", ".parquet"));
        assert!(staged > 0 && staged * 2 < rows, "{staged} bytes beside {rows}");
        let next = opened(&died.storage).await;
        assert_eq!(next.unfinished_tick().await, None, "{:?}", died.after);
        assert_eq!(content(&next).await, expected, "{:?}", died.after);
        finished += 1;
    }
    assert!(finished > 4, "{finished}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_begun_tick_whose_own_file_is_lost_is_given_up_or_waits_for_it_and_is_never_done_in_part() {
    let (mut given_up, mut waiting, mut done) = (0, 0, 0);
    for died in InterruptedTick::all().await {
        let written = died.written("products/", ".parquet");
        assert_eq!(written.len(), 1, "{written:?}");
        let path = ObjectPath::from(*written.keys().next().unwrap());
        let file = died.storage.store().get(&path).await.unwrap().bytes().await.unwrap();
        died.storage.store().delete(&path).await.unwrap();
        let next = opened(&died.storage).await;
        let is_waiting = next.unfinished_tick().await.is_some();
        died.storage.store().put(&path, file.into()).await.unwrap();
        let last = opened(&died.storage).await;
        assert_eq!(last.unfinished_tick().await, None, "{:?}", died.after);
        let snapshot = last.snapshot().await.unwrap();
        let titles = products(&snapshot, &["alpha"]).await;
        let is_done = titles == told(2)[0].products;
        assert!(is_done || titles == told(0)[0].products, "{:?}", died.after);
        assert!(is_done || !is_waiting, "{:?}", died.after);
        (given_up, waiting) = (given_up + u32::from(!is_done), waiting + u32::from(is_waiting));
        done += u32::from(is_done && !is_waiting);
    }
    assert!(given_up > 0 && waiting > 0 && done > 0, "{given_up} {waiting} {done}");
}
