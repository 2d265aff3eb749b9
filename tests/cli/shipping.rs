//! Tests of shipping terms, from stores' texts to API responses: crawl, refresh shipping, release, query.

use std::process::Command;

use crate::documents::documents;
use crate::support::{Haat, get, has_program};

const ANALYSTS: &str = "docs/analysts.md";

fn home() -> (Haat, crate::support::ServerProcess) {
    let haat = Haat::new();
    let (stores, _) = haat.with_stores(&["--products", "120", "--stores", "12", "--seed", "7"]);
    assert_eq!(haat.run(&["crawl"]).code, 0);
    (haat, stores)
}

#[test]
fn what_stores_say_of_shipping_reaches_the_answer_and_a_crawl_keeps_it() {
    let (haat, _stores) = home();
    let dry = haat.run(&["shipping", "refresh", "--dry-run"]).json();
    assert_eq!((&dry["dry_run"], &dry["changed"]), (&true.into(), &0.into()));
    let read = haat.run(&["shipping", "refresh"]).json();
    assert_eq!((&read["brands"], &read["due"]), (&12.into(), &12.into()));
    let changed = read["changed"].as_u64().unwrap();
    assert!(changed >= 6, "{read}");
    let again = haat.run(&["shipping", "refresh"]).json();
    assert_eq!(
        (&again["due"], &again["changed"], &again["requests"]),
        (&0.into(), &0.into(), &0.into())
    );

    let rows = |haat: &Haat| {
        haat.sql("select count(*) as rows from shipping_policies")[0]["rows"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(rows(&haat), changed);
    assert_eq!(haat.run(&["crawl", "--force"]).code, 0);
    assert_eq!(rows(&haat), changed, "a crawl keeps them");

    assert_eq!(haat.run(&["release", "build"]).code, 0);
    let (_server, up) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let address = up["address"].as_str().unwrap();
    let sentence = "select p.product_id as id, count(*) as facts from (select store, unnest(facts) as f from shipping_policies) s \
         join products p using (store) group by 1 order by 2 desc, 1 limit 1";
    let best = &haat.sql(sentence)[0];
    let path = format!(
        "{address}/v1/shipping?product={}&pincode=560001",
        best["id"].as_str().unwrap()
    );
    let (status, answer) = get(&path);
    assert_eq!(status, 200);
    let evidence = answer["data"]["evidence"].as_array().unwrap();
    assert_eq!(evidence.len() as u64, best["facts"].as_u64().unwrap());
    assert!(
        answer["data"]["source_url"]
            .as_str()
            .unwrap()
            .ends_with("/policies/shipping-policy")
    );
}

#[test]
fn what_is_known_of_a_brands_shipping_is_shown_with_what_it_was_read_from() {
    let (haat, _stores) = home();
    haat.run(&["shipping", "refresh"]).json();
    let sentence = "select brand_slug from shipping_policies order by array_length(facts) desc, 1 limit 1";
    let slug = haat.sql(sentence)[0]["brand_slug"].as_str().unwrap().to_owned();
    haat.run(&["delivery", "probe", "--brand", &slug, "--budget", "20"])
        .json();
    let shown = haat.run(&["shipping", "show", &slug, "560001"]).json();
    let facts = shown["terms"]["terms"]["facts"].as_array().unwrap();
    assert!(!facts.is_empty() && facts.iter().all(|fact| !fact["sentence"].as_str().unwrap().is_empty()));
    assert_eq!(shown["pincode"]["area"], "KARNATAKA/BENGALURU URBAN/metro", "{shown}");
    let told = haat.told(&["shipping", "show", &slug, "560001"]);
    let first = facts[0]["sentence"].as_str().unwrap();
    assert!(told.contains(first) && told.contains("560001 (KARNATAKA"), "{told}");
    for wrong in [
        &["shipping", "show", "nobody"][..],
        &["shipping", "show", slug.as_str(), "012345"],
    ] {
        assert_eq!(haat.run(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn the_questions_of_analysts_are_answered_from_what_stores_say() {
    let (haat, _stores) = home();
    assert_eq!(haat.run(&["shipping", "refresh"]).code, 0);
    let all = documents();
    let guide = all.iter().find(|document| document.path == ANALYSTS).unwrap();
    let blocks = guide.blocks().into_iter();
    let blocks: Vec<_> = blocks
        .filter(|block| block.text.contains("shipping_policies"))
        .collect();
    let questions = blocks
        .iter()
        .filter(|block| block.language == "sh")
        .flat_map(|block| block.text.lines());
    let questions: Vec<&str> = questions
        .filter_map(|line| line.strip_prefix("haat sql \"")?.strip_suffix('"'))
        .collect();
    assert_eq!(questions.len(), 7);
    let answered = questions
        .iter()
        .filter(|question| !haat.sql(question).is_empty())
        .count();
    assert!(answered >= 6, "{answered}");
    if has_program("python3", &["-c", "import deltalake, duckdb, polars"]) {
        let python = blocks.iter().find(|block| block.language == "python").unwrap();
        let script = python.text.replace("haat-home", &haat.path().display().to_string());
        let output = Command::new("python3").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("delivery"));
    }
}

#[test]
fn a_brand_that_is_not_registered_is_wrong_usage() {
    let (haat, _stores) = home();
    let refused = haat.run(&["shipping", "refresh", "--brand", "nobody"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}

/// Returns the terms of all stores without the times at which they were read.
fn terms(haat: &Haat) -> Vec<serde_json::Value> {
    haat.sql("select store, source_url, facts, unknown from shipping_policies order by store")
}

#[test]
fn terms_are_read_again_from_what_stores_answered_without_asking_them() {
    let (haat, stores) = home();
    let crawled = haat.run(&["crawl"]).json();
    let before_terms = crawled["ended_at"].as_str().unwrap().to_owned();
    haat.run(&["shipping", "refresh"]).json();
    let read = terms(&haat);
    drop(stores);
    let again = haat.run(&["backfill", "--all", "--stage", "shipping"]).json();
    let totals = &again["report"]["totals"];
    assert_eq!(
        (&totals["changed"], &totals["brands"]),
        (&0.into(), &12.into()),
        "{again}"
    );
    // The terms are removed from the lake, as if other rules had read them.
    let restored = [
        "lake",
        "restore",
        "--table",
        "shipping_policies",
        "--as-of",
        before_terms.as_str(),
    ];
    assert_eq!(haat.run(&restored).code, 0);
    assert_eq!(terms(&haat), Vec::<serde_json::Value>::new());
    let command = ["backfill", "--all", "--stage", "shipping"];
    let dry = haat.run(&[&command[..], &["--dry-run"]].concat()).json();
    assert_eq!(
        terms(&haat),
        Vec::<serde_json::Value>::new(),
        "a dry run writes nothing"
    );
    let back = haat.run(&command).json();
    let changed = |told: &serde_json::Value| told["report"]["totals"]["changed"].as_u64().unwrap();
    assert_eq!((changed(&dry), changed(&back)), (read.len() as u64, read.len() as u64));
    assert_eq!(terms(&haat), read);
    // A range of days without landed responses changes nothing.
    let none = haat.run(&[&command[..], &["--to", "2020-01-01"]].concat()).json();
    assert_eq!(none["report"]["totals"]["left"], 12, "{none}");
    assert_eq!(terms(&haat), read);
}

#[test]
fn terms_are_read_from_the_policies_that_a_crawl_landed_where_stores_were_never_asked_for_them() {
    let (haat, stores) = home();
    drop(stores);
    let told = haat.run(&["backfill", "--all", "--stage", "shipping"]).json();
    let totals = &told["report"]["totals"];
    assert!(totals["changed"].as_u64().unwrap() >= 6, "{told}");
    assert_eq!(terms(&haat).len() as u64, totals["changed"].as_u64().unwrap());
}
