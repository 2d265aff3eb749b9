//! A lake of the version before live observations: it gets the columns and the table that it lacks, and goes on.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_lake::Lake;
use data_model::{Observation, ObservedVariant, Timestamp, VariantId};
use data_storage::faulty::{FaultKind, FaultPlan, FaultyStore};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use support::*;

/// The columns that were added, each with its table.
const ADDED: [(&str, &str); 11] = [
    ("price_history", "source"),
    ("brands", "crawl_country"),
    ("shipping_policies", "source_url"),
    ("shipping_policies", "observed_at"),
    ("shipping_policies", "facts"),
    ("shipping_policies", "unknown"),
    ("shipping_policies", "cod_fee_minor"),
    ("shipping_policies", "dispatch_days_min"),
    ("shipping_policies", "dispatch_days_max"),
    ("shipping_policies", "delivery_days_min"),
    ("shipping_policies", "delivery_days_max"),
];

async fn get(storage: &Storage, path: &ObjectPath) -> Bytes {
    storage.store().get(path).await.unwrap().bytes().await.unwrap()
}

async fn put(storage: &Storage, path: &ObjectPath, bytes: Vec<u8>) {
    storage.store().put(path, bytes.into()).await.unwrap();
}

/// A data file without a column.
fn without(file: Bytes, column: &str) -> Vec<u8> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let schema = batches[0].schema();
    let kept: Vec<usize> = (0..schema.fields().len())
        .filter(|at| schema.field(*at).name() != column)
        .collect();
    assert_eq!(kept.len() + 1, schema.fields().len(), "{column}");
    let narrow = Arc::new(schema.project(&kept).unwrap());
    let mut writer = ArrowWriter::try_new(Vec::new(), narrow, None).unwrap();
    for batch in &batches {
        writer.write(&batch.project(&kept).unwrap()).unwrap();
    }
    writer.into_inner().unwrap()
}

/// Takes a column out of one line of a table's log, and out of the data file that it names.
async fn narrow(storage: &Storage, (table, column): (&str, &str), line: &mut Value) {
    if let Some(schema) = line.pointer_mut("/metaData/schemaString") {
        let mut parsed: Value = serde_json::from_str(schema.as_str().unwrap()).unwrap();
        let fields = parsed["fields"].as_array_mut().unwrap();
        let before = fields.len();
        fields.retain(|field| field["name"] != column);
        assert_eq!(fields.len() + 1, before);
        *schema = parsed.to_string().into();
    }
    let Some(add) = line.get_mut("add") else { return };
    let path = ObjectPath::parse(format!("{table}/{}", add["path"].as_str().unwrap())).unwrap();
    let bytes = without(get(storage, &path).await, column);
    add["size"] = bytes.len().into();
    add["tags"]["haat.sha256"] = hex::encode(Sha256::digest(&bytes)).into();
    put(storage, &path, bytes).await;
}

/// Makes the lake what the version before would have written.
async fn as_before(storage: &Storage) {
    for path in objects(storage).await.into_keys() {
        let path = ObjectPath::from(path);
        if path.as_ref().starts_with("live_prices/") {
            storage.store().delete(&path).await.unwrap();
            continue;
        }
        if path.as_ref().ends_with(".done.json") {
            let mut end: Value = serde_json::from_slice(&get(storage, &path).await).unwrap();
            end["versions"].as_object_mut().unwrap().remove("live_prices").unwrap();
            put(storage, &path, serde_json::to_vec(&end).unwrap()).await;
        }
        let of_table = |(table, _): &(&str, &str)| path.as_ref().starts_with(&format!("{table}/_delta_log/"));
        let added: Vec<_> = ADDED.into_iter().filter(of_table).collect();
        if !added.is_empty() {
            let mut lines = String::new();
            for line in String::from_utf8(get(storage, &path).await.to_vec()).unwrap().lines() {
                let mut line: Value = serde_json::from_str(line).unwrap();
                for column in &added {
                    narrow(storage, *column, &mut line).await;
                }
                lines.push_str(&format!("{line}\n"));
            }
            put(storage, &path, lines.into_bytes()).await;
        }
    }
    let path = ObjectPath::from("_ticks/layout.json");
    let mut layout: Value = serde_json::from_slice(&get(storage, &path).await).unwrap();
    layout.as_object_mut().unwrap().remove("schema").unwrap();
    layout["tables"]
        .as_array_mut()
        .unwrap()
        .retain(|table| table != "live_prices");
    put(storage, &path, serde_json::to_vec(&layout).unwrap()).await;
}

async fn go_on(lake: &Lake) {
    let one = Observation {
        store: host("alpha"),
        product: 3,
        observed_at: Timestamp::from_micros(START).plus_millis(90 * 60_000),
        currency: "INR".parse().unwrap(),
        variants: vec![ObservedVariant {
            id: VariantId(32),
            price_minor: 2500,
            compare_at_minor: None,
            available: true,
        }],
        gone: Vec::new(),
    };
    lake.commit_observations(vec![one], BTreeMap::new(), run(2))
        .await
        .unwrap();
    let mut second = second();
    second[0].brand.crawl_country = Some("IN".into());
    lake.commit(second, run(2)).await.unwrap();
}

const TOLD: &str = "SELECT source, event, count(*) AS rows FROM price_history GROUP BY 1, 2 ORDER BY 1, 2";
const COUNTRIES: &str = "SELECT slug, crawl_country FROM brands ORDER BY slug";

#[tokio::test]
async fn a_lake_of_before_gets_what_it_lacks_and_keeps_what_it_has() {
    let (storage, clock) = (Storage::memory(), midnight());
    clock.advance_ms(24 * 3_600_000);
    open(&storage, &clock).await.commit(first(), run(1)).await.unwrap();
    as_before(&storage).await;
    let lake = open(&storage, &clock).await;
    insta::assert_snapshot!(sql(&lake, TOLD).await, @"
    +--------+------------+------+
    | source | event      | rows |
    +--------+------------+------+
    |        | first_seen | 20   |
    +--------+------------+------+
    ");
    insta::assert_snapshot!(sql(&lake, COUNTRIES).await, @"
    +-------+---------------+
    | slug  | crawl_country |
    +-------+---------------+
    | alpha |               |
    | beta  |               |
    | gamma |               |
    +-------+---------------+
    ");
    let brands = lake.snapshot().await.unwrap().brands().await.unwrap();
    assert!(brands.iter().all(|row| row.brand.crawl_country.is_none()));
    let left = objects(&storage).await;
    let lake = open(&storage, &clock).await;
    assert!(lake.commit(first(), run(2)).await.unwrap().ticks.is_empty());
    assert_eq!(objects(&storage).await, left, "it is done once");

    let told = BTreeSet::from(["alpha", "beta"].map(host));
    let held = lake.snapshot().await.unwrap().shipping(&told).await.unwrap();
    assert_eq!(held.get(&host("alpha")), first()[0].shipping.as_ref());
    let mut policy = held[&host("beta")].clone();
    policy.terms = Some(Box::new(terms(5)));
    let told_now = vec![(host("beta"), brand("beta").slug, Some(policy.clone()))];
    lake.commit_shipping(told_now).await.unwrap();
    let held_now = lake.snapshot().await.unwrap().shipping(&told).await.unwrap();
    assert_eq!(held_now[&host("alpha")], held[&host("alpha")]);
    assert_eq!(held_now[&host("beta")], policy);

    go_on(&lake).await;
    insta::assert_snapshot!(sql(&lake, TOLD).await, @"
    +--------+------------+------+
    | source | event      | rows |
    +--------+------------+------+
    | crawl  | first_seen | 2    |
    | crawl  | gone       | 2    |
    | live   | changed    | 1    |
    |        | first_seen | 20   |
    +--------+------------+------+
    ");
    insta::assert_snapshot!(sql(&lake, COUNTRIES).await, @"
    +-------+---------------+
    | slug  | crawl_country |
    +-------+---------------+
    | alpha | IN            |
    | beta  |               |
    | gamma |               |
    +-------+---------------+
    ");
    let brands = lake.snapshot().await.unwrap().brands().await.unwrap();
    assert_eq!(brands[0].brand.crawl_country.as_deref(), Some("IN"));
    lake.compact(false).await.unwrap();
    assert!(
        lake.snapshot()
            .await
            .unwrap()
            .damaged_files(true)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn it_gets_it_whenever_a_process_dies_over_it() {
    let clock = midnight();
    clock.advance_ms(24 * 3_600_000);
    let made = || async {
        let faulty = FaultyStore::new(Arc::clone(Storage::memory().store()));
        let storage = Storage::with_store(Arc::new(faulty.clone()), "memory:///".parse().unwrap());
        open(&storage, &clock).await.commit(first(), run(1)).await.unwrap();
        as_before(&storage).await;
        (faulty, storage)
    };
    let expected = {
        let lake = open(&made().await.1, &clock).await;
        go_on(&lake).await;
        (sql(&lake, TOLD).await, sql(&lake, COUNTRIES).await)
    };
    for nth in 1.. {
        let (faulty, storage) = made().await;
        faulty.arm(FaultPlan {
            nth,
            kind: FaultKind::BeforeEffect,
            dead_after: true,
        });
        let config = config();
        let died = Lake::open(
            storage.clone(),
            config,
            Arc::clone(&clock) as Arc<dyn data_model::Clock>,
        )
        .await;
        let writes = faulty.mutations();
        drop(died);
        faulty.disarm();
        let lake = open(&storage, &clock).await;
        go_on(&lake).await;
        assert_eq!(
            (sql(&lake, TOLD).await, sql(&lake, COUNTRIES).await),
            expected,
            "at write {nth}"
        );
        if nth > writes {
            assert!(nth > 5, "{nth}");
            break;
        }
    }
}
