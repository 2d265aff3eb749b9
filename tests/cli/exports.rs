//! Tests of rows from `haat sql` as CSV, Parquet and JSON, on standard output and in files.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::documents::{Mark, document, path, printed};
use crate::support::{Haat, has_program};

const HERE: &str = "tests/cli/exports.rs";
const ANALYSTS: &str = "docs/analysts.md";

/// Script that reads a Parquet file with pyarrow and with DuckDB.
const READERS: &str = r#"
import json, sys, duckdb, pyarrow.parquet
path = sys.argv[1]
table = pyarrow.parquet.read_table(path)
comments = {field.name: (field.metadata or {}).get(b"comment", b"").decode() for field in table.schema}
rows = duckdb.sql(f"select count(*), count(distinct product_id), sum(price_min_minor), sum(len(tags)) from '{path}'").fetchall()[0]
types = dict(duckdb.sql(f"select column_name, column_type from (describe select * from '{path}')").fetchall())
print(json.dumps({
    "pyarrow": [table.num_rows, len(set(table["product_id"].to_pylist())), sum(table["price_min_minor"].to_pylist()), sum(len(tags) for tags in table["tags"].to_pylist())],
    "duckdb": [int(one) for one in rows], "types": types, "comment": comments["price_min_minor"],
    "codec": pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(0).compression,
}))
"#;

fn read(path: &Path) -> Value {
    let output = Command::new("python3")
        .args(["-c", READERS])
        .arg(path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn rows_of_the_lake_an_earlier_moment_and_the_release_reach_files_that_others_read() {
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "90", "--stores", "3", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let desk = Desk::new();
    let all = "select * from products";
    let counts =
        "select count(*), count(distinct product_id), sum(price_min_minor), sum(cardinality(tags)) from products";
    let now = haat.sql("select cast(max(committed_at) as varchar) as moment from crawl_runs")[0]["moment"].clone();
    let now = format!("{}Z", now.as_str().unwrap().trim_end_matches('Z'));
    for (name, which) in [
        ("lake.parquet", [].as_slice()),
        ("then.parquet", &["--as-of", &now]),
        ("release.parquet", &["--release"]),
    ] {
        let told = haat
            .run(&[&["sql", all, "--out", &desk.file(name)], which].concat())
            .json();
        assert_eq!(
            (&told["rows"], &told["format"]),
            (&json!(90), &json!("parquet")),
            "{told}"
        );
        if !has_program("python3", &["-c", "import duckdb, pyarrow"]) {
            return;
        }
        let read = read(Path::new(&desk.file(name)));
        let expected = haat.run(&[&["sql", counts], which].concat()).json();
        let expected: Vec<_> = expected[0].as_object().unwrap().values().cloned().collect();
        for reader in ["pyarrow", "duckdb"] {
            let mut read: Vec<_> = read[reader].as_array().unwrap().clone();
            let mut expected = expected.clone();
            read.sort_by_key(ToString::to_string);
            expected.sort_by_key(ToString::to_string);
            assert_eq!(read, expected, "{name} {reader}");
        }
        assert_eq!(read["codec"], "ZSTD");
        assert_eq!(read["types"]["tags"], "VARCHAR[]");
        if which != ["--release"] {
            assert!(read["comment"].as_str().unwrap().contains("minor units"), "{read}");
            assert_eq!(read["types"]["created_at"], "TIMESTAMP WITH TIME ZONE");
        }
    }
    assert_eq!(
        names(desk.0.path()),
        ["lake.parquet", "release.parquet", "then.parquet"]
    );
}

#[test]
fn what_analysts_are_told_of_files_leaves_them() {
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "30", "--stores", "2", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let desk = Desk::new();
    let blocks = document(ANALYSTS).blocks().into_iter();
    let mut here = blocks.filter(|block| matches!(&block.mark, Some(Mark::RunBy(file)) if file == HERE));
    let block = here.next().unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-eu", "-o", "pipefail", "-c", &block.text])
        .current_dir(desk.0.path());
    let told = printed(&block.at, bash.env("PATH", path(None)).env("HAAT_HOME", haat.path()));
    assert!(told.contains("30 rows in products.csv"), "{told}");
    assert_eq!(
        names(desk.0.path()),
        ["price_history.parquet", "products.csv", "released.parquet"]
    );
    assert!(desk.read("products.csv").starts_with("brand_slug,title,tags\n"));
}

/// Folder for files.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }
}

#[test]
fn csv_and_json_are_written_to_standard_output_or_to_a_file_alike() {
    let (haat, desk) = (Haat::new(), Desk::new());
    let rows = "select * from (values (1, 'a,b'), (2, null)) t(n, word) order by 1";
    let csv = "n,word\n1,\"a,b\"\n2,\n";
    assert_eq!(haat.told(&["sql", rows, "--format", "csv"]), csv);
    let first = haat.told(&["sql", rows, "--format", "csv", "--limit", "1"]);
    assert_eq!(first, "n,word\n1,\"a,b\"\n");
    assert_eq!(
        haat.told(&["sql", rows, "--format", "json"]),
        haat.run(&["sql", rows]).stdout
    );
    let told = haat.told(&["sql", rows, "--out", &desk.file("rows.csv")]);
    assert_eq!(told, format!("2 rows in {}\n", desk.file("rows.csv")));
    assert_eq!(desk.read("rows.csv"), csv);
    haat.told(&["sql", rows, "--out", &desk.file("rows.txt"), "--format", "json"]);
    let read: Value = serde_json::from_str(&desk.read("rows.txt")).unwrap();
    assert_eq!(read, json!([{"n": 1, "word": "a,b"}, {"n": 2, "word": null}]));
    // The result has more rows than a batch, and the file must have every row.
    let many = "select value from generate_series(1, 300000)";
    haat.told(&["sql", many, "--out", &desk.file("many.csv")]);
    let text = desk.read("many.csv");
    assert_eq!((text.lines().count(), text.lines().last()), (300_001, Some("300000")));
    // The output is a pipe.
    let output = haat.plain(&["sql", many, "--format", "parquet"]).output().unwrap();
    assert!(output.stdout.starts_with(b"PAR1") && output.stdout.ends_with(b"PAR1"));
}

#[test]
fn a_file_that_is_there_is_kept_and_a_statement_that_fails_leaves_none() {
    let (haat, desk) = (Haat::new(), Desk::new());
    let (one, other) = (desk.file("one.csv"), |name: &str| desk.file(name));
    haat.told(&["sql", "select 1 as one", "--out", &one]);
    for (statement, args, told) in [
        (
            "select 1 as one",
            ["--out", &one].as_slice(),
            "already exists; --force replaces it",
        ),
        (
            "select 1",
            &["--out", &other("one.txt")],
            "--format csv, json or parquet",
        ),
        ("select 1", &["--out", &one, "--format", "table"], "for terminals only"),
        ("select 1", &["--out", &other(".")], "is not a known format"),
        ("select 1", &["--out", &other("."), "--format", "csv"], "is not a file"),
        ("select 1", &["--format", "csv"], "--json and --format conflict"),
        ("select 1", &["--force"], "--out"),
        (
            "select [1] as list",
            &["--out", &other("list.csv")],
            "column list is a list",
        ),
        (
            "select a.n, b.n from (values (1)) a(n), (values (2)) b(n)",
            &["--out", &other("twice.parquet")],
            "have the name n",
        ),
        ("selec 1", &["--out", &other("none.csv")], "selec"),
    ] {
        let answer = haat.run(&[&["sql", statement], args].concat());
        assert_eq!(answer.code, 2, "{args:?}: {answer:?}");
        assert!(answer.stderr.contains(told), "{args:?}: {}", answer.stderr);
    }
    // The statement fails after some rows were written.
    let late = "select 1 / (200000 - value) as n from generate_series(1, 300000)";
    assert_eq!(haat.run(&["sql", late, "--out", &other("late.csv")]).code, 1);
    let absent = haat.run(&["sql", "select 1", "--out", &other("absent/one.csv")]);
    assert!(
        absent.code != 0 && absent.stderr.contains("no file can be created in"),
        "{absent:?}"
    );
    assert_eq!(desk.read("one.csv"), "one\n1\n");
    haat.told(&["sql", "select 2 as two", "--out", &one, "--force"]);
    assert_eq!(desk.read("one.csv"), "two\n2\n");
    assert_eq!(names(desk.0.path()), ["one.csv"]);
}
