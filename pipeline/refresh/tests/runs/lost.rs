//! Tests that a lost data file of the lake affects only the brands with rows in it, until one run has crawled all of
//! them.

use data_storage::{ObjectPath, ObjectStoreExt};
use futures::StreamExt;
use pipeline_refresh::{Outcome, RemoveError, RunOptions, RunState, remove_brand};

use crate::support::{Rig, Shop, outcomes, slug};

const NAMES: [&str; 7] = ["chai", "coffee", "mate", "rooibos", "sencha", "tea", "yerba"];

/// Deletes the files of a table with rows of a store, in a lake with two buckets.
async fn lose(rig: &Rig, table: &str, name: &str) -> u32 {
    let bucket = bucket(name);
    let folder = ObjectPath::from(format!("lake/{table}/bucket={bucket}"));
    let files: Vec<_> = rig.storage.store().list(Some(&folder)).collect().await;
    for file in files {
        rig.storage.store().delete(&file.unwrap().location).await.unwrap();
    }
    bucket
}

fn bucket(name: &str) -> u32 {
    let store: data_model::StoreHost = format!("{name}.localhost").parse().unwrap();
    store.bucket(2)
}

#[tokio::test]
async fn brands_whose_rows_are_lost_are_read_in_full_and_written_anew_though_most_did_not_change() {
    for table in ["products", "variants"] {
        let rig = Rig::with(NAMES.map(|name| (name, Shop::of(1..=4)))).await;
        rig.run().await;
        let lost = lose(&rig, table, "tea").await;
        let together: Vec<&str> = NAMES.into_iter().filter(|name| bucket(name) == lost).collect();
        assert!((3..7).contains(&together.len()), "{together:?} lie there");
        rig.street.change("tea", |shop| *shop = Shop::of(1..=6));
        let report = rig.run().await;
        assert_eq!(report.state, RunState::Finished);
        let expected = NAMES.map(|name| match bucket(name) == lost {
            true => format!("{name} changed"),
            false => format!("{name} unchanged"),
        });
        assert_eq!(outcomes(&report), expected, "{table}");
        let snapshot = rig.lake().await.snapshot().await.unwrap();
        assert_eq!(snapshot.damaged_files(true).await.unwrap(), Vec::<String>::new());
        assert_eq!(rig.ids("tea").await, [1, 2, 3, 4, 5, 6]);
        assert_eq!(rig.run().await.commits, 0, "{table}");
    }
}

#[tokio::test]
async fn a_run_of_some_of_the_brands_of_a_lost_file_fails_these_and_refreshes_the_others() {
    let rig = Rig::with(NAMES.map(|name| (name, Shop::of(1..=4)))).await;
    rig.run().await;
    let lost = lose(&rig, "products", "tea").await;
    let other = NAMES.into_iter().find(|name| bucket(name) != lost).unwrap();
    rig.street.change(other, |shop| *shop = Shop::of(1..=5));
    let some = RunOptions {
        only: Some(vec![slug("tea"), slug(other)]),
        ..RunOptions::default()
    };
    let report = rig.run_with(&some).await.unwrap();
    let tea = report.stores.iter().find(|store| store.slug == slug("tea")).unwrap();
    let Outcome::Failed { code, reason } = &tea.outcome else {
        panic!("{tea:?}");
    };
    assert_eq!(code, "lake");
    assert!(reason.contains("restore it from a copy"), "{reason}");
    assert_eq!((report.totals.changed, report.totals.failed), (1, 1));
    assert_eq!(rig.lake().await.unfinished_tick().await, None);
}

#[tokio::test]
async fn a_forced_run_mends_what_a_flipped_bit_damaged_though_no_store_changed() {
    for table in ["products", "variants", "brands"] {
        let rig = Rig::with(NAMES.map(|name| (name, Shop::of(1..=4)))).await;
        rig.run().await;
        let damaged = flip(&rig, table, "tea").await;
        let force = RunOptions {
            force: true,
            ..RunOptions::default()
        };
        if table != "brands" {
            let report = rig.run().await;
            assert_eq!(report.totals.unchanged, NAMES.len() as u64, "{table}: nobody looked");
        }
        let report = rig.run_with(&force).await.unwrap();
        let expected = NAMES.map(|name| match bucket(name) == damaged {
            true => format!("{name} changed"),
            false => format!("{name} unchanged"),
        });
        assert_eq!(outcomes(&report), expected, "{table}");
        let snapshot = rig.lake().await.snapshot().await.unwrap();
        assert_eq!(snapshot.damaged_files(true).await.unwrap(), Vec::<String>::new());
        let stores = ["tea", "yerba"].map(|name| format!("{name}.localhost").parse().unwrap());
        let histories = snapshot.price_history(&stores.into()).await.unwrap();
        let points = histories.values().flat_map(|history| history.values());
        assert!(points.clone().count() >= 8, "{table}");
        for points in points {
            assert_eq!(points.len(), 1, "{table}: no price changed");
        }
        assert_eq!(rig.run_with(&force).await.unwrap().commits, 0, "{table}");
    }
}

/// Flips a bit in the file of a table with rows of a store.
async fn flip(rig: &Rig, table: &str, name: &str) -> u32 {
    let bucket = bucket(name);
    let folder = ObjectPath::from(format!("lake/{table}/bucket={bucket}"));
    let files: Vec<_> = rig.storage.store().list(Some(&folder)).collect().await;
    for file in files {
        let path = file.unwrap().location;
        let bytes = rig.storage.store().get(&path).await.unwrap().bytes().await.unwrap();
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        rig.storage.store().put(&path, bytes.into()).await.unwrap();
    }
    bucket
}

#[tokio::test]
async fn brands_whose_rows_are_lost_together_are_gone_once_all_of_them_are_removed_and_come_back() {
    let rig = Rig::with(NAMES.map(|name| (name, Shop::of(1..=4)))).await;
    rig.run().await;
    let lost = lose(&rig, "products", "tea").await;
    let mut together: Vec<&str> = NAMES.into_iter().filter(|name| bucket(name) == lost).collect();
    let last = together.pop().unwrap();
    for name in &together {
        let refused = remove_brand(&slug(name), &rig.storage, &rig.lake().await, rig.now()).await;
        let Err(RemoveError::Lost { others, .. }) = refused else {
            panic!("{name}: {refused:?}");
        };
        assert!(
            others.contains(&slug(last)) && !others.contains(&slug(name)),
            "{others:?}"
        );
    }
    remove_brand(&slug(last), &rig.storage, &rig.lake().await, rig.now())
        .await
        .unwrap();
    let snapshot = rig.lake().await.snapshot().await.unwrap();
    assert!(snapshot.damaged_files(false).await.unwrap().is_empty());
    assert_eq!(snapshot.brands().await.unwrap().len(), NAMES.len() - together.len() - 1);
    for name in together.iter().chain([&last]) {
        rig.register(name).await;
    }
    let report = rig.run().await;
    assert_eq!(
        report.totals.changed,
        together.len() as u64 + 1,
        "{:?}",
        outcomes(&report)
    );
    assert_eq!(rig.ids("tea").await, [1, 2, 3, 4]);
}
