//! Tests of statements that need too many resources. Each must get a result or an error that explains what to change,
//! and memory must stay within its limit.

use std::path::Path;
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::ipc::reader::StreamReader;
use nix::sys::resource::{UsageWho, getrusage};
use sql::{Format, Question, SqlConfig, SqlEngine, SqlError};

use crate::market::{PRODUCTS, engine};

fn question(statement: &str) -> Question {
    Question {
        statement: statement.to_owned(),
        as_of: None,
    }
}

/// Runs a statement and returns all rows of its answer.
pub(crate) async fn rows(engine: &SqlEngine, statement: &str, timeout_ms: u64) -> Result<Vec<RecordBatch>, SqlError> {
    let mut answer = engine.query(question(statement), Format::Arrow, timeout_ms).await?;
    let mut bytes = Vec::new();
    while let Some(more) = answer.next().await? {
        bytes.extend(more);
    }
    let batches = StreamReader::try_new(bytes.as_slice(), None).unwrap();
    Ok(batches.map(Result::unwrap).collect())
}

pub(crate) async fn outcome(engine: &SqlEngine, statement: &str) -> String {
    outcome_within(engine, statement, u64::MAX).await
}

pub(crate) async fn outcome_within(engine: &SqlEngine, statement: &str, timeout_ms: u64) -> String {
    match rows(engine, statement, timeout_ms).await {
        Ok(batches) => format!("{} rows", batches.iter().map(RecordBatch::num_rows).sum::<usize>()),
        Err(error) => error.reason().to_owned(),
    }
}

/// Returns the time limit of a statement. The limit is generous unless a timeout is expected, because workers have the
/// lowest priority.
fn patience_ms(expected: &[&str]) -> u64 {
    if expected.contains(&"time") { 1_500 } else { 120_000 }
}

pub(crate) fn tight() -> SqlConfig {
    SqlConfig {
        memory_bytes_max: 64 << 20,
        spill_bytes_max: 64 << 20,
        timeout_ms: 120_000,
        rows_max: 200_000,
        answer_bytes_max: 128 << 20,
        ..SqlConfig::default()
    }
}

/// Returns the maximum memory of any ended worker in bytes, including the pages of the program.
fn peak_bytes() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() * 1024
}

const WILD: &[(&str, &[&str])] = &[
    (
        "select sum(a.product_id % (b.product_id + c.price_minor + 1)) from products a, products b, products c",
        &["time"],
    ),
    ("select a.title from products a cross join products b", &["rows"]),
    (
        "select a.title, b.title t from products a cross join products b order by b.title, a.title",
        &["time", "disk", "memory"],
    ),
    (
        "with recursive n as (select 1 i union all select i + 1 from n) select count(*) from n",
        &["time"],
    ),
    (
        "with recursive n as (select title from products union all select title from n) select max(title) from n",
        &["time", "memory"],
    ),
    ("select count(*) from generate_series(1, 1000000000000)", &["time"]),
    ("select generate_series(1, 1000000000000)", &["invalid"]),
    (
        "select range(0, product_id * 100000) from products",
        &["invalid", "memory"],
    ),
    ("select repeat('x', 2000000000)", &["memory"]),
    ("select repeat(title, 1000000) from products", &["memory"]),
    ("select lpad(title, 2147483647) from products", &["memory"]),
    (
        "select replace(repeat('a', 100000), 'a', repeat('b', 100000))",
        &["memory"],
    ),
    ("select array_repeat(title, 100000000) from products", &["invalid"]),
    (
        "select array_agg(a.title) from products a cross join generate_series(1, 1000)",
        &["memory", "time"],
    ),
    (
        "select string_agg(a.title, ',') from products a cross join generate_series(1, 1000)",
        &["memory", "time", "invalid"],
    ),
    (
        "select count(distinct a.product_id * b.product_id) from products a, products b",
        &["memory", "time", "disk"],
    ),
    (
        "select count(*) from products where regexp_like(title, '(a+)+$')",
        &["1 rows"],
    ),
    (
        "select count(*) from products where regexp_like(title, '((a{1000}){1000}){1000}')",
        &["invalid"],
    ),
    ("select * from products order by title, price_minor", &["100000 rows"]),
    (
        "select a.title from products a join products b on a.price_minor = b.price_minor",
        &["rows", "time"],
    ),
    (
        "select count(*) from products where title like '%a%a%a%a%a%a%a%a%a%a%b'",
        &["1 rows"],
    ),
    (
        "select levenshtein(repeat(title, 100), repeat(title, 100)) from products",
        &["time"],
    ),
    (
        "select array_has_any(range(0, product_id), range(product_id, 2 * product_id)) from products \
         where product_id = 99999",
        &["time", "1 rows"],
    ),
    (
        "select btrim(repeat(title, 100), repeat(title, 100)) from products",
        &["time", "100000 rows"],
    ),
    (
        "select sum(levenshtein(title, 'linen shirt')) from products",
        &["1 rows"],
    ),
    (
        "select array_to_string(range(0, 1000000), repeat('x', 1000000))",
        &["memory"],
    ),
    (
        "select array_to_string(range(0, product_id), title) from products",
        &["memory"],
    ),
    (
        "select array_replace_all(range(0, 2000), 7, 8)[8] from products limit 1",
        &["1 rows"],
    ),
    (
        "select to_char(timestamp '2026-01-01', repeat('%c', product_id)) from products",
        &["memory"],
    ),
    (
        "select count(*) from products group by cube(product_id % 2, product_id % 3, product_id % 4, product_id % 5, \
         product_id % 6, product_id % 7, product_id % 8)",
        &["time", "memory", "20928 rows"],
    ),
    (
        "select count(*) from products group by rollup(product_id % 2, product_id % 3, product_id % 5), \
         rollup(product_id % 7, product_id % 8, product_id % 9), cube(product_id % 4, product_id % 6, product_id % 10)",
        &["time", "memory", "79480 rows"],
    ),
    (
        "select count(*) from products group by cube(product_id % 2, product_id % 3)",
        &["12 rows"],
    ),
    (
        "select count(*) from products group by cube(product_id, product_id + 1, product_id + 2, product_id + 3, title, \
         product_id + 4, product_id + 5, product_id + 6, product_id + 7, price_minor, product_id + 8, product_id + 9, \
         product_id + 10, product_id + 11, product_id + 12)",
        &["memory", "time"],
    ),
    (
        "select string_agg(title, repeat(' ', 100000)) from products",
        &["memory"],
    ),
    ("select * from '/etc/passwd'", &["invalid"]),
    ("select * from read_csv('/etc/passwd')", &["invalid"]),
    ("copy products to '/tmp/products.csv'", &["refused"]),
    (
        "create external table a stored as csv location '/etc/passwd'",
        &["refused"],
    ),
    ("set datafusion.runtime.memory_limit = '100G'", &["refused"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn each_wild_statement_is_answered_or_told_what_to_change_and_memory_is_bounded() {
    let engine = engine(&tight());
    for (statement, expected) in WILD {
        let outcome = outcome_within(&engine, statement, patience_ms(expected)).await;
        assert!(expected.contains(&outcome.as_str()), "{statement}: {outcome}");
    }
    assert!(peak_bytes() < 512 << 20, "{} bytes", peak_bytes());
}

type Outcomes = &'static [&'static str];

fn joined(count: usize, joint: &str, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(joint)
}

/// Returns a chain of named queries, each of which reads the previous one.
fn in_turn(count: usize, first: &str, next: impl Fn(usize) -> String) -> String {
    let named = joined(count, ", ", |at| format!("t{} as ({})", at + 1, next(at)));
    format!("with t0 as ({first}), {named}")
}

fn nested(count: usize, inner: &str, around: impl Fn(String) -> String) -> String {
    (0..count).fold(inner.to_owned(), |statement, _| around(statement))
}

/// Returns statements with deep nesting, or with named queries that read the previous name twice.
fn deep() -> Vec<(String, Outcomes)> {
    let products = "select product_id i from products";
    vec![
        (
            in_turn(40, products, |at| format!("select a.i from t{at} a, t{at} b")) + " select count(*) from t40",
            &["refused"],
        ),
        (
            in_turn(40, products, |at| format!("select i + i i from t{at}")) + " select i from t40 where i > 5",
            &["memory", "time"],
        ),
        (
            nested(40, products, |inner| {
                format!("select case when i > 1 then i else -i end i from ({inner})")
            }) + " where i > 5",
            &["memory", "time", "invalid"],
        ),
        (
            in_turn(300, "select 1 i", |at| format!("select i + 1 i from t{at}")) + " select i from t300",
            &["1 rows", "time", "refused"],
        ),
        (
            format!("select {}1{}", "(".repeat(1_500), ")".repeat(1_500)),
            &["invalid", "1 rows"],
        ),
        (format!("select {}1", "- ".repeat(3_000)), &["invalid", "1 rows"]),
        (
            nested(200, "select 1 i", |inner| format!("select i from ({inner}) t")),
            &["invalid", "refused", "time", "1 rows"],
        ),
        (
            nested(30, "select 1", |inner| {
                format!("select max(product_id) from products where product_id > ({inner})")
            }),
            &["invalid", "time", "refused", "1 rows"],
        ),
    ]
}

/// Returns statements that hide how often a named query is read, by quoting and by nested named queries.
fn hidden() -> Vec<(String, Outcomes)> {
    let quoted = |at: usize| format!("`t{}` as (select a.i from `t{at}` a, `t{at}` b)", at + 1);
    let within = |at: usize| {
        let inner = format!("with u as (select i from t{at}) select x.i from u x, u y");
        format!("t{} as ({inner})", at + 1)
    };
    vec![
        (
            format!(
                "with `t0` as (select 1 i), {} select * from `t40`",
                joined(40, ", ", quoted)
            ),
            &["refused"],
        ),
        (
            format!(
                "with t0 as (select 1 i), {} select * from t40",
                joined(40, ", ", within)
            ),
            &["refused"],
        ),
    ]
}

/// Returns statements whose calls need little memory alone but too much together.
fn gathered() -> Vec<(String, Outcomes)> {
    let titles = joined(3_000, ", ", |_| "title".to_owned());
    let texts = joined(5_000, ", ", |_| "''".to_owned());
    let copies = joined(40, ", ", |at| format!("repeat(title, 500) c{at}"));
    let letters = nested(24, "title", |inner| format!("encode({inner}, 'hex')"));
    vec![
        (format!("select [{titles}] from products"), &["memory"]),
        (format!("select make_array({titles}) from products"), &["memory"]),
        (format!("select concat_ws(repeat('x', 100000), {texts})"), &["memory"]),
        (format!("select {copies} from products"), &["memory", "rows"]),
        (format!("select {letters} from products"), &["memory"]),
        (
            "select [title, title], array_to_string([title, 'a'], '-') from products limit 3".to_owned(),
            &["3 rows"],
        ),
    ]
}

/// Returns statements with as many parallel expressions, tables or groups as the limits allow.
fn broad() -> Vec<(String, Outcomes)> {
    let ids = joined(10_000, ",", |at| at.to_string());
    let like = joined(500, " or ", |at| format!("title like '%a%{at}%'"));
    let columns = joined(900, ", ", |at| format!("product_id + {at} c{at}"));
    let tables = joined(60, ", ", |at| format!("products p{at}"));
    let groups = joined(40, ", ", |at| format!("product_id % {}", at + 2));
    vec![
        (
            format!("select count(*) from products where product_id in ({ids})"),
            &["1 rows"],
        ),
        (
            format!("select count(*) from products where {like}"),
            &["1 rows", "time"],
        ),
        (
            format!("select {columns} from products"),
            &["100000 rows", "memory", "rows", "time"],
        ),
        (format!("select count(*) from {tables}"), &["time", "memory"]),
        (
            format!("select count(*) from products group by cube({groups})"),
            &["invalid", "refused", "time", "memory"],
        ),
        (
            joined(300, " union ", |at| format!("select {at}")),
            &["300 rows", "time", "refused", "invalid"],
        ),
    ]
}

/// Statements with large values that are repeated for many rows, or with windows over all rows.
const LARGE: [(&str, Outcomes); 12] = [
    ("select repeat('x', 3000000) from products", &["invalid"]),
    ("select title || repeat('x', 3000000) from products", &["invalid"]),
    ("select range(0, 1000000), title from products", &["memory"]),
    ("select unnest(range(0, 1000000)) from products", &["memory"]),
    (
        "select (select string_agg(title, '') from products), title from products",
        &["memory"],
    ),
    (
        "select b.t from products a, (select string_agg(title, '') t from products) b",
        &["memory", "rows"],
    ),
    ("select array_agg(title) over () from products", &["memory"]),
    (
        "select string_agg(title, ',') over (order by product_id) from products",
        &["memory"],
    ),
    (
        "select first_value(t) over () from (select title || repeat('x', 20000) t from products)",
        &["memory"],
    ),
    (
        "select sum(product_id) over (order by title), rank() over (partition by price_minor order by title) from products",
        &["100000 rows", "time"],
    ),
    (
        "select count(*) over (), sum(price_minor) over (order by title rows between unbounded preceding and unbounded \
         following), * from products",
        &["100000 rows", "time", "memory"],
    ),
    (
        "with recursive n as (select title t from products limit 1 union all select t || t from n) select max(length(t)) \
         from n",
        &["memory", "time", "invalid"],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_are_hard_to_plan_or_make_few_large_values_end_in_time_and_within_memory() {
    let engine = engine(&tight());
    let large = LARGE.map(|(statement, expected)| (statement.to_owned(), expected));
    let all = deep()
        .into_iter()
        .chain(hidden())
        .chain(gathered())
        .chain(broad())
        .chain(large);
    for (statement, expected) in all {
        let (begun, patience_ms) = (std::time::Instant::now(), patience_ms(expected));
        let outcome = outcome_within(&engine, &statement, patience_ms).await;
        let shown: String = statement.chars().take(120).collect();
        assert!(expected.contains(&outcome.as_str()), "{shown}: {outcome}");
        assert!(
            begun.elapsed() < Duration::from_millis(patience_ms) + Duration::from_secs(60),
            "{shown}: {:?}",
            begun.elapsed()
        );
    }
    assert!(peak_bytes() < 512 << 20, "{} bytes", peak_bytes());
    assert_eq!(outcome(&engine, "select count(*) from products").await, "1 rows");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_at_once_some_run_some_wait_and_the_others_are_told_to_come_back() {
    let config = SqlConfig {
        wait_ms: 60_000,
        waiting_max: 8,
        ..tight()
    };
    let engine = engine(&config);
    let wild = "select sum(a.product_id % (b.product_id + c.price_minor + 1)) from products a, products b, products c";
    let all = futures::future::join_all((0..100).map(|_| outcome_within(&engine, wild, 3_000))).await;
    let count = |wanted: &str| all.iter().filter(|outcome| *outcome == wanted).count();
    assert_eq!(count("time") + count("busy"), 100, "{all:?}");
    assert!(count("time") >= 2 && count("busy") >= 90, "{all:?}");
    assert_eq!(outcome(&engine, "select count(*) from products").await, "1 rows");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sort_larger_than_memory_is_answered_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let config = SqlConfig {
        memory_bytes_max: 48 << 20,
        concurrency_max: 1,
        spill: folder.path().display().to_string(),
        timeout_ms: 600_000,
        ..SqlConfig::default()
    };
    let engine = engine(&config);
    let sorted = "select max(n) from (select row_number() over (order by title, i) n from products cross join \
                  generate_series(1, 10) g(i))";
    let batches = rows(&engine, sorted, u64::MAX).await.unwrap();
    let most = datafusion::arrow::util::display::array_value_to_string(batches[0].column(0), 0).unwrap();
    assert_eq!(most, (PRODUCTS * 10).to_string());
}

/// Counts the files below a folder.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let count = |entry: std::fs::DirEntry| match entry.path() {
        path if path.is_dir() => files(&path),
        _ => 1,
    };
    entries.map(count).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_nobody_waits_for_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = SqlConfig {
        memory_bytes_max: 48 << 20,
        concurrency_max: 1,
        spill: folder.path().display().to_string(),
        timeout_ms: 600_000,
        wait_ms: 60_000,
        ..SqlConfig::default()
    };
    let engine = engine(&config);
    let sorted = "select max(n) from (select row_number() over (order by title, i) n from products cross join \
                  generate_series(1, 1000) g(i))";
    let mut answer = engine.query(question(sorted), Format::Csv, u64::MAX).await.unwrap();
    let ended = tokio::select! {
        told = answer.next() => told.unwrap_err().reason().to_owned(),
        () = async { while files(folder.path()) == 0 { tokio::task::yield_now().await } } => "it has written".to_owned(),
    };
    assert_eq!(ended, "it has written");
    drop(answer);
    assert_eq!(outcome(&engine, "select 1").await, "1 rows");
    assert_eq!(files(folder.path()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_ends_when_nobody_waits_for_it() {
    let config = SqlConfig {
        concurrency_max: 1,
        timeout_ms: 600_000,
        wait_ms: 60_000,
        ..tight()
    };
    let engine = engine(&config);
    let answer = engine
        .query(
            question(
                "select sum(a.product_id % (b.product_id + c.price_minor + 1)) from products a, products b, products c",
            ),
            Format::Arrow,
            u64::MAX,
        )
        .await
        .unwrap();
    drop(answer);
    // The only worker is free again long before the first statement would have ended.
    assert_eq!(outcome(&engine, "select 1").await, "1 rows");
}
