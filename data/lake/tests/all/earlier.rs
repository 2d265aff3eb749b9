//! A lake of the version before live observations: it gets the columns and the table that it lacks, and goes on.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::support::*;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use data_lake::Lake;
use data_model::{Observation, ObservedVariant, PriceSource, Timestamp, VariantId};
use data_storage::faulty::{FaultKind, FaultPlan, FaultyStore};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The columns that were added, each with its table.
const ADDED: [(&str, &str); 17] = [
    ("price_history", "source"),
    ("brands", "crawl_country"),
    ("variants", "barcode"),
    ("variants", "barcode_stated"),
    ("variants", "size_normalized"),
    ("variants", "size_system"),
    ("variants", "size_ordinal"),
    ("shipping_policies", "source_url"),
    ("shipping_policies", "observed_at"),
    ("shipping_policies", "facts"),
    ("shipping_policies", "unknown"),
    ("shipping_policies", "cod_fee_minor"),
    ("shipping_policies", "dispatch_days_min"),
    ("shipping_policies", "dispatch_days_max"),
    ("shipping_policies", "delivery_days_min"),
    ("shipping_policies", "delivery_days_max"),
    ("shipping_policies", "model_facts"),
];

/// The tables that were added.
const TABLES: [&str; 4] = ["live_prices", "exchange_rates", "currencies", "pincodes"];

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
        if TABLES
            .iter()
            .any(|table| path.as_ref().starts_with(&format!("{table}/")))
        {
            storage.store().delete(&path).await.unwrap();
            continue;
        }
        if path.as_ref().ends_with(".done.json") {
            let mut end: Value = serde_json::from_slice(&get(storage, &path).await).unwrap();
            for table in TABLES {
                end["versions"].as_object_mut().unwrap().remove(table).unwrap();
            }
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
    layout.as_object_mut().unwrap().remove("facts").unwrap();
    layout["tables"]
        .as_array_mut()
        .unwrap()
        .retain(|table| TABLES.iter().all(|added| table != added));
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
    let sized = &mut second[0].products[1].variants[0];
    (sized.size, sized.barcode) = (Some("uk-8.5".parse().unwrap()), Some("0036000291452".into()));
    lake.commit(second, run(2)).await.unwrap();
}

const SIZES: &str =
    "SELECT brand_slug, size_normalized, size_system, size_ordinal, barcode, barcode_stated FROM variants
    WHERE variant_id = 32 ORDER BY 1";
const FACTS: &str =
    "SELECT (SELECT count(*) FROM currencies WHERE currency = 'INR' AND units_minor = 100) AS currencies,
    (SELECT count(*) FROM pincodes WHERE pincode = '560001' AND state = 'KARNATAKA') AS pincodes,
    (SELECT count(*) FROM exchange_rates) AS rates";
const TOLD: &str = "SELECT source, event, count(*) AS rows FROM price_history GROUP BY 1, 2 ORDER BY 1, 2";
const COUNTRIES: &str = "SELECT slug, crawl_country FROM brands ORDER BY slug";

#[tokio::test]
async fn a_lake_of_before_gets_what_it_lacks_and_keeps_what_it_has() {
    let (storage, clock) = (Storage::memory(), midnight());
    clock.advance_ms(24 * 3_600_000);
    open(&storage, &clock).await.commit(first(), run(1)).await.unwrap();
    as_before(&storage).await;
    lacks_what_no_crawl_stated(&open(&storage, &clock).await).await;
    let left = objects(&storage).await;
    let lake = open(&storage, &clock).await;
    assert!(lake.commit(first(), run(2)).await.unwrap().ticks.is_empty());
    assert_eq!(objects(&storage).await, left, "it is done once");
    keeps_its_terms(&lake).await;
    go_on(&lake).await;
    gets_what_crawls_state(&lake).await;
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

async fn lacks_what_no_crawl_stated(lake: &Lake) {
    insta::assert_snapshot!(sql(lake, TOLD).await, @"
    +--------+------------+------+
    | source | event      | rows |
    +--------+------------+------+
    |        | first_seen | 20   |
    +--------+------------+------+
    ");
    let stores = BTreeSet::from(["alpha", "beta", "gamma"].map(host));
    let history = lake.snapshot().await.unwrap().price_history(&stores).await.unwrap();
    let points: Vec<_> = history.values().flat_map(|store| store.values().flatten()).collect();
    assert_eq!(points.len(), 20);
    assert!(points.iter().all(|point| point.source == PriceSource::Crawl));
    insta::assert_snapshot!(sql(lake, COUNTRIES).await, @"
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
    insta::assert_snapshot!(sql(lake, SIZES).await, @"
    +------------+-----------------+-------------+--------------+---------+----------------+
    | brand_slug | size_normalized | size_system | size_ordinal | barcode | barcode_stated |
    +------------+-----------------+-------------+--------------+---------+----------------+
    | alpha      |                 |             |              |         |                |
    | beta       |                 |             |              |         |                |
    +------------+-----------------+-------------+--------------+---------+----------------+
    ");
    insta::assert_snapshot!(sql(lake, FACTS).await, @"
    +------------+----------+-------+
    | currencies | pincodes | rates |
    +------------+----------+-------+
    | 1          | 1        | 0     |
    +------------+----------+-------+
    ");
}

async fn keeps_its_terms(lake: &Lake) {
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
}

async fn gets_what_crawls_state(lake: &Lake) {
    insta::assert_snapshot!(sql(lake, TOLD).await, @"
    +--------+------------+------+
    | source | event      | rows |
    +--------+------------+------+
    | crawl  | first_seen | 2    |
    | crawl  | gone       | 2    |
    | live   | changed    | 1    |
    |        | first_seen | 20   |
    +--------+------------+------+
    ");
    insta::assert_snapshot!(sql(lake, COUNTRIES).await, @"
    +-------+---------------+
    | slug  | crawl_country |
    +-------+---------------+
    | alpha | IN            |
    | beta  |               |
    | gamma |               |
    +-------+---------------+
    ");
    insta::assert_snapshot!(sql(lake, SIZES).await, @"
    +------------+-----------------+-------------+--------------+--------------+----------------+
    | brand_slug | size_normalized | size_system | size_ordinal | barcode      | barcode_stated |
    +------------+-----------------+-------------+--------------+--------------+----------------+
    | alpha      | uk-8.5          | uk          | 8.5          | 036000291452 | 0036000291452  |
    | beta       |                 |             |              |              |                |
    +------------+-----------------+-------------+--------------+--------------+----------------+
    ");
    let brands = lake.snapshot().await.unwrap().brands().await.unwrap();
    assert_eq!(brands[0].brand.crawl_country.as_deref(), Some("IN"));
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
        (
            sql(&lake, TOLD).await,
            sql(&lake, COUNTRIES).await,
            sql(&lake, FACTS).await,
        )
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
            (
                sql(&lake, TOLD).await,
                sql(&lake, COUNTRIES).await,
                sql(&lake, FACTS).await
            ),
            expected,
            "at write {nth}"
        );
        if nth > writes {
            assert!(nth > 5, "{nth}");
            break;
        }
    }
}
