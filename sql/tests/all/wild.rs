//! Statements that ask for too much: each gets an answer or an error that says what to change, and memory stays bounded.

use std::time::Duration;

use futures::StreamExt;
use sql::{Question, SqlConfig, SqlEngine, SqlError};

use crate::market::{PRODUCTS, engine};

fn question(statement: &str) -> Question {
    Question {
        statement: statement.to_owned(),
        as_of: None,
    }
}

/// Reads an answer to its end: how many rows it has, or why it has no end.
async fn asked(engine: &SqlEngine, statement: &str) -> Result<usize, SqlError> {
    let mut answer = engine.query(question(statement), u64::MAX).await?;
    let mut rows = 0;
    while let Some(batch) = answer.next().await {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

async fn outcome(engine: &SqlEngine, statement: &str) -> String {
    match asked(engine, statement).await {
        Ok(rows) => format!("{rows} rows"),
        Err(error) => error.reason().to_owned(),
    }
}

fn tight() -> SqlConfig {
    SqlConfig {
        memory_bytes_max: 64 << 20,
        spill_bytes_max: 64 << 20,
        timeout_ms: 1_500,
        rows_max: 200_000,
        ..SqlConfig::default()
    }
}

/// Bytes of memory that this process has, mapped files left out.
fn memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib * 1024)
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
    ("select generate_series(1, 1000000000000)", &["memory"]),
    ("select range(0, product_id * 100000) from products", &["memory"]),
    ("select repeat('x', 2000000000)", &["memory"]),
    ("select repeat(title, 1000000) from products", &["memory"]),
    ("select lpad(title, 2147483647) from products", &["memory"]),
    (
        "select replace(repeat('a', 100000), 'a', repeat('b', 100000))",
        &["memory"],
    ),
    ("select array_repeat(title, 100000000) from products", &["memory"]),
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
    let (bounds, engine) = engine(&tight()).await;
    let before = memory_bytes();
    let mut most = 0;
    for (statement, expected) in WILD {
        let outcome = outcome(&engine, statement).await;
        assert!(expected.contains(&outcome.as_str()), "{statement}: {outcome}");
        most = most.max(memory_bytes().unwrap_or(0));
    }
    // What the engine does not count is bounded by the size of a batch: a few times the pool at most.
    if let Some(before) = before {
        assert!(
            most.saturating_sub(before) < 768 << 20,
            "{before} bytes before, {most} at most"
        );
    }
    drop(engine);
    for _ in 0..200 {
        if bounds.memory_bytes() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} bytes are held by statements that have ended", bounds.memory_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_at_once_some_run_some_wait_and_the_others_are_told_to_come_back() {
    let config = SqlConfig {
        timeout_ms: 300,
        wait_ms: 500,
        waiting_max: 8,
        ..tight()
    };
    let (_bounds, engine) = engine(&config).await;
    let wild = "select sum(a.product_id % (b.product_id + c.price_minor + 1)) from products a, products b, products c";
    let all = futures::future::join_all((0..100).map(|_| outcome(&engine, wild))).await;
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
        spill: folder.path().display().to_string(),
        timeout_ms: 120_000,
        ..SqlConfig::default()
    };
    let (bounds, engine) = engine(&config).await;
    let sorted = "select max(n) from (select row_number() over (order by title, i) n from products cross join \
                  generate_series(1, 10) g(i))";
    let mut answer = engine.query(question(sorted), u64::MAX).await.unwrap();
    let batch = answer.next().await.unwrap().unwrap();
    let most = datafusion::arrow::util::display::array_value_to_string(batch.column(0), 0).unwrap();
    assert_eq!(most, (PRODUCTS * 10).to_string());
    drop((answer, bounds));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_ends_when_nobody_waits_for_it() {
    let config = SqlConfig {
        concurrency_max: 1,
        timeout_ms: 600_000,
        wait_ms: 60_000,
        ..tight()
    };
    let (_bounds, engine) = engine(&config).await;
    let answer = engine
        .query(
            question(
                "select sum(a.product_id % (b.product_id + c.price_minor + 1)) from products a, products b, products c",
            ),
            u64::MAX,
        )
        .await
        .unwrap();
    drop(answer);
    // The only place is free again, long before the first statement would have ended.
    assert_eq!(outcome(&engine, "select 1").await, "1 rows");
}
