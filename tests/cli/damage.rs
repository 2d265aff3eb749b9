//! Tests of lost files in a home: the doctor's findings, the repair with its report, the next crawl and release, and
//! the commands in docs/operations.md.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::kill::contents;
use crate::support::{Haat, ServerProcess, files};

const SOURCE: [&str; 6] = ["--products", "120", "--stores", "6", "--seed", "13"];

/// Returns a market that was crawled twice and released once, with its stores in their present state.
fn market() -> (Haat, ServerProcess) {
    let haat = Haat::new();
    let (first, _) = haat.with_stores(&SOURCE);
    haat.run(&["crawl", "--release"]).json();
    drop(first);
    let (second, _) = haat.with_stores(&[SOURCE.as_slice(), &["--epoch", "1"]].concat());
    haat.run(&["crawl"]).json();
    (haat, second)
}

fn served(haat: &Haat) -> BTreeMap<String, u64> {
    let shown = haat.run(&["release", "show"]).json();
    let brands = shown["brands"].as_array().unwrap().iter();
    let count = |brand: &Value| {
        let slug = brand["brand"]["slug"].as_str().unwrap().to_owned();
        (slug, brand["product_count"].as_u64().unwrap())
    };
    brands.map(count).collect()
}

/// Returns the files of a table according to the lake's log.
fn present(haat: &Haat, table: &str) -> Vec<PathBuf> {
    let mut present: Vec<String> = Vec::new();
    for entry in files(&haat.path().join("lake").join(table).join("_delta_log"), ".json") {
        for line in std::fs::read_to_string(entry).unwrap().lines() {
            let action: Value = serde_json::from_str(line).unwrap();
            if let Some(path) = action["add"]["path"].as_str() {
                present.push(path.to_owned());
            } else if let Some(path) = action["remove"]["path"].as_str() {
                present.retain(|held| held != path);
            }
        }
    }
    let folder = haat.path().join("lake").join(table);
    present
        .into_iter()
        .map(|path| folder.join(path.replace("%3D", "=")))
        .collect()
}

fn said(document: &Value, list: &str, member: &str) -> Vec<String> {
    let list = document[list].as_array().unwrap().iter();
    let mut said: Vec<String> = list.map(|one| one[member].as_str().unwrap().to_owned()).collect();
    said.sort();
    said
}

/// Returns the version that a log entry creates.
fn version(entry: &Path) -> Value {
    let stem = entry.file_stem().unwrap().to_str().unwrap();
    stem.parse::<u64>().unwrap().into()
}

#[test]
fn a_lost_file_keeps_its_brands_as_they_were_and_the_next_crawl_brings_them_back() {
    let (haat, _stores) = market();
    let (before, lake) = (served(&haat), contents(&haat));
    let lost = present(&haat, "products").remove(0);
    std::fs::remove_file(&lost).unwrap();
    let name = lost
        .strip_prefix(haat.path().join("lake"))
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(haat.run(&["doctor"]).code, 1);
    let built = haat.run(&["release", "build"]);
    assert_eq!(built.code, 3, "{built:?}");
    let document = built.document();
    let unreadable = said(&document, "unreadable", "brand");
    assert!(!unreadable.is_empty() && unreadable.len() < 6, "{document}");
    for brand in document["unreadable"].as_array().unwrap() {
        assert_eq!(brand["files"], serde_json::json!([name]), "{document}");
    }
    let after = served(&haat);
    for brand in &unreadable {
        assert_eq!(after[brand], before[brand], "{brand} is as it was");
    }
    let told = haat.plain(&["release", "build"]).output().unwrap();
    assert_eq!(told.status.code(), Some(3));
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains(&name) && told.contains(unreadable[0].as_str()), "{told}");
    // No store has changed, but the crawl restores the rows.
    let crawled = haat.run(&["crawl", "--release"]).json();
    assert_eq!(crawled["totals"]["changed"], unreadable.len(), "{crawled}");
    assert_eq!(crawled["release"]["unreadable"], serde_json::json!([]), "{crawled}");
    assert_eq!(contents(&haat), lake);
    assert_eq!(haat.run(&["doctor", "--thorough"]).code, 0);
}

#[test]
fn an_entry_that_only_earlier_states_need_is_found_by_a_thorough_doctor() {
    let (haat, _stores) = market();
    let file = haat.path().join("rates.csv");
    let log = haat.path().join("lake/exchange_rates/_delta_log");
    // The loop ends when a checkpoint follows the first entries.
    for rate in 1..20 {
        std::fs::write(&file, format!("date,base,quote,rate\n2026-11-01,USD,INR,{rate}\n")).unwrap();
        haat.run(&["rates", "import", "rates.csv"]).json();
    }
    assert!(!files(&log, ".checkpoint.parquet").is_empty());
    let before = haat.run(&["doctor", "--thorough"]).code;
    let entry = files(&log, ".json").remove(2);
    std::fs::remove_file(&entry).unwrap();
    assert_eq!(haat.run(&["doctor"]).code, before);
    let told = haat.run(&["doctor", "--thorough"]);
    assert_eq!(told.code, 1, "{told:?}");
    let name = entry.strip_prefix(haat.path().join("lake")).unwrap();
    assert!(told.stdout.contains(name.to_str().unwrap()), "{told:?}");
    // The current state is complete, and nothing restores the log entry.
    let repaired = haat.run(&["lake", "repair"]);
    assert_eq!(repaired.code, 3, "{repaired:?}");
    let stuck = &repaired.document()["stuck"][0];
    assert_eq!(
        (&stuck["table"], &stuck["version"]),
        (&"exchange_rates".into(), &version(&entry))
    );
    assert_eq!(haat.run(&["doctor"]).code, before);
}

#[test]
fn a_lost_entry_of_a_log_is_named_and_a_backup_or_the_landed_pages_bring_the_lake_back() {
    let (haat, _stores) = market();
    haat.run(&["release", "build"]).json();
    let (lake, products) = (contents(&haat), served(&haat));
    let place = tempfile::tempdir().unwrap();
    let place = place.path().join("backups").to_string_lossy().into_owned();
    haat.run(&["backup", "create", &place]).json();
    let entry = files(&haat.path().join("lake/brands/_delta_log"), ".json")
        .pop()
        .unwrap();
    std::fs::remove_file(&entry).unwrap();

    let refused = haat.run(&["crawl"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("haat lake repair"), "{refused:?}");
    for dry_run in [&["--dry-run"][..], &[]] {
        let repaired = haat.run(&[&["lake", "repair"], dry_run].concat());
        assert_eq!(repaired.code, 1, "{repaired:?}");
        let document = repaired.document();
        let stuck = &document["stuck"][0];
        assert_eq!(
            (&stuck["table"], &stuck["version"]),
            (&"brands".into(), &version(&entry))
        );
        for way in [
            "haat restore",
            "haat backfill --all",
            "haat crawl --force",
            "haat release build --full",
        ] {
            assert!(stuck["reason"].as_str().unwrap().contains(way), "{way}: {document}");
        }
    }
    assert!(!entry.exists());

    let restored = Haat::new();
    restored.run(&["restore", &place]).json();
    assert_eq!(contents(&restored), lake);
    assert_eq!(restored.run(&["doctor", "--thorough"]).code, 0);

    std::fs::rename(haat.path().join("lake"), haat.path().join("lake-before")).unwrap();
    haat.run(&["backfill", "--all", "--stage", "parse"]).json();
    haat.run(&["crawl", "--force"]).json();
    haat.run(&["release", "build", "--full"]).json();
    assert_eq!(served(&haat), products);
    let mut present = contents(&haat);
    // The histories start again.
    present.insert("price_history", lake["price_history"].clone());
    assert_eq!(present, lake);
}

#[test]
fn what_a_repair_says_is_what_is_lost_and_the_next_crawl_brings_back_the_rest() {
    let (haat, _stores) = market();
    haat.run(&["release", "build"]).json();
    let mut lake = contents(&haat);
    let products = served(&haat);
    let lost = [present(&haat, "variants").remove(0)];
    std::fs::remove_file(&lost[0]).unwrap();
    assert_eq!(haat.run(&["doctor"]).code, 1);

    let dry = haat.run(&["lake", "repair", "--dry-run"]).json();
    let in_lake = |path: &PathBuf| {
        path.strip_prefix(haat.path().join("lake"))
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(said(&dry, "lost", "path"), lost.each_ref().map(in_lake), "{dry}");
    let mut done = haat.run(&["lake", "repair"]).json();
    assert!(done["tick"].is_u64(), "{done}");
    done["tick"] = Value::Null;
    done["dry_run"] = true.into();
    assert_eq!(done, dry);

    // The brands stay as they are until the crawl.
    let built = haat.run(&["release", "build"]);
    assert_eq!((built.code, served(&haat)), (3, products.clone()), "{built:?}");
    haat.run(&["crawl", "--release"]).json();
    assert_eq!(served(&haat), products);
    assert_eq!(haat.run(&["doctor", "--thorough"]).code, 0);
    assert_eq!(contents(&haat), lake);

    // A lost history file is not restored, and exactly the reported rows are missing.
    let lost = present(&haat, "price_history").remove(0);
    std::fs::remove_file(&lost).unwrap();
    let done = haat.run(&["lake", "repair"]).json();
    assert_eq!(said(&done, "lost", "path"), [in_lake(&lost)], "{done}");
    haat.run(&["crawl", "--release"]).json();
    let history = |rows: &[Value]| rows.iter().map(|row| row["times"].as_u64().unwrap()).sum::<u64>();
    let after = contents(&haat);
    let gone = done["lost"][0]["rows"].as_u64().unwrap();
    assert_eq!(history(&lake["price_history"]) - history(&after["price_history"]), gone);
    lake.insert("price_history", after["price_history"].clone());
    assert_eq!(after, lake);
    assert!(haat.told(&["lake", "repair"]).contains("nothing is lost"));
}

/// Returns the newest log event with this text, and its copy.
fn event(haat: &Haat, log: &str, says: &str) -> Vec<PathBuf> {
    let mut events = files(&haat.path().join(log), ".json");
    events.retain(|path| std::fs::read_to_string(path).unwrap().contains(says));
    let event = events.pop().unwrap();
    vec![event.with_extension("copy"), event]
}

#[test]
fn what_is_lost_beside_the_tables_costs_its_own_brand_alone_and_a_repair_makes_it_again_from_the_lake_and_manifests() {
    let haat = Haat::new();
    let (_stores, stores) = haat.serve(&[["emulate"].as_slice(), &SOURCE].concat());
    // This brand was registered in an event of its own.
    let first = stores["stores"][0]["base_url"].as_str().unwrap();
    haat.run(&["brands", "add", "--moved", first]).json();
    let alone = haat.run(&["brands", "list"]).json();
    let slug = alone["brands"][0]["slug"].as_str().unwrap();
    haat.register(&stores);
    haat.run(&["crawl", "--release"]).json();
    let (lake, brands, current) = (
        contents(&haat),
        haat.run(&["brands", "list"]).json(),
        haat.run(&["release", "show"]).json()["id"].clone(),
    );
    let lost = [
        event(&haat, "registry", &format!("\"slug\":\"{slug}\"")),
        event(&haat, "releases/log", "publish"),
        vec![haat.path().join("lake/_ticks/layout.json")],
        vec![haat.path().join("releases/refused.json")],
    ]
    .concat();
    for path in &lost {
        let bytes = std::fs::read(path).unwrap_or_default();
        std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }
    let told = haat.run(&["doctor"]);
    assert_eq!(told.code, 1, "{told:?}");
    for named in [slug, "registry/000", "releases/log/000", "haat lake repair"] {
        assert!(told.stdout.contains(named), "{named}: {}", told.stdout);
    }
    // The other brands get new data, and this brand is served unchanged.
    assert_eq!(haat.run(&["release", "show"]).json()["id"], current);
    let crawled = haat.run(&["crawl", "--release"]).json();
    assert_eq!(crawled["stores"].as_array().unwrap().len(), 5, "{crawled}");
    assert_eq!(contents(&haat), lake);

    let left: Vec<_> = lost.iter().map(|path| std::fs::read(path).ok()).collect();
    let mut planned = haat.run(&["lake", "repair", "--dry-run"]).document();
    assert_eq!(
        planned["registry"]["registered"],
        serde_json::json!([slug]),
        "{planned}"
    );
    assert_eq!(
        left,
        lost.iter().map(|path| std::fs::read(path).ok()).collect::<Vec<_>>()
    );
    let done = haat.run(&["lake", "repair"]);
    // The other content of the registry's event is unknown.
    assert_eq!(done.code, 3, "{done:?}");
    planned["dry_run"] = false.into();
    assert_eq!(done.document(), planned);
    assert_eq!(haat.run(&["release", "show"]).json()["id"], current);
    let crawled = haat.run(&["crawl", "--release"]).json();
    assert_eq!(crawled["stores"].as_array().unwrap().len(), 6, "{crawled}");
    assert_eq!(contents(&haat), lake);
    let listed = haat.run(&["brands", "list"]).json();
    let slugs = |listed: &Value| said(listed, "brands", "slug");
    assert_eq!(slugs(&listed), slugs(&brands));
    let healthy = haat.run(&["doctor", "--thorough"]);
    assert_eq!(healthy.code, 0, "{healthy:?}");
    assert!(haat.told(&["lake", "repair"]).contains("nothing is lost"));
}
