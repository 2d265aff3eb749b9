//! Checks that a missing or damaged data file affects only the brands that had rows in it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::sync::Arc;
use std::time::Duration;

use crate::support::*;
use bytes::Bytes;
use data_lake::{Lake, LakeConfig, LakeError, StoreUpdate};
use data_model::{BrandRefresh, Clock, DeliverySample, KnownDelivery, Timestamp};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use object_store::throttle::{ThrottleConfig, ThrottledStore};

/// No checkpoints are written, because their threads do not progress while time is paused.
async fn open_with(buckets: u32, storage: &Storage) -> Result<Lake, LakeError> {
    let config = LakeConfig {
        buckets,
        checkpoint_every: 1000,
    };
    Lake::open(storage.clone(), config, midnight() as Arc<dyn Clock>).await
}

async fn file_of(storage: &Storage, table: &str, name: &str, buckets: u32) -> ObjectPath {
    let folder = format!("{table}/bucket={}/", host(name).bucket(buckets));
    let mut files = objects(storage).await;
    files.retain(|path, _| path.starts_with(&folder));
    assert_eq!(files.len(), 1, "{files:?}");
    ObjectPath::from(files.into_keys().next().unwrap())
}

async fn bytes_of(storage: &Storage, path: &ObjectPath) -> Bytes {
    storage.store().get(path).await.unwrap().bytes().await.unwrap()
}

/// Returns one of the brands as a later crawl finds it.
fn changed(name: &str) -> BrandRefresh {
    let products = vec![product(name, 1, 4200), product(name, 9, 900)];
    refresh(name, 2, products)
}

#[tokio::test]
async fn a_lost_file_of_two_brands_fails_one_alone_before_anything_is_written_and_the_others_go_on() {
    let buckets = shared_bucket();
    for (table, damaged) in [
        ("variants", false),
        ("products", false),
        ("products", true),
        ("reviews", false),
        ("shipping_policies", true),
    ] {
        let storage = Storage::memory();
        let lake = open_with(buckets, &storage).await.unwrap();
        let mut crawl = first();
        crawl.push(mate(1));
        lake.commit(crawl, run(1)).await.unwrap();
        let file = file_of(&storage, table, "alpha", buckets).await;
        if damaged {
            storage.store().put(&file, "PAR1 no more".into()).await.unwrap();
        } else {
            storage.store().delete(&file).await.unwrap();
        }
        let before = objects(&storage).await;
        for together in [vec![changed("alpha"), changed("beta")], vec![changed("alpha")]] {
            let refused = lake.commit(together, run(2)).await.unwrap_err();
            let LakeError::Lost { path, brands, .. } = &refused else {
                panic!("{table}: {refused:?}");
            };
            assert_eq!(path, file.as_ref());
            assert_eq!(brands, &["alpha", MATE].map(|name| (host(name), name.parse().unwrap())));
            assert_eq!(objects(&storage).await, before, "{table}");
        }
        lake.commit(vec![changed("beta")], run(2)).await.unwrap();
        let next = open_with(buckets, &storage).await.unwrap();
        assert_eq!(next.unfinished_tick().await, None);
        let snapshot = next.snapshot().await.unwrap();
        assert_eq!(snapshot.tick(), Some(2));
        assert_eq!(products(&snapshot, &["beta"]).await, changed("beta").products);
        next.compact(false).await.unwrap();
        // A commit of both brands of the file rewrites it.
        next.commit(vec![changed("alpha"), mate(2)], run(3)).await.unwrap();
        let snapshot = next.snapshot().await.unwrap();
        assert!(snapshot.damaged_files(true).await.unwrap().is_empty(), "{table}");
        assert_eq!(products(&snapshot, &["alpha"]).await, changed("alpha").products);
        assert_eq!(products(&snapshot, &[MATE]).await, mate(2).products);
    }
}

/// The brand shares its bucket with alpha, in a lake in which beta and gamma have other buckets.
const MATE: &str = "mate";

fn shared_bucket() -> u32 {
    let apart = |buckets: &u32| {
        let bucket = |name: &str| host(name).bucket(*buckets);
        let [alpha, mate, beta, gamma] = ["alpha", MATE, "beta", "gamma"].map(bucket);
        alpha == mate && alpha != beta && alpha != gamma
    };
    (2..64).find(apart).unwrap()
}

fn mate(number: u32) -> BrandRefresh {
    let products = (1..=4).map(|id| product(MATE, id, 300)).collect();
    refresh(MATE, number, products)
}

#[tokio::test]
async fn a_brand_is_removed_though_its_files_are_lost_and_comes_back_whole() {
    for table in ["variants", "products"] {
        let storage = Storage::memory();
        let lake = open_with(64, &storage).await.unwrap();
        lake.commit(first(), run(1)).await.unwrap();
        let file = file_of(&storage, table, "alpha", 64).await;
        storage.store().delete(&file).await.unwrap();
        lake.remove_brands(&[host("alpha")]).await.unwrap();
        let snapshot = lake.snapshot().await.unwrap();
        assert!(snapshot.damaged_files(true).await.unwrap().is_empty(), "{table}");
        assert!(products(&snapshot, &["alpha"]).await.is_empty());
        assert_eq!(products(&snapshot, &["beta"]).await, first()[1].products);
        lake.commit(vec![changed("alpha")], run(2)).await.unwrap();
        let snapshot = lake.snapshot().await.unwrap();
        assert_eq!(products(&snapshot, &["alpha"]).await, changed("alpha").products);
    }
}

#[tokio::test]
async fn a_lost_file_of_several_brands_goes_with_all_of_them_and_not_with_one() {
    let storage = Storage::memory();
    let lake = open_with(1, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let file = file_of(&storage, "products", "alpha", 1).await;
    storage.store().delete(&file).await.unwrap();
    let stores = ["alpha", "beta", "gamma"].map(host);
    let refused = lake.remove_brands(&stores[..2]).await.unwrap_err();
    assert!(
        matches!(&refused, LakeError::Lost { brands, .. } if brands.len() == 3),
        "{refused:?}"
    );
    assert!(refused.to_string().contains("(alpha, beta, gamma)"), "{refused}");
    lake.remove_brands(&stores).await.unwrap();
    let snapshot = lake.snapshot().await.unwrap();
    assert!(snapshot.damaged_files(true).await.unwrap().is_empty());
    assert!(snapshot.brands().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_begun_tick_whose_rows_are_lost_is_given_up_unless_some_of_it_is_in_the_tables() {
    let begun = begun(1).await;
    let before = content(&open_with(1, &begun).await.unwrap()).await;
    let file = file_of(&begun, "products", "alpha", 1).await;
    let bytes = bytes_of(&begun, &file).await;
    let left = left_of(&begun, 1, vec![changed("alpha")]).await;
    let after = content(&open_with(1, left.last().unwrap()).await.unwrap()).await;
    let (mut given_up, mut stuck) = (0, 0);
    for (nth, storage) in left.into_iter().enumerate() {
        let marks = objects(&storage).await;
        let is_begun = marks.contains_key(&format!("_ticks/{:020}.json", 2));
        let is_ended = marks.contains_key(&format!("_ticks/{:020}.done.json", 2));
        storage.store().delete(&file).await.unwrap();
        let next = open_with(1, &storage).await.unwrap();
        let unfinished = next.unfinished_tick().await;
        if is_begun && !is_ended {
            stuck += u32::from(unfinished.is_some());
            given_up += u32::from(unfinished.is_none() && next.snapshot().await.unwrap().tick() == Some(2));
        }
        // After the file is restored, all content is either from before or from after the commit, depending on the
        // tables.
        storage.store().put(&file, bytes.clone().into()).await.unwrap();
        let last = open_with(1, &storage).await.unwrap();
        assert_eq!(last.unfinished_tick().await, None, "after write {nth}");
        let read = content(&last).await;
        assert!(read == before || read == after, "neither state, after write {nth}");
        assert!(!is_ended || read == after, "ended and gone, after write {nth}");
        assert!(
            unfinished.is_none() || read == after,
            "given up in part, after write {nth}"
        );
        last.commit(vec![changed("alpha")], run(2)).await.unwrap();
        let snapshot = last.snapshot().await.unwrap();
        assert_eq!(products(&snapshot, &["alpha"]).await, changed("alpha").products);
        assert_eq!(products(&snapshot, &["beta"]).await, first()[1].products);
    }
    assert!(given_up > 0 && stuck > 0, "{given_up} given up, {stuck} stuck");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_begun_tick_is_finished_where_nothing_that_was_lost_is_needed() {
    let begun = begun(64).await;
    let file = file_of(&begun, "products", "alpha", 64).await;
    let mut finished = 0;
    for (nth, storage) in left_of(&begun, 64, vec![changed("alpha")])
        .await
        .into_iter()
        .enumerate()
    {
        let marks = objects(&storage).await;
        let is_ended = marks.contains_key(&format!("_ticks/{:020}.done.json", 2));
        if is_ended || !marks.contains_key(&format!("_ticks/{:020}.json", 2)) {
            continue;
        }
        storage.store().delete(&file).await.unwrap();
        let next = open_with(64, &storage).await.unwrap();
        assert_eq!(next.unfinished_tick().await, None, "after write {nth}");
        let snapshot = next.snapshot().await.unwrap();
        assert_eq!(products(&snapshot, &["alpha"]).await, changed("alpha").products);
        finished += 1;
    }
    assert!(finished > 5, "{finished}");
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_tick_another_gave_up_finds_that_out_and_leaves_no_half_of_it() {
    let storage = Storage::memory();
    let lake = open_with(1, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    let before = content(&lake).await;
    let file = file_of(&storage, "products", "alpha", 1).await;
    let hour = Duration::from_secs(3600);
    let slow = ThrottleConfig {
        wait_put_per_call: hour,
        ..ThrottleConfig::default()
    };
    let slow = ThrottledStore::new(Arc::clone(storage.store()), slow);
    let slow = Storage::with_store(Arc::new(slow), "memory:///".parse().unwrap());
    let lake = open_with(1, &slow).await.unwrap();
    let committing = tokio::spawn(async move { lake.commit(vec![changed("alpha")], run(2)).await });
    let record = format!("_ticks/{:020}.json", 2);
    while !objects(&storage).await.contains_key(&record) {
        tokio::time::sleep(hour / 60).await;
    }
    // The commit reaches the first table only in almost an hour.
    let bytes = bytes_of(&storage, &file).await;
    storage.store().delete(&file).await.unwrap();
    let other = open_with(1, &storage).await.unwrap();
    assert_eq!(other.unfinished_tick().await, None);
    assert_eq!(other.snapshot().await.unwrap().tick(), Some(2));
    storage.store().put(&file, bytes.into()).await.unwrap();
    assert_eq!(content(&other).await, before);
    // The delayed commit takes the next commit batch number.
    assert_eq!(committing.await.unwrap().unwrap().ticks, [3]);
    let last = open_with(1, &storage).await.unwrap();
    let snapshot = last.snapshot().await.unwrap();
    assert_eq!(products(&snapshot, &["alpha"]).await, changed("alpha").products);
    let ticks = sql(&last, "SELECT tick FROM crawl_runs ORDER BY tick").await;
    assert!(ticks.contains("| 3 ") && !ticks.contains("| 2 "), "{ticks}");
}

#[tokio::test]
async fn ticks_whose_records_are_lost_stay_and_their_numbers_are_not_taken_again() {
    for lost in [3..=3, 2..=3] {
        let storage = Storage::memory();
        let lake = open_with(4, &storage).await.unwrap();
        let beta = vec![refresh("beta", 3, vec![product("beta", 7, 70)])];
        for (number, crawl) in [(1, first()), (2, second()), (3, beta.clone())] {
            lake.commit(crawl, run(number)).await.unwrap();
        }
        let before = content(&lake).await;
        for tick in lost {
            for kind in ["json", "done.json"] {
                let path = ObjectPath::from(format!("_ticks/{tick:020}.{kind}"));
                storage.store().delete(&path).await.unwrap();
            }
        }
        let [lake, next] = [open_with(4, &storage).await, open_with(4, &storage).await].map(Result::unwrap);
        // The commit finds nothing to do, because the state of the tables is recovered.
        assert!(lake.commit(beta, run(4)).await.unwrap().ticks.is_empty());
        assert_eq!(lake.snapshot().await.unwrap().tick(), Some(3));
        assert_eq!(content(&lake).await, before);
        assert_eq!(next.commit(vec![changed("alpha")], run(5)).await.unwrap().ticks, [4]);
        let snapshot = next.snapshot().await.unwrap();
        assert_eq!(products(&snapshot, &["alpha"]).await, changed("alpha").products);
        let runs = sql(&next, "SELECT max(tick), count(DISTINCT tick) FROM crawl_runs").await;
        assert_eq!(runs.matches("| 4 ").count(), 2, "{runs}");
    }
}

#[tokio::test]
async fn a_crawl_takes_the_number_after_a_tick_whose_record_is_lost() {
    let storage = Storage::memory();
    let lake = open_with(4, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    for kind in ["json", "done.json"] {
        let path = ObjectPath::from(format!("_ticks/{:020}.{kind}", 2));
        storage.store().delete(&path).await.unwrap();
    }
    let next = open_with(4, &storage).await.unwrap();
    assert_eq!(next.commit(vec![changed("alpha")], run(3)).await.unwrap().ticks, [3]);
    let snapshot = next.snapshot().await.unwrap();
    assert_eq!(products(&snapshot, &["alpha"]).await, changed("alpha").products);
    assert_eq!(products(&snapshot, &["gamma"]).await, second()[2].products);
}

#[tokio::test]
async fn a_tick_that_is_in_every_table_is_ended_though_its_end_and_its_rows_are_lost() {
    let storage = Storage::memory();
    let lake = open_with(4, &storage).await.unwrap();
    let sample = DeliverySample {
        pincode: "560001".parse().unwrap(),
        serviceable: Some(true),
        zone: None,
        days_min: Some(2),
        days_max: None,
        sampled_at: Timestamp::from_micros(START),
    };
    let known = KnownDelivery {
        samples: vec![sample],
        ..KnownDelivery::default()
    };
    let sampled = vec![StoreUpdate::new(host("gamma"), brand("gamma").slug, known)];
    for tick in 1..=5 {
        match tick {
            1 => lake.commit(first(), run(1)).await,
            2 => lake.commit(second(), run(2)).await,
            3 => lake.commit_delivery(sampled.clone()).await,
            4 => lake.remove_brands(&[host("alpha")]).await,
            _ => lake.commit(first(), run(5)).await,
        }
        .unwrap();
        let before = content(&lake).await;
        let end = ObjectPath::from(format!("_ticks/{tick:020}.done.json"));
        storage.store().delete(&end).await.unwrap();
        let next = open_with(4, &storage).await.unwrap();
        assert_eq!(next.unfinished_tick().await, None, "tick {tick}");
        assert_eq!(next.snapshot().await.unwrap().tick(), Some(tick));
        assert_eq!(content(&next).await, before, "tick {tick}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tick_that_is_in_some_tables_is_never_ended_without_its_rows() {
    let begun = begun(1).await;
    let before = content(&open_with(1, &begun).await.unwrap()).await;
    let left = left_of(&begun, 1, second()).await;
    let after = content(&open_with(1, left.last().unwrap()).await.unwrap()).await;
    let (mut ended, mut stuck) = (0, 0);
    for (nth, storage) in left.into_iter().enumerate() {
        for path in objects(&storage).await.into_keys() {
            if path.ends_with(".arrow") || path == "_ticks/00000000000000000002.done.json" {
                storage.store().delete(&ObjectPath::from(path)).await.unwrap();
            }
        }
        let next = open_with(1, &storage).await.unwrap();
        let (unfinished, read) = (next.unfinished_tick().await, content(&next).await);
        assert!(read == before || read == after, "neither state, after write {nth}");
        assert!(unfinished.is_none() || read == before, "after write {nth}");
        stuck += u32::from(unfinished.is_some());
        ended += u32::from(read == after);
    }
    assert!(ended > 0 && stuck > 0, "{ended} ended, {stuck} stuck");
}

/// Creates a lake with these buckets and the first crawl.
async fn begun(buckets: u32) -> Storage {
    let storage = Storage::memory();
    let lake = open_with(buckets, &storage).await.unwrap();
    lake.commit(first(), run(1)).await.unwrap();
    storage
}

/// Returns what is left of the next crawl, which finds these refreshes, wherever its process dies.
async fn left_of(begun: &Storage, buckets: u32, crawl: Vec<BrandRefresh>) -> Vec<Storage> {
    let process = move |storage| async move {
        let lake = open_with(buckets, &storage).await.unwrap();
        lake.commit(crawl, run(2)).await.unwrap();
    };
    deaths(begun, process).await
}
