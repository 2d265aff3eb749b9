//! Tests that Ballista, a third-party distributed query engine, reads exactly the state that `haat lake files` lists.
//! Ballista runs as in docs/scale.md, started by deploy/ballista/run.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};

use serde_json::Value;

use crate::deploy::root;
use crate::lake_files::run_blocks;
use crate::support::{Haat, has_program};

/// Returns the first of enough consecutive free ports for a cluster. The ports are below the system's ephemeral ports,
/// because the cluster binds them some seconds later, while other tests connect.
fn free_ports() -> u16 {
    const PORTS: u16 = 7;
    // No block is returned twice, because another test's cluster may be about to bind it.
    static BLOCKS: AtomicU16 = AtomicU16::new(0);
    let block = u16::try_from(std::process::id() % 1_000).unwrap() + 100 * BLOCKS.fetch_add(1, Ordering::Relaxed);
    let begin = 20_000 + block % 1_600 * PORTS;
    for first in (begin..begin + 100 * PORTS).step_by(usize::from(PORTS)) {
        let bound = (first..first.saturating_add(PORTS)).map(|port| TcpListener::bind(("127.0.0.1", port)));
        if bound.collect::<Result<Vec<_>, _>>().is_ok() {
            return first;
        }
    }
    panic!("there are no {PORTS} free ports in a row");
}

pub(crate) fn has_ballista() -> bool {
    let programs = ["ballista-scheduler", "ballista-executor", "ballista-cli"];
    programs.iter().all(|program| has_program(program, &["--version"]))
}

/// Returns Ballista's results of statements over the files in a folder.
pub(crate) fn answers(folder: &Path, statements: &[String]) -> Vec<Value> {
    let asked = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..statements.len())
        .map(|at| asked.path().join(format!("{at:02}.sql")))
        .collect();
    for (file, statement) in files.iter().zip(statements) {
        std::fs::write(file, statement).unwrap();
    }
    let output = Command::new(root().join("deploy/ballista/run"))
        .arg("ask")
        .arg(folder)
        .args(&files)
        .env("BALLISTA_PORT", free_ports().to_string())
        .output()
        .unwrap();
    let (printed, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{printed}\n{told}");
    printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Normalises rows that two engines write differently. Null values may be missing, and sums of floats differ in their
/// last digits with the order of the summands.
fn plain(rows: &Value) -> Vec<Vec<(String, String)>> {
    let text = |value: &Value| match value.as_f64().filter(|_| value.is_f64()) {
        Some(float) => format!("{float:.6e}"),
        None => value.to_string(),
    };
    let row = |row: &Value| {
        let columns = row.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
        let mut columns: Vec<_> = columns.map(|(name, value)| (name.clone(), text(value))).collect();
        columns.sort();
        columns
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

/// Asserts that Ballista and `haat sql` give equal results for the same statements on one state of the lake. The order
/// of rows counts only if `is_ordered`.
pub(crate) fn answers_alike(haat: &Haat, statements: &[String], is_ordered: bool) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("snapshot");
    haat.run(&["lake", "files", "--to", to.to_str().unwrap()]).json();
    let expected: Vec<Value> = statements
        .iter()
        .map(|statement| haat.run(&["sql", statement, "--limit", "1000000"]).json())
        .collect();
    let found = answers(&to, statements);
    assert_eq!(found.len(), statements.len());
    for ((statement, one), other) in statements.iter().zip(&expected).zip(&found) {
        let (mut one, mut other) = (plain(one), plain(other));
        if !is_ordered {
            one.sort();
            other.sort();
        }
        assert_eq!(one, other, "{statement}");
    }
}

/// Sorts, joins, windows and groups over every kind of table: by bucket, by month, by event, with lists, and empty.
const STATEMENTS: [&str; 9] = [
    "select brand_slug, count(*) as products, sum(price_min_minor) as minor, avg(discount_pct) as pct from products group by 1 order by 1",
    "select event, count(*) as changes, count(distinct product_id) as products from product_history group by 1 order by 1",
    "select h.month, p.brand_slug, h.event, count(*) as changes, min(h.price_minor) as low from price_history h join products p on p.product_id = h.product_id group by 1, 2, 3 order by 1, 2, 3",
    "with ranked as (select product_id, title, price_min_minor, row_number() over (partition by store order by price_min_minor desc, product_id) as nth from products) select product_id, title, price_min_minor from ranked where nth <= 3 order by product_id",
    "select t.tag, count(*) as products from (select unnest(tags) as tag from products) t group by 1 order by 2 desc, 1 limit 10",
    "select a['name'] as name, count(*) as products from (select unnest(attributes) as a from products) group by 1 order by 1",
    "with chosen as (select product_id, title from products order by price_min_minor desc, product_id limit 1) select c.title, h.variant_id, h.observed_at, h.price_minor from chosen c join price_history h on h.product_id = c.product_id order by h.variant_id, h.observed_at, h.tick",
    "select count(*) as zones, max(days_max) as days from delivery_zones",
    "select date_trunc('day', observed_at) as day, source, count(*) as changes from price_history where available group by 1, 2 order by 1, 2",
];

#[test]
fn two_executors_answer_as_one_process_does() {
    if !has_ballista() {
        return;
    }
    // The lake has several states, so the tables' folders still contain older files.
    let haat = Haat::new();
    let small = ["--products", "150", "--stores", "4", "--listen", "127.0.0.1:0"];
    let (_demo, _) = haat.serve(&[&["demo", "--days", "5"], &small[..]].concat());
    answers_alike(&haat, &STATEMENTS.map(str::to_owned), true);
    let folder = tempfile::tempdir().unwrap();
    let port = [("BALLISTA_PORT", free_ports().to_string())];
    let run = run_blocks("docs/scale.md", "tests/cli/ballista.rs", (&haat, folder.path()), &port);
    assert_eq!(run, 1);
}
