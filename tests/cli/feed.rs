//! Tests of feeds of an emulated market: their content, parsing by another TSV reader, and atomic writing.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::lake_files::run_blocks;
use crate::support::{Haat, ServerProcess, has_program};

fn market(args: &[&str]) -> (Haat, ServerProcess) {
    let haat = Haat::new();
    let (stores, _) = haat.with_stores(&[args, &["--seed", "5"]].concat());
    haat.run(&["crawl", "--release"]).json();
    (haat, stores)
}

fn slug(haat: &Haat) -> String {
    haat.sql("select slug from brands order by slug")[0]["slug"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Script that reads a feed as spreadsheets do.
const READER: &str = r#"
import csv, json, sys
with open(sys.argv[1], newline="", encoding="utf-8") as feed:
    print(json.dumps(list(csv.DictReader(feed, delimiter="\t", strict=True))))
"#;

/// Complete feed of a store with three products. A placeholder stands for its address.
const WHOLE: &str = include_str!("feed.tsv");

#[test]
fn the_feed_of_an_emulated_store_is_as_it_was() {
    let haat = Haat::new();
    let (_stores, told) = haat.with_stores(&["--products", "3", "--stores", "1", "--seed", "5"]);
    haat.run(&["crawl"]).json();
    let address = told["stores"][0]["base_url"].as_str().unwrap();
    let feed = haat.run(&["feed", "--all", "--format", "google-tsv"]);
    assert_eq!(
        feed.stdout.replace(address, "https://store.example"),
        WHOLE,
        "{}",
        feed.stderr
    );
}

#[test]
fn a_feed_of_the_market_has_every_variant_once_with_its_price_for_other_readers() {
    let (haat, _stores) = market(&["--products", "80", "--stores", "3"]);
    let out = haat.path().join("market.tsv");
    let out = out.to_str().unwrap();
    let told = haat.run(&["feed", "--all", "--out", out]).json();
    let variants = haat.sql("select product_id, variant_id, price_minor, compare_at_minor, available from variants order by product_id, variant_id");
    assert_eq!(
        (&told["rows"], &told["brands"]),
        (&variants.len().into(), &3.into()),
        "{told}"
    );
    let text = std::fs::read_to_string(out).unwrap();
    assert_eq!(text.lines().count(), variants.len() + 1);
    // JSON Lines contain the same values.
    let json = haat.run(&["feed", "--all"]).stdout;
    let mut rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.sort_by_key(|row| (row["product_id"].to_string(), row["variant_id"].as_u64()));
    assert_eq!(rows.len(), variants.len());
    let is_same = |row: &Value, variant: &Value| {
        row["product_id"] == variant["product_id"] && row["variant_id"] == variant["variant_id"]
    };
    let in_stock = |row: &Value| row["availability"] == "in_stock";
    for (row, variant) in rows.iter().zip(&variants) {
        assert!(is_same(row, variant), "{row} {variant}");
        assert_eq!(in_stock(row), variant["available"] == true, "{row}");
        let paid = row["sale_price"].as_str().or(row["price"].as_str()).unwrap();
        let minor: String = paid.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(minor.parse::<i64>().ok(), variant["price_minor"].as_i64(), "{row}");
        assert_eq!(
            row["sale_price"].is_null(),
            variant["compare_at_minor"].is_null(),
            "{row}"
        );
    }
    // The ACP format contains the same values, with one product per line.
    let acp = haat.run(&["feed", "--all", "--format", "acp"]).stdout;
    let products: Vec<Value> = acp.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_acp = products
        .iter()
        .flat_map(|product| product["variants"].as_array().unwrap());
    let amounts: BTreeMap<_, _> = of_acp
        .map(|one| (one["id"].to_string(), one["price"]["amount"].as_i64()))
        .collect();
    assert_eq!(amounts.len(), rows.len());
    for (row, variant) in rows.iter().zip(&variants) {
        assert_eq!(
            amounts[&row["id"].to_string()],
            variant["price_minor"].as_i64(),
            "{row}"
        );
    }
    if !has_program("python3", &["--version"]) {
        return;
    }
    let read = Command::new("python3").args(["-c", READER, out]).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let mut read: Vec<Value> = serde_json::from_slice(&read.stdout).unwrap();
    read.sort_by_key(|row| row["id"].to_string());
    rows.sort_by_key(|row| row["id"].to_string());
    for (one, other) in read.iter().zip(&rows) {
        for name in ["id", "title", "description", "link", "price", "brand", "color", "size"] {
            assert_eq!(
                one[name].as_str().unwrap(),
                other[name].as_str().unwrap_or_default(),
                "{name}"
            );
        }
    }
    assert_eq!(read.len(), rows.len());
}

#[test]
fn a_feeds_file_appears_whole_and_is_replaced_only_when_told_so() {
    let (haat, _stores) = market(&["--products", "20", "--stores", "2"]);
    let slug = slug(&haat);
    let out = haat.path().join("brand.tsv");
    let args = ["feed", "--brand", &slug, "--out", out.to_str().unwrap()];
    std::fs::write(&out, "mine").unwrap();
    let refused = haat.run(&args);
    assert_eq!(
        (refused.code, refused.stderr.contains("--force")),
        (2, true),
        "{}",
        refused.stderr
    );
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    let told = haat.run(&[&args[..], &["--force"]].concat()).json();
    let written = std::fs::read_to_string(&out).unwrap();
    assert_eq!(told["rows"], written.lines().count() - 1);
    // The release, the tick and standard output give the same feed.
    let tick = told["tick"].to_string();
    for also in [&["--release"][..], &["--as-of", &tick]] {
        let printed = haat.run(&[&["feed", "--brand", &slug, "--format", "google-tsv"], also].concat());
        assert_eq!(
            (printed.code, &printed.stdout),
            (0, &written),
            "{also:?}: {}",
            printed.stderr
        );
    }
    let empty = haat.run(&["feed", "--all", "--as-of", "0"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (0, ""), "{}", empty.stderr);
    for (args, word) in [
        (vec!["feed", "--brand", "nobody"], "--brand"),
        (vec!["feed"], "--brand"),
        (vec!["feed", "--all", "--as-of", "yesterday"], "--as-of"),
        (vec!["feed", "--all", "--force"], "--out"),
    ] {
        let refused = haat.run(&args);
        assert_eq!(refused.code, 2, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(word), "{args:?}: {}", refused.stderr);
    }
    // No temporary file is left beside the feed.
    let names = std::fs::read_dir(haat.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        !names
            .into_iter()
            .any(|name| name.to_string_lossy().starts_with(".haat-"))
    );
}

#[test]
fn what_analysts_are_told_of_feeds_is_written() {
    if !has_program("jq", &["--version"]) {
        return;
    }
    let (haat, _stores) = market(&["--products", "20", "--stores", "2"]);
    let folder = tempfile::tempdir().unwrap();
    let run = run_blocks("docs/analysts.md", "tests/cli/feed.rs", (&haat, folder.path()), &[]);
    assert_eq!(run, 1);
    for name in ["market.tsv", "brand.jsonl", "market.acp.jsonl"] {
        let feed = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(feed.lines().count() > 1, "{name}: {feed}");
    }
}
