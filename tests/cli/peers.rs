use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Haat, ServerProcess, get, has_program};

/// Script that reads every table with DuckDB and Polars and prints the statistics that the server must state.
const READERS: &str = r#"
import json, sys, deltalake, duckdb, polars
lake = sys.argv[1]
names = ["brands", "products", "variants", "reviews", "shipping_policies", "delivery_matrix", "delivery_zones", "delivery_probes", "price_history", "live_prices", "product_history", "crawl_runs", "quarantine", "widget_reviews", "widget_ratings", "exchange_rates", "currencies", "pincodes", "searches"]
con = duckdb.connect()
for name in names:
    con.register(name, deltalake.DeltaTable(f"{lake}/{name}").to_pyarrow_table())
one = lambda sql: con.execute(sql).fetchone()[0]
duck = {
    "brands": one("select count(*) from brands"),
    "products": one("select count(*) from products"),
    "variants": one("select count(*) from variants"),
    "in_stock": one("select count(*) from products where in_stock"),
    "on_sale": one("select count(*) from products where on_sale"),
    "reviews": one("select count(*) from reviews"),
    "categories": one("select count(distinct category_id) from products"),
}
frame = lambda name: polars.read_delta(f"{lake}/{name}")
pl = {
    "brands": frame("brands").height,
    "products": frame("products").height,
    "variants": frame("variants").height,
    "in_stock": frame("products").filter(polars.col("in_stock")).height,
    "on_sale": frame("products").filter(polars.col("on_sale")).height,
    "reviews": frame("reviews").height,
    "categories": frame("products")["category_id"].drop_nulls().n_unique(),
}
for name in names:
    assert frame(name).height == one(f"select count(*) from {name}"), name
assert one("select count(*) from pincodes where state is not null") > 19000
assert frame("currencies").filter(polars.col("currency") == "INR")["units_minor"].to_list() == [100]
assert one("select count(*) from brands where brand_slug is distinct from slug") == 0
assert frame("variants").filter(polars.col("size_normalized").is_not_null() != polars.col("size_ordinal").is_not_null()).height == 0
comments = {name: [field.name for field in deltalake.DeltaTable(f"{lake}/{name}").schema().fields if not field.metadata.get("comment")] for name in names}
print(json.dumps({"duckdb": duck, "polars": pl, "uncommented": comments}))
"#;

#[test]
fn duckdb_and_polars_read_the_lake_and_agree_with_the_server() {
    if !has_program("python3", &["-c", "import deltalake, duckdb, polars, pyarrow"]) {
        return;
    }
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "400", "--stores", "5", "--seed", "11"]);
    haat.run(&["crawl", "--release"]).json();
    let (_server, address) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let (_, stats) = get(&format!("{}/v1/stats", address["address"].as_str().unwrap()));
    let read = Command::new("python3")
        .args(["-c", READERS])
        .arg(haat.path().join("lake"))
        .output()
        .unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let read: Value = serde_json::from_slice(&read.stdout).unwrap();
    for reader in ["duckdb", "polars"] {
        for (count, value) in read[reader].as_object().unwrap() {
            assert_eq!(&stats["data"][count], value, "{reader} {count}");
        }
    }
    for (table, uncommented) in read["uncommented"].as_object().unwrap() {
        assert_eq!(
            uncommented,
            &serde_json::json!([]),
            "columns of {table} without a comment"
        );
    }
}

/// Starts a third-party S3-compatible server on this machine, with one bucket.
pub(crate) fn moto() -> (ServerProcess, String) {
    let mut child = Command::new("moto_server")
        .args(["-H", "127.0.0.1", "-p", "0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let serving = ServerProcess { child };
    let endpoint = loop {
        let mut line = String::new();
        assert!(told.read_line(&mut line).unwrap() > 0, "moto_server ended");
        if let Some((_, endpoint)) = line.split_once("Running on ") {
            break endpoint.trim().to_owned();
        }
    };
    // All later output is read, so that it never blocks the server.
    std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let created = runtime.block_on(reqwest::Client::new().put(format!("{endpoint}/market")).send());
    assert!(created.unwrap().status().is_success());
    (serving, endpoint)
}

#[test]
fn the_whole_path_runs_on_an_s3_compatible_server() {
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
    let _stores = haat.with_stores(&["--products", "120", "--stores", "3", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let tables = haat.run(&["lake", "tables"]).json();
    haat.run(&["crawl", "--release"]).json();
    assert_eq!(
        haat.run(&["lake", "tables"]).json(),
        tables,
        "an unchanged crawl wrote to the lake"
    );
    let (_server, address) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let (status, stats) = get(&format!("{}/v1/stats", address["address"].as_str().unwrap()));
    assert_eq!((status, &stats["data"]["products"]), (200, &120.into()), "{stats}");
}
