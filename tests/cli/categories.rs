//! Tests of categories that stores state themselves, from stores to answers.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::{Haat, get, post};

const REQUESTS: &str = "HAAT_REFRESH__CATEGORY_REQUESTS_MAX";

fn categories(haat: &Haat) -> BTreeMap<String, (String, Option<u64>)> {
    let rows = haat.sql("select product_id, brand_slug, category_id from products");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let row = |row: &serde_json::Value| {
        let filed = (text(&row["brand_slug"]), row["category_id"].as_u64());
        (text(&row["product_id"]), filed)
    };
    rows.iter().map(row).collect()
}

#[test]
fn stated_categories_reach_the_answers_unless_a_store_states_one_for_all_its_goods() {
    let haat = Haat::new().with(REQUESTS, "0");
    let (_stores, told) = haat.with_stores(&[
        "--products",
        "400",
        "--stores",
        "5",
        "--seed",
        "7",
        "--categories",
        "--control",
    ]);
    assert_eq!(haat.run(&["crawl"]).code, 0);
    let by_rules = categories(&haat);

    let liar = &told["stores"][1];
    let path = "Apparel & Accessories > Clothing > Clothing Tops > T-Shirts";
    let lie = json!({ "kind": "faults", "rules": [{ "fault": { "kind": "one-category", "path": path } }] });
    let change = format!("{}/emulator/change", liar["base_url"].as_str().unwrap());
    assert_eq!(post(&change, &lie).0, 200);
    let haat = haat.with(REQUESTS, "8");
    assert_eq!(haat.run(&["crawl"]).code, 0);
    let stated = categories(&haat);
    assert_eq!(stated.len(), by_rules.len());
    let moved: Vec<_> = stated.iter().filter(|(id, filed)| by_rules[*id] != **filed).collect();
    assert!(!moved.is_empty());
    let liar = liar["slug"].as_str().unwrap();
    assert!(moved.iter().all(|(_, (brand, _))| brand != liar), "{moved:?}");

    assert_eq!(haat.run(&["release", "build"]).code, 0);
    let (_server, up) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    for (id, (_, category)) in moved {
        let (status, product) = get(&format!("{}/v1/products/{id}", up["address"].as_str().unwrap()));
        let shown = product["data"]["attributes"]["category"]["id"].as_u64();
        assert_eq!((status, shown), (200, *category), "{product}");
    }
    let again = haat.run(&["crawl"]).json();
    assert_eq!(again["commits"], 0, "{again}");
}
