//! Tests of an operator who parses landed pages again into the lake.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::documents::documents;
use crate::kill::{contents, copy, traced};
use crate::support::{Haat, files, has_program};

/// Number of kills, spread evenly. A test of the crate kills a backfill at every single write.
const KILLS_SPREAD: usize = 10;

const STORES: [&str; 6] = ["--products", "60", "--stores", "3", "--seed", "5"];

fn crawled() -> Haat {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&STORES);
    haat.run(&["crawl", "--release"]).json();
    haat
}

/// Returns the bytes of every file of the home, by path.
fn bytes(haat: &Haat) -> BTreeMap<PathBuf, Vec<u8>> {
    let found = files(haat.path(), "").into_iter();
    found.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Returns a home whose lake is lost and whose stores no longer respond.
fn lost() -> Haat {
    let haat = crawled();
    std::fs::remove_dir_all(haat.path().join("lake")).unwrap();
    haat
}

#[test]
fn the_commands_of_the_guide_run_and_pages_that_say_what_the_lake_has_change_nothing() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&STORES);
    haat.run(&["crawl", "--release"]).json();
    haat.run(&["shipping", "refresh"]).json();
    let before = contents(&haat);
    let all = documents();
    let guide = all
        .iter()
        .find(|document| document.path == "docs/operations.md")
        .unwrap();
    let blocks = guide.blocks();
    let block = blocks
        .iter()
        .find(|block| block.text.contains("haat backfill"))
        .unwrap();
    let mut ran = 0;
    for line in block.text.lines() {
        let command = line.split("  #").next().unwrap();
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let report = haat.run(&words).json();
        let totals = [&report["totals"], &report["report"]["totals"]];
        assert!(
            report["release"].is_object() || totals.iter().any(|totals| totals["unchanged"] == 3),
            "{report}"
        );
        ran += 1;
    }
    assert_eq!((ran, contents(&haat)), (5, before));
}

#[test]
fn a_lost_lake_comes_back_without_a_request_and_a_dry_run_writes_nothing() {
    let haat = crawled();
    let (before, held) = (contents(&haat), bytes(&haat));
    let dry = haat.run(&["backfill", "--all", "--stage", "parse", "--dry-run"]).json();
    assert_eq!(
        (&dry["dry_run"], &dry["totals"]["unchanged"]),
        (&json!(true), &json!(3))
    );
    assert!(bytes(&haat) == held);
    std::fs::remove_dir_all(haat.path().join("lake")).unwrap();
    let report = haat.run(&["backfill", "--all", "--stage", "parse"]).json();
    assert_eq!(report["totals"]["difference"]["added"], 60);
    assert_eq!(report["undo_as_of"], Value::Null);
    assert_eq!(contents(&haat), before);
}

#[test]
fn a_backfill_that_is_killed_at_a_state_changing_call_is_gone_on_with_by_the_same_command() {
    if !has_program("strace", &["-qq", "-e", "trace=none", "true"]) {
        return;
    }
    let before = lost();
    let command = ["backfill", "--all", "--stage", "parse"];
    let whole = copy(&before);
    let (code, calls) = traced(&whole, &command, None);
    assert_eq!(code, Some(0));
    let expected = contents(&whole);
    assert!(calls.len() > KILLS_SPREAD, "{calls:?}");
    for call in calls.iter().step_by(calls.len().div_ceil(KILLS_SPREAD)) {
        let haat = copy(&before);
        traced(&haat, &command, Some(call));
        let again = haat.run(&command);
        assert_eq!(again.code, 0, "killed at call {call:?}: {}", again.stderr);
        assert_eq!(contents(&haat), expected, "killed at call {call:?}");
    }
}

#[test]
fn stages_without_a_landing_say_so_and_what_is_no_range_is_refused() {
    let haat = crawled();
    let told = haat.run(&["backfill", "--all", "--stage", "reviews"]).json();
    assert_eq!(told["stage"], "reviews");
    let brands = told["report"]["brands"].as_array().unwrap();
    assert!(
        brands.len() == 3 && brands.iter().all(|one| one["outcome"] == "nothing_landed"),
        "{told}"
    );
    let told = haat.told(&["backfill", "--all", "--stage", "reviews"]);
    assert!(told.contains("no answer of a review app is landed"), "{told}");
    assert!(
        told.contains("reviews in product pages are part of --stage parse"),
        "{told}"
    );
    // No data is stored between parsing and normalising, so both stage names mean the same.
    let told = haat
        .run(&["backfill", "--all", "--stage", "normalise", "--dry-run"])
        .json();
    assert_eq!(told["stage"], "parse");
    for wrong in [
        &["--all", "--stage", "parse", "--from", "yesterday"][..],
        &[
            "--all",
            "--stage",
            "parse",
            "--from",
            "2026-02-01",
            "--to",
            "2026-01-01",
        ],
        &["--brand", "nobody", "--stage", "parse"],
        &["--stage", "parse"],
        &["--all", "--stage", "cook"],
    ] {
        let refused = haat.run(&[&["backfill"], wrong].concat());
        assert_eq!(refused.code, 2, "{wrong:?}: {}", refused.stderr);
    }
    // No landed page is so old, so every store stays unchanged and is reported.
    let left = haat.run(&["backfill", "--all", "--stage", "parse", "--to", "2020-01-01"]);
    assert_eq!((left.code, &left.document()["totals"]["left"]), (3, &json!(3)));
}
