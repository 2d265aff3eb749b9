//! Tests of functions and syntax that DuckDB users know.

use datafusion::arrow::util::pretty::pretty_format_batches;
use serde_json::{Value, json};
use sql::SqlConfig;

use crate::door::{server, told};
use crate::market::engine;
use crate::wild::rows;

const ROWS: &str = "(values (1, 'a', 10, timestamp '2026-01-31 23:30:00'), (2, 'b', 30, timestamp '2026-03-01 08:15:00'), \
                    (3, 'b', 20, timestamp '2026-03-02 09:00:00'), (4, null, null, timestamp '2025-12-31 00:00:00')) \
                    as t (id, kind, price, moment)";

/// Expressions and the results of DuckDB 2.0 over the same rows.
const ANSWERS: &[(&str, &str)] = &[
    ("max_by(kind, price)", "b"),
    ("arg_max(id, price)", "2"),
    ("min_by(id, price)", "1"),
    ("arg_min(kind, price)", "a"),
    ("mode(kind)", "b"),
    ("mode(price)", "10"),
    ("count_if(price > 15)", "2"),
    ("cast(quantile_cont(price, 0.5) as bigint)", "20"),
    ("year(max(moment))", "2026"),
    ("quarter(max(moment))", "1"),
    ("month(max(moment))", "3"),
    ("week(max(moment))", "10"),
    ("dayofweek(max(moment))", "1"),
    ("dayofyear(max(moment))", "61"),
    ("hour(min(moment))", "0"),
    ("cast(epoch(max(moment)) as bigint)", "1772442000"),
    ("date_diff('day', min(moment), max(moment))", "61"),
    ("date_diff('hour', min(moment), max(moment))", "1473"),
    ("date_diff('month', min(moment), max(moment))", "3"),
    ("datediff('quarter', min(moment), max(moment))", "1"),
    ("date_diff('year', min(moment), max(moment))", "1"),
    ("strftime(max(moment), '%Y-%m')", "2026-03"),
    ("regexp_extract('500 g pack', '[0-9]+')", "500"),
    ("regexp_extract('500 g pack', '([0-9]+) (g)', 2)", "g"),
    ("regexp_matches('abc', 'b')", "true"),
    ("if(count(*) > 3, 'many', 'few')", "many"),
    ("ifnull(max(kind), 'x')", "b"),
    (
        "cast(strptime('2026-11-29 10:00', '%Y-%m-%d %H:%M') as date)",
        "2026-11-29",
    ),
    ("array_length(list(kind))", "4"),
    ("MAX_BY(kind, price)", "b"),
    ("max_by(regexp_extract(kind, '[a-z]'), year(moment) + price)", "b"),
];

#[tokio::test]
async fn functions_of_duckdb_answer_what_they_do_there() {
    let server = server(None).await;
    for (expression, answer) in ANSWERS {
        let told = told(
            &server,
            &format!("select cast({expression} as varchar) v from {ROWS} limit 1"),
        )
        .await;
        let (status, document) = told.split_once(' ').unwrap();
        let document: Value = serde_json::from_str(document).unwrap();
        assert_eq!(
            (status, &document["data"]),
            ("200", &json!([{ "v": answer }])),
            "{expression}: {document}"
        );
    }
}

/// The query uses several threads, whose counts must be merged.
#[tokio::test]
async fn the_most_frequent_value_is_told_of_each_group() {
    let config = SqlConfig {
        threads: 3,
        ..SqlConfig::default()
    };
    let engine = engine(&config);
    let statement = "select product_id % 2 odd, mode(length(title)) v, mode(price_minor / 100) p from products group by 1 order by 1";
    let batches = rows(&engine, statement, 120_000).await.unwrap();
    insta::assert_snapshot!(pretty_format_batches(&batches).unwrap(), @r"
    +-----+----+---+
    | odd | v  | p |
    +-----+----+---+
    | 0   | 42 | 0 |
    | 1   | 42 | 1 |
    +-----+----+---+
    ");
}

#[tokio::test]
async fn a_statement_that_begins_with_its_table_has_all_columns_of_it() {
    let server = server(None).await;
    let first = told(&server, "from products limit 1").await;
    assert_eq!(first, told(&server, "select * from products limit 1").await);
    assert_eq!(
        told(&server, "from products select product_id limit 1").await,
        told(&server, "select product_id from products limit 1").await
    );
}
