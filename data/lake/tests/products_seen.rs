//! What products were called, and when they were there, as `product_history` tells it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod support;

use std::sync::Arc;

use data_lake::Lake;
use data_model::{BrandRefresh, CategoryId, Product};
use data_storage::faulty::{FaultKind, FaultPlan, FaultyStore};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use futures::TryStreamExt;
use support::*;

const TOLD: &str = "SELECT tick, brand_slug AS brand, platform_product_id AS id, event, title, handle, vendor, \
    category_id AS category, run_id AS run FROM product_history ORDER BY tick, brand, id";

fn named(id: u64, title: &str) -> Product {
    Product {
        title: title.into(),
        ..product("alpha", id, 100)
    }
}

fn alpha(number: u32, products: Vec<Product>) -> Vec<BrandRefresh> {
    vec![refresh("alpha", number, products)]
}

#[tokio::test]
async fn every_change_of_a_product_is_one_row_and_no_change_is_none() {
    let storage = Storage::memory();
    let lake = open(&storage, &SetClock::start()).await;
    lake.commit(
        alpha(1, vec![named(1, "One"), named(2, "Two"), named(3, "Three")]),
        run(1),
    )
    .await
    .unwrap();
    // A price is no change of what a product is called.
    let mut dearer = vec![named(1, "One"), named(2, "Two"), named(3, "Three")];
    dearer[0].variants[0].price_minor += 1;
    let version = |lake: &Lake| {
        let lake = lake.clone();
        async move { lake.snapshot().await.unwrap().versions()["product_history"] }
    };
    let before = version(&lake).await;
    lake.commit(alpha(2, dearer), run(2)).await.unwrap();
    assert_eq!(version(&lake).await, before, "nothing is written");
    let mut changed = vec![named(1, "One, renamed"), named(2, "Two"), named(4, "Four")];
    changed[1].category = Some(CategoryId(1));
    changed[1].vendor = None;
    lake.commit(alpha(3, changed.clone()), run(3)).await.unwrap();
    // The third is back under another handle; the others are as they were.
    let mut back = named(3, "Three");
    back.handle = "p-3-again".into();
    changed.insert(2, back);
    lake.commit(alpha(4, changed), run(4)).await.unwrap();
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    lake.commit(alpha(6, vec![named(1, "One"), named(9, "Nine")]), run(6))
        .await
        .unwrap();
    insta::assert_snapshot!(sql(&lake, TOLD).await, @"");
    let seen = "SELECT event, count(*) AS rows, count(last_seen_at) AS seen, min(last_seen_at) AS first \
        FROM product_history GROUP BY event ORDER BY event";
    insta::assert_snapshot!(sql(&lake, seen).await, @"");
    let told = sql(&lake, TOLD).await;
    lake.compact(false).await.unwrap();
    assert_eq!(sql(&lake, TOLD).await, told, "however the files are cut");
    assert_eq!(sql(&open(&storage, &SetClock::start()).await, TOLD).await, told);
}

#[tokio::test]
async fn the_history_of_products_is_written_once_wherever_a_process_dies() {
    let clock = SetClock::start();
    let faulty = || {
        let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
        let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
        (faulty, storage)
    };
    let crawls = || {
        [
            alpha(1, vec![named(1, "One"), named(2, "Two")]),
            alpha(2, vec![named(1, "Uno"), named(3, "Three")]),
        ]
    };
    let (counter, counted) = faulty();
    let lake = open(&counted, &clock).await;
    let [one, two] = crawls();
    lake.commit(one, run(1)).await.unwrap();
    counter.disarm();
    lake.commit(two, run(2)).await.unwrap();
    let (writes, expected) = (counter.mutations(), sql(&lake, TOLD).await);
    for nth in 1..=writes {
        let (faulty, storage) = faulty();
        let lake = open(&storage, &clock).await;
        let [one, two] = crawls();
        lake.commit(one, run(1)).await.unwrap();
        faulty.arm(FaultPlan {
            nth,
            kind: FaultKind::AfterEffect,
            dead_after: true,
        });
        let _ = lake.commit(two.clone(), run(2)).await;
        faulty.disarm();
        let next = open(&storage, &clock).await;
        next.commit(two, run(2)).await.unwrap();
        assert_eq!(sql(&next, TOLD).await, expected, "at write {nth}");
    }
}

/// Takes away what earlier versions did not have.
async fn age(storage: &Storage) {
    let listed: Vec<_> = storage.store().list(None).try_collect().await.unwrap();
    for path in listed.into_iter().map(|meta| meta.location) {
        if path.as_ref().starts_with("product_history/") {
            storage.store().delete(&path).await.unwrap();
            continue;
        }
        if !path.as_ref().starts_with("_ticks/") || !path.as_ref().ends_with(".json") {
            continue;
        }
        let bytes = storage.store().get(&path).await.unwrap().bytes().await.unwrap();
        let mut document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        if let Some(versions) = document.get_mut("versions") {
            versions.as_object_mut().unwrap().remove("product_history");
        }
        if let Some(tables) = document.get_mut("tables") {
            tables
                .as_array_mut()
                .unwrap()
                .retain(|table| table != "product_history");
        }
        storage.store().put(&path, document.to_string().into()).await.unwrap();
    }
}

#[tokio::test]
async fn a_lake_of_before_gets_the_table_and_what_is_there_then_is_first_seen_then() {
    let (clock, storage) = (SetClock::start(), Storage::memory());
    let lake = open(&storage, &clock).await;
    lake.commit(alpha(1, vec![named(1, "One"), named(2, "Two")]), run(1))
        .await
        .unwrap();
    let old = lake.snapshot().await.unwrap().versions().clone();
    drop(lake);
    age(&storage).await;
    clock.advance(5000);
    for _ in 0..2 {
        let lake = open(&storage, &clock).await;
        let told = sql(
            &lake,
            "SELECT platform_product_id AS id, event, title, run_id AS run, observed_at AS at, tick FROM product_history ORDER BY id",
        )
        .await;
        insta::assert_snapshot!(told, @"");
        assert_eq!(lake.snapshot().await.unwrap().tick(), Some(2));
    }
    let lake = open(&storage, &clock).await;
    lake.commit(alpha(3, vec![named(2, "Two again")]), run(3))
        .await
        .unwrap();
    let told = sql(
        &lake,
        "SELECT event, title FROM product_history WHERE tick = 3 ORDER BY event",
    )
    .await;
    insta::assert_snapshot!(told, @"");
    // States of before are read as they were.
    let mut old = old;
    old.remove("product_history");
    let state = lake.snapshot_at(&data_lake::AsOf::Versions(old)).await.unwrap();
    assert_eq!(products(&state, &["alpha"]).await.len(), 2);
    assert!(state.damaged_files(true).await.unwrap().is_empty());
    lake.session(&state).await.unwrap();
    let end = ObjectPath::from("_ticks/00000000000000000002.done.json");
    storage.store().head(&end).await.unwrap();
}
