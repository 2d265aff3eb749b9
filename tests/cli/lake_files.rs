//! Tests of the files of a lake state with engines that read Parquet but not Delta: DuckDB and Polars, on this machine
//! and in a bucket.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::documents::{Mark, documents, project};
use crate::peers::moto;
use crate::support::{Haat, ServerProcess, files, has_program};

/// Runs the blocks of a document whose marks name a test, on a home and in a folder. Returns the number of blocks.
pub(crate) fn run_blocks(
    path: &str,
    here: &str,
    (haat, folder): (&Haat, &Path),
    variables: &[(&str, String)],
) -> usize {
    let binary = Path::new(env!("CARGO_BIN_EXE_haat")).parent().unwrap().to_owned();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let programs = std::env::join_paths([binary].into_iter().chain(std::env::split_paths(&usual))).unwrap();
    let all = documents().into_iter().filter(|document| document.path == path);
    let blocks = all.flat_map(|document| document.blocks());
    let here = blocks.filter(|block| matches!(&block.mark, Some(Mark::RunBy(file)) if file == here));
    here.map(|block| {
        let mut run = match block.language.as_str() {
            "sh" => {
                let script = block
                    .text
                    .replace("deploy/", &format!("{}/deploy/", project().display()));
                let mut bash = Command::new("bash");
                bash.args(["-eu", "-o", "pipefail", "-c", &script]);
                bash
            }
            "python" => {
                let mut python = Command::new("python3");
                python.args(["-c", &block.text]);
                python
            }
            other => panic!("{}: nothing runs {other}", block.at),
        };
        run.current_dir(folder)
            .env("PATH", &programs)
            .env("HAAT_HOME", haat.path());
        let output = run
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        assert!(
            output.status.success() && !output.stdout.is_empty(),
            "{}: {output:?}",
            block.at
        );
    })
    .count()
}

fn market() -> (Haat, ServerProcess, Value) {
    let haat = Haat::new();
    let (stores, told) = haat.with_stores(&["--products", "60", "--stores", "3", "--seed", "5"]);
    haat.run(&["crawl"]).json();
    (haat, stores, told)
}

fn rows(listed: &Value) -> Value {
    let tables = listed["tables"].as_array().unwrap();
    let one = |table: &Value| {
        let name = table["name"].as_str().unwrap().to_owned();
        (name, table["rows"].clone())
    };
    tables.iter().map(one).collect::<serde_json::Map<_, _>>().into()
}

/// Script that counts the rows in each folder of a snapshot with two Parquet readers, which take partition columns from
/// folder names.
const READERS: &str = r#"
import json, sys, duckdb, polars
folder = sys.argv[1]
listed = json.load(open(f"{folder}/files.json"))
out = {}
for table in listed["tables"]:
    name, column = table["name"], table["partition_column"]
    files = f"{folder}/{name}/**/*.parquet"
    scanned = f"read_parquet('{files}', hive_partitioning = true, union_by_name = true)"
    duck = duckdb.sql(f"select count(*) from {scanned}").fetchall()[0][0]
    if column:
        duckdb.sql(f"select min({column}) from {scanned}").fetchall()
    out[name] = [duck, polars.scan_parquet(files, hive_partitioning=True).select(polars.len()).collect().item()]
print(json.dumps(out))
"#;

#[test]
fn the_files_are_those_of_the_state_and_other_readers_find_its_rows() {
    let (haat, _stores, told) = market();
    let first = haat.run(&["lake", "files"]).json();
    let tick = first["tick"].clone();
    let counts = |document: &Value| {
        let tables = document["tables"].as_array().unwrap();
        let pairs = tables
            .iter()
            .map(|table| (table["name"].as_str().unwrap().to_owned(), table["rows"].clone()));
        Value::from(pairs.collect::<serde_json::Map<_, _>>())
    };
    assert_eq!(rows(&first), counts(&haat.run(&["lake", "tables"]).json()));
    for table in first["tables"].as_array().unwrap() {
        assert_eq!(
            (&table["deletion_vectors"], &table["column_mapping"]),
            (&json!(0), &json!(false))
        );
        for file in table["files"].as_array().unwrap() {
            let path = file["path"].as_str().unwrap();
            assert_eq!(std::fs::metadata(path).unwrap().len(), file["bytes"].as_u64().unwrap());
            assert_eq!(file["url"], format!("file://{path}"));
        }
    }
    // One brand is removed. The earlier files stay and belong to the previous tick.
    let slug = told["stores"][0]["slug"].as_str().map(str::to_owned);
    let slug = slug.unwrap_or_else(|| {
        haat.sql("select slug from brands order by slug limit 1")[0]["slug"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    haat.run(&["brands", "remove", &slug]).json();
    let now = haat
        .run(&["lake", "files", "--table", "products", "--table", "brands"])
        .json();
    assert_eq!(now["tables"].as_array().unwrap().len(), 2);
    assert_ne!(rows(&now)["products"], rows(&first)["products"]);
    let then = haat.run(&["lake", "files", "--as-of", &tick.to_string()]).json();
    assert_eq!(then, first);
    if !has_program("python3", &["-c", "import duckdb, polars"]) {
        return;
    }
    let to = haat.path().join("snapshot");
    let to = to.to_str().unwrap();
    let put = haat
        .run(&["lake", "files", "--as-of", &tick.to_string(), "--to", to])
        .json();
    assert_eq!(put["to"]["copied"], 0, "{}", put["to"]);
    let read = Command::new("python3").args(["-c", READERS, to]).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let read: Value = serde_json::from_slice(&read.stdout).unwrap();
    for (table, rows) in rows(&first).as_object().unwrap() {
        assert_eq!(read[table], json!([rows, rows]), "{table}");
    }
}

#[test]
fn what_analysts_are_told_of_files_is_answered() {
    if !has_program("python3", &["-c", "import duckdb"]) || !has_program("jq", &["--version"]) {
        return;
    }
    let (haat, _stores, _) = market();
    let folder = tempfile::tempdir().unwrap();
    let run = run_blocks(
        "docs/analysts.md",
        "tests/cli/lake_files.rs",
        (&haat, folder.path()),
        &[],
    );
    assert_eq!(run, 2);
}

#[test]
fn what_cannot_be_listed_or_put_is_refused_with_the_option_at_fault() {
    let (haat, _stores, _) = market();
    let full = haat.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("other"), "x").unwrap();
    let full = full.to_str().unwrap();
    for (args, word) in [
        (["--table", "nothing"], "--table"),
        (["--as-of", "yesterday"], "--as-of"),
        (["--as-of", "999"], "--as-of"),
        (["--as-of", "2001-01-01T00:00:00Z"], "--as-of"),
        (["--to", full], "is not empty"),
    ] {
        let refused = haat.run(&[&["lake", "files"], &args[..]].concat());
        assert_eq!(refused.code, 2, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(word), "{args:?}: {}", refused.stderr);
    }
    let lines = haat.told(&["lake", "files", "--table", "products"]);
    let of_products = files(&haat.path().join("lake/products"), ".parquet");
    assert_eq!(lines.lines().count(), of_products.len(), "{lines}");
    assert!(
        lines
            .lines()
            .all(|line| line.starts_with('/') && line.contains("\tbucket=")),
        "{lines}"
    );
}

#[test]
fn files_of_a_bucket_have_its_addresses_and_are_copied_to_where_they_are_wanted() {
    if !has_program("moto_server", &["--help"]) {
        return;
    }
    let (_moto, endpoint) = moto();
    let haat = Haat::new()
        .at("s3://market/haat")
        .with("HAAT_S3__ENDPOINT", &endpoint)
        .with("HAAT_S3__ACCESS_KEY_ID", "test")
        .with("HAAT_S3__SECRET_ACCESS_KEY", "test")
        .with("HAAT_S3__ALLOW_HTTP", "true");
    let _stores = haat.with_stores(&["--products", "30", "--stores", "2", "--seed", "5"]);
    haat.run(&["crawl"]).json();
    let to = haat.path().join("snapshot");
    for place in [to.to_str().unwrap(), "s3://market/snapshot"] {
        let put = haat.run(&["lake", "files", "--to", place]).json();
        let listed: Vec<&Value> = put["tables"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|table| table["files"].as_array().unwrap())
            .collect();
        assert!(!listed.is_empty());
        for file in &listed {
            assert!(
                file["url"].as_str().unwrap().starts_with("s3://market/haat/lake/"),
                "{file}"
            );
            assert_eq!(file["path"], Value::Null);
        }
        assert_eq!(
            (&put["to"]["linked"], &put["to"]["copied"]),
            (&json!(0), &json!(listed.len()))
        );
    }
    let again = haat.run(&["lake", "files", "--to", "s3://market/snapshot"]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(!files(&to.join("products"), ".parquet").is_empty());
    assert!(to.join("files.json").exists());
}
