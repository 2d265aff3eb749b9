//! Tests reference tables: exchange rates that the operator imports, and built-in data.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::support::*;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use data_lake::{AsOf, Lake, LakeError, RatesReport, TableName};
use data_model::{Clock, ExchangeRate};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};

fn rate(date: &str, base: &str, quote: &str, rate: f64) -> ExchangeRate {
    ExchangeRate {
        date: date.parse().unwrap(),
        base: base.parse().unwrap(),
        quote: quote.parse().unwrap(),
        rate,
    }
}

fn november() -> Vec<ExchangeRate> {
    vec![
        rate("2026-11-20", "USD", "INR", 84.25),
        rate("2026-11-19", "USD", "INR", 84.1),
        rate("2026-11-20", "EUR", "INR", 91.5),
    ]
}

const RATES: &str = "SELECT date, base_currency, quote_currency, rate, source FROM exchange_rates ORDER BY 1, 2, 3";

fn counts(report: RatesReport) -> (usize, usize, usize, bool) {
    (report.added, report.corrected, report.unchanged, report.tick.is_some())
}

#[tokio::test]
async fn rates_are_added_corrected_and_otherwise_left_alone() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let before = objects(&storage).await;
    let dry = lake.commit_rates(&november(), "rates.csv", true).await.unwrap();
    assert_eq!(counts(dry), (3, 0, 0, false));
    assert_eq!(objects(&storage).await, before);
    let report = lake.commit_rates(&november(), "rates.csv", false).await.unwrap();
    assert_eq!(counts(report), (3, 0, 0, true));

    let before = objects(&storage).await;
    let again = lake.commit_rates(&november(), "again.csv", false).await.unwrap();
    assert_eq!((counts(again), objects(&storage).await), ((0, 0, 3, false), before));

    let corrected = [
        rate("2026-11-20", "USD", "INR", 84.26),
        rate("2026-11-21", "USD", "INR", 84.3),
    ];
    let report = lake.commit_rates(&corrected, "corrected.csv", false).await.unwrap();
    assert_eq!(counts(report), (1, 1, 0, true));
    insta::assert_snapshot!(sql(&lake, RATES).await, @"
    +------------+---------------+----------------+-------+---------------+
    | date       | base_currency | quote_currency | rate  | source        |
    +------------+---------------+----------------+-------+---------------+
    | 2026-11-19 | USD           | INR            | 84.1  | rates.csv     |
    | 2026-11-20 | EUR           | INR            | 91.5  | rates.csv     |
    | 2026-11-20 | USD           | INR            | 84.26 | corrected.csv |
    | 2026-11-21 | USD           | INR            | 84.3  | corrected.csv |
    +------------+---------------+----------------+-------+---------------+
    ");
    // Exchange rates do not change when stores change.
    lake.commit(second(), run(2)).await.unwrap();
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    lake.compact(false).await.unwrap();
    assert_eq!(sql(&lake, RATES).await.matches("csv").count(), 4);
    let kinds = "SELECT kind, count(*) FROM crawl_runs WHERE kind = 'rates' GROUP BY 1";
    assert!(sql(&lake, kinds).await.contains("| rates | 2"));
    let other = open(&storage, &clock).await;
    assert_eq!(sql(&other, RATES).await, sql(&lake, RATES).await);
}

#[tokio::test]
async fn a_restore_of_the_table_is_the_way_back_from_an_import() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit_rates(&november(), "rates.csv", false).await.unwrap();
    let then = clock.now();
    clock.advance_ms(60_000);
    let before = sql(&lake, RATES).await;
    let wrong = [rate("2026-11-20", "USD", "INR", 8425.0)];
    lake.commit_rates(&wrong, "wrong.csv", false).await.unwrap();
    assert_ne!(sql(&lake, RATES).await, before);
    let table = BTreeSet::from([TableName::ExchangeRates]);
    let restored = lake.restore(&table, &AsOf::Timestamp(then), false).await.unwrap();
    assert!(restored.tick.is_some());
    assert_eq!(sql(&lake, RATES).await, before);
    let history = BTreeSet::from([TableName::PriceHistory]);
    let refused = lake.restore(&history, &AsOf::Timestamp(then), false).await;
    assert!(matches!(refused, Err(LakeError::OnlyGrows { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_lands_as_a_whole_whenever_a_process_dies_over_it() {
    let begun = Storage::memory();
    let lake = open(&begun, &midnight()).await;
    lake.commit_rates(&november()[..1], "first.csv", false).await.unwrap();
    let process = |storage| async move {
        let lake = open(&storage, &midnight()).await;
        lake.commit_rates(&november(), "rates.csv", false).await.unwrap();
    };
    let left = deaths(&begun, process).await;
    let writes = left.len() - 1;
    assert!(writes > 4, "{writes}");
    for (nth, storage) in left.into_iter().enumerate() {
        let lake = open(&storage, &midnight()).await;
        let rows = sql(&lake, RATES).await.matches("csv").count();
        assert!(rows == 3 || rows == 1 && nth < writes, "{rows} after write {nth}");
        lake.commit_rates(&november(), "rates.csv", false).await.unwrap();
        assert_eq!(sql(&lake, RATES).await.matches("csv").count(), 3, "after write {nth}");
    }
}

#[tokio::test]
async fn a_new_lake_has_the_facts_before_anything_is_committed() {
    let lake = open(&Storage::memory(), &midnight()).await;
    let currencies = "SELECT * FROM currencies WHERE currency IN ('INR', 'JPY', 'KWD') ORDER BY 1";
    insta::assert_snapshot!(sql(&lake, currencies).await, @"
    +----------+----------+-------------+---------------+
    | currency | exponent | units_minor | name          |
    +----------+----------+-------------+---------------+
    | INR      | 2        | 100         | Indian rupee  |
    | JPY      | 0        | 1           | Japanese yen  |
    | KWD      | 3        | 1000        | Kuwaiti dinar |
    +----------+----------+-------------+---------------+
    ");
    let pincodes = "SELECT * FROM pincodes WHERE pincode IN ('110001', '560001', '744101') ORDER BY 1";
    insta::assert_snapshot!(sql(&lake, pincodes).await, @"
    +---------+---------------------------------------------------+-----------------------------+------------+-----------------+--------+
    | pincode | area                                              | state                       | state_code | district        | kind   |
    +---------+---------------------------------------------------+-----------------------------+------------+-----------------+--------+
    | 110001  | DELHI/NEW DELHI/metro                             | DELHI                       | DL         | NEW DELHI       | metro  |
    | 560001  | KARNATAKA/BENGALURU URBAN/metro                   | KARNATAKA                   | KA         | BENGALURU URBAN | metro  |
    | 744101  | ANDAMAN AND NICOBAR ISLANDS/SOUTH ANDAMANS/island | ANDAMAN AND NICOBAR ISLANDS | AN         | SOUTH ANDAMANS  | island |
    +---------+---------------------------------------------------+-----------------------------+------------+-----------------+--------+
    ");
    let all = "SELECT 'pincodes' AS facts, count(*) AS rows, sum(length(area)) AS letters, count(DISTINCT state) AS groups FROM pincodes
        UNION ALL SELECT 'currencies', count(*), sum(length(name)), sum(exponent) FROM currencies ORDER BY 1";
    insta::assert_snapshot!(sql(&lake, all).await, @"
    +------------+-------+---------+--------+
    | facts      | rows  | letters | groups |
    +------------+-------+---------+--------+
    | currencies | 169   | 2674    | 315    |
    | pincodes   | 19586 | 480131  | 36     |
    +------------+-------+---------+--------+
    ");
}

async fn lose(storage: &Storage, table: &str) {
    for path in objects(storage).await.into_keys() {
        if path.starts_with(table) && path.ends_with(".parquet") {
            storage.store().delete(&ObjectPath::from(path)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn lost_facts_come_back_with_a_repair_and_lost_rates_with_an_import() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    lake.commit_rates(&november(), "rates.csv", false).await.unwrap();
    let pincodes = "SELECT count(*) FROM pincodes";
    let before = (sql(&lake, pincodes).await, sql(&lake, RATES).await);
    drop(lake);
    for table in ["pincodes/", "exchange_rates/"] {
        lose(&storage, table).await;
    }
    let lake = open(&storage, &clock).await;
    let failed = lake.commit_rates(&november(), "rates.csv", false).await.unwrap_err();
    assert!(
        failed
            .lost_file()
            .is_some_and(|path| path.starts_with("exchange_rates/")),
        "{failed}"
    );
    // The lost reference files do not affect commits of stores.
    lake.commit(second(), run(2)).await.unwrap();
    drop(lake);
    let clock_of = Arc::clone(&clock) as Arc<dyn Clock>;
    let report = Lake::repair(&storage, config(), clock_of, false).await.unwrap();
    let lost: Vec<_> = report.lost.iter().map(|lost| (lost.table, lost.comes_back)).collect();
    assert_eq!(lost, [("exchange_rates", false), ("pincodes", true)]);
    let lake = open(&storage, &clock).await;
    assert_eq!(sql(&lake, pincodes).await, before.0);
    lake.commit_rates(&november(), "rates.csv", false).await.unwrap();
    assert_eq!(sql(&lake, RATES).await, before.1);
}

/// Replaces the rows of `pincodes` by a single one, as a program with other built-in data would have written it.
async fn as_another_program_wrote_it(storage: &Storage) {
    let column = |name: &str, text: &str| {
        (
            name.to_owned(),
            Arc::new(StringArray::from(vec![text])) as ArrayRef,
            false,
        )
    };
    let columns = ["pincode", "area", "state", "state_code", "district", "kind"].map(|name| column(name, "799001"));
    let rows = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    let table = storage.child("pincodes");
    let log = |version: u8| ObjectPath::from(format!("_delta_log/{version:020}.json"));
    let first = table.store().get(&log(0)).await.unwrap().bytes().await.unwrap();
    let actions = first
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok());
    let added = actions.filter_map(|action: serde_json::Value| action["add"]["path"].as_str().map(str::to_owned));
    let removed = added.map(|path| serde_json::json!({ "remove": { "path": path, "dataChange": true } }).to_string());
    let add = serde_json::json!({ "add": { "path": "other.parquet", "partitionValues": {}, "size": bytes.len(),
        "modificationTime": 0, "dataChange": true } });
    let entry = removed.chain([add.to_string()]).collect::<Vec<_>>().join("\n");
    table
        .store()
        .put(&ObjectPath::from("other.parquet"), bytes.into())
        .await
        .unwrap();
    table.store().put(&log(1), entry.into()).await.unwrap();
}

#[tokio::test]
async fn a_compaction_replaces_built_in_rows_of_another_program_once() {
    const COUNT: &str = "SELECT count(*) FROM pincodes";
    let (storage, clock) = (Storage::memory(), midnight());
    let own = sql(&open(&storage, &clock).await, COUNT).await;
    as_another_program_wrote_it(&storage).await;
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    let others = sql(&lake, COUNT).await;
    assert!(others.contains("| 1 "), "{others}");
    lake.compact(true).await.unwrap();
    assert_eq!(sql(&lake, COUNT).await, others);
    lake.compact(false).await.unwrap();
    assert_eq!(sql(&lake, COUNT).await, own);
    let before = lake.snapshot().await.unwrap().versions().clone();
    lake.compact(false).await.unwrap();
    assert_eq!(lake.snapshot().await.unwrap().versions(), &before);
}
