//! Flips bits of data files, and checks that damage checks and reads whose results are written back detect every flip.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use crate::support::*;
use bytes::Bytes;
use data_lake::{Lake, LakeConfig, LakeError, StoreUpdate, TableName};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use futures::TryStreamExt;

/// Number of bits to flip in a table's files per test run, or 400 with `TEST_FLIPS=all` in the environment.
const FLIPS: u64 = 20;
const FLIPS_ALL: u64 = 400;

/// Pseudorandom numbers that are the same in every run.
struct Random(u64);

impl Random {
    /// The algorithm is SplitMix64.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

fn zone() -> data_model::DeliveryZone {
    data_model::DeliveryZone {
        zone: "z1".to_owned(),
        confidence: data_model::Confidence::Low,
        areas: vec!["GOA/SOUTH GOA/rest".to_owned()],
        serviceable: None,
        days_min: Some(2),
        days_max: None,
        currency: "INR".parse().unwrap(),
        rates: Vec::new(),
        probes: 1,
        sampled_at: data_model::Timestamp::from_micros(START),
    }
}

fn probe() -> data_model::DeliveryProbe {
    data_model::DeliveryProbe {
        pincode: "403601".parse().unwrap(),
        variant: data_model::VariantId(31),
        quantity: 1,
        goods_minor: 49_900,
        grams: None,
        currency: "INR".parse().unwrap(),
        options: Vec::new(),
        asked_at: data_model::Timestamp::from_micros(START),
    }
}

fn published() -> data_lake::ReviewChanges {
    let (widget, product, at) = (
        data_model::ReviewWidget::Yotpo,
        1,
        data_model::Timestamp::from_micros(START),
    );
    let review = data_model::Review {
        rating: 4.0,
        author: Some("Asha".to_owned()),
        title: None,
        body: "Lovely.".to_owned(),
        created_at: Some(at),
    };
    data_lake::ReviewChanges {
        reviews: vec![data_model::WidgetReview {
            widget,
            id: "r1".to_owned(),
            product,
            review,
            is_verified: Some(true),
        }],
        ratings: vec![data_model::WidgetRating {
            widget,
            product,
            average: 4.0,
            count: 1,
        }],
        ..data_lake::ReviewChanges::none(host("alpha"), brand("alpha").slug, at)
    }
}

/// Creates a lake with two crawls, delivery samples, exchange rates and app reviews, and with merged files and
/// checkpoints.
async fn filled(storage: &Storage, buckets: u32) -> Lake {
    let lake = open_with(storage, buckets).await;
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    let sampled = data_model::DeliverySample {
        pincode: "560001".parse().unwrap(),
        serviceable: Some(true),
        zone: Some("south".into()),
        days_min: Some(2),
        days_max: Some(4),
        sampled_at: data_model::Timestamp::from_micros(START),
    };
    let known = data_model::KnownDelivery {
        zones: vec![zone()],
        probes: vec![probe()],
        samples: vec![sampled],
    };
    let known = vec![StoreUpdate::new(host("beta"), brand("beta").slug, known)];
    lake.commit_delivery(known).await.unwrap();
    let rate = data_model::ExchangeRate {
        date: "2026-11-20".parse().unwrap(),
        base: "USD".parse().unwrap(),
        quote: "INR".parse().unwrap(),
        rate: 84.25,
    };
    lake.commit_rates(&[rate], "rates.csv", false).await.unwrap();
    lake.commit_reviews(vec![published()]).await.unwrap();
    let words = crate::searches::counted([("2026-11-19", "a", &[crate::searches::word("tea", 7)])]);
    lake.commit_searches(&words, "2026-08-01").await.unwrap();
    lake.compact(false).await.unwrap();
    lake.commit(read_at(first(), 3), run(3)).await.unwrap();
    let said = data_model::Observation {
        store: host("alpha"),
        product: 3,
        observed_at: data_model::Timestamp::from_micros(START + 20 * 3_600_000_000),
        currency: "INR".parse().unwrap(),
        variants: Vec::new(),
        gone: vec![data_model::VariantId(31)],
    };
    let told = lake.commit_observations(vec![said], std::collections::BTreeMap::new(), run(4));
    assert_eq!(told.await.unwrap().rows, 1);
    // After reopening, the log's data about files comes from a checkpoint.
    open_with(storage, buckets).await
}

async fn open_with(storage: &Storage, buckets: u32) -> Lake {
    let (config, clock) = (LakeConfig { buckets, ..config() }, midnight());
    clock.advance_ms(24 * 3_600_000);
    Lake::open(storage.clone(), config, clock).await.unwrap()
}

async fn live(storage: &Storage, lake: &Lake, table: TableName) -> Vec<ObjectPath> {
    let all = objects(storage).await;
    let folder = format!("{table}/");
    let files = all
        .into_keys()
        .filter(|path| path.starts_with(&folder) && path.ends_with(".parquet") && !path.contains("/_delta_log/"));
    let mut live = Vec::new();
    for path in files.map(ObjectPath::from) {
        let bytes = bytes_of(storage, &path).await;
        storage.store().delete(&path).await.unwrap();
        let missing = lake.snapshot().await.unwrap().damaged_files(false).await.unwrap();
        storage.store().put(&path, bytes.into()).await.unwrap();
        if !missing.is_empty() {
            live.push(path);
        }
    }
    live
}

async fn bytes_of(storage: &Storage, path: &ObjectPath) -> Bytes {
    storage.store().get(path).await.unwrap().bytes().await.unwrap()
}

async fn flip(storage: &Storage, path: &ObjectPath, bit: u64) {
    let mut bytes = bytes_of(storage, path).await.to_vec();
    bytes[usize::try_from(bit / 8).unwrap()] ^= 1 << (bit % 8);
    storage.store().put(path, bytes.into()).await.unwrap();
}

#[tokio::test]
async fn no_flipped_bit_of_any_table_is_unseen() {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long the tests run is not the program's configuration"
    )]
    let flips = if std::env::var_os("TEST_FLIPS").is_some() {
        FLIPS_ALL
    } else {
        FLIPS
    };
    let storage = Storage::memory();
    let lake = filled(&storage, 4).await;
    let snapshot = lake.snapshot().await.unwrap();
    assert!(snapshot.damaged_files(true).await.unwrap().is_empty());
    for (seed, table) in (1..).zip(TableName::ALL) {
        let (files, mut random) = (live(&storage, &lake, table).await, Random(seed));
        assert!(!files.is_empty(), "{table}");
        for trial in 0..flips {
            let file = &files[usize::try_from(random.below(files.len() as u64)).unwrap()];
            let bytes = bytes_of(&storage, file).await;
            let bit = random.below(bytes.len() as u64 * 8);
            flip(&storage, file, bit).await;
            let damaged = snapshot.damaged_files(true).await.unwrap();
            assert!(
                damaged.len() == 1 && damaged[0].starts_with(file.as_ref()),
                "{table}, trial {trial}: bit {bit} of {file}: {damaged:?}"
            );
            storage.store().put(file, bytes.into()).await.unwrap();
        }
        println!("{table}: {flips} flips in {} files, all seen", files.len());
    }
}

#[tokio::test]
async fn a_flipped_bit_is_neither_read_nor_carried_into_a_new_file() {
    for table in [
        TableName::Variants,
        TableName::Products,
        TableName::Reviews,
        TableName::Brands,
    ] {
        let storage = Storage::memory();
        let lake = filled(&storage, 1).await;
        let file = live(&storage, &lake, table).await.remove(0);
        let size = bytes_of(&storage, &file).await.len() as u64;
        flip(&storage, &file, size * 4).await;
        let lake = open_with(&storage, 1).await;
        let before = objects(&storage).await;
        let alpha = vec![refresh("alpha", 4, vec![product("alpha", 1, 77)])];
        let refused = lake.commit(alpha, run(4)).await.unwrap_err();
        assert!(
            matches!(&refused, LakeError::Lost { path, brands, .. } if path == file.as_ref() && brands.len() == 3),
            "{table}: {refused:?}"
        );
        assert_eq!(objects(&storage).await, before, "{table}");
        let state = lake.snapshot().await.unwrap();
        let stores = ["alpha", "beta", "gamma"].map(host).into();
        let rows: Result<Vec<_>, _> = state.products(&stores).await.unwrap().try_collect().await;
        let is_damaged = |error: &LakeError| matches!(error, LakeError::Damaged { path } if path == file.as_ref());
        assert_eq!(
            rows.as_ref().is_err_and(is_damaged),
            table != TableName::Brands,
            "{table}"
        );
        let brands = state.brands().await;
        assert_eq!(
            brands.as_ref().is_err_and(is_damaged),
            table == TableName::Brands,
            "{table}"
        );
        // A commit of all brands of the damaged file does not need its old rows.
        let all: Vec<_> = ["alpha", "beta", "gamma"]
            .map(|name| refresh(name, 5, vec![product(name, 1, 77)]))
            .into();
        lake.commit(all, run(5)).await.unwrap();
        let state = lake.snapshot().await.unwrap();
        assert_eq!(
            state.damaged_files(true).await.unwrap(),
            Vec::<String>::new(),
            "{table}"
        );
    }
}

#[tokio::test]
async fn damage_that_was_found_is_mended_by_a_crawl_that_finds_nothing_new_and_no_history_is_doubled() {
    for table in [
        TableName::Variants,
        TableName::Products,
        TableName::Reviews,
        TableName::ShippingPolicies,
        TableName::Brands,
    ] {
        let storage = Storage::memory();
        let lake = filled(&storage, 4).await;
        let before = content(&lake).await;
        for (number, file) in live(&storage, &lake, table).await.into_iter().enumerate() {
            flip(&storage, &file, 8 * 7 + number as u64).await;
        }
        let lake = open_with(&storage, 4).await;
        // The damage was not looked for, so that the content counts as already stored.
        if table != TableName::Brands {
            assert!(lake.commit(first(), run(4)).await.unwrap().ticks.is_empty(), "{table}");
        }
        let damaged = lake.find_damage(true).await.unwrap();
        assert!(!damaged.is_empty(), "{table}");
        let report = lake.commit(first(), run(5)).await.unwrap();
        assert!(!report.changed.is_empty(), "{table}");
        let state = lake.snapshot().await.unwrap();
        assert_eq!(
            state.damaged_files(true).await.unwrap(),
            Vec::<String>::new(),
            "{table}"
        );
        let after = content(&lake).await;
        for (name, rows) in &before {
            // Only the refreshed brands, the crawl runs and the quarantine may differ. All other tables are unchanged,
            // including the histories.
            if !["crawl_runs", "brands", "quarantine"].contains(&name.as_str()) {
                assert_eq!(&after[name], rows, "{name} after damage in {table}");
            }
        }
        assert!(lake.find_damage(true).await.unwrap().is_empty());
        assert!(lake.commit(first(), run(6)).await.unwrap().ticks.is_empty(), "{table}");
    }
}
