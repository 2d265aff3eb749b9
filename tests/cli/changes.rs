//! Test of a copy of the catalogue that follows the products added, changed and removed between two crawls.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{Haat, get};

/// Arguments for the stores of two crawls, between which some products are removed.
const SOURCE: [&str; 6] = ["--products", "300", "--stores", "3", "--seed", "3"];

/// Reads all pages of changes. Returns ids by event, and the removed ones by kind.
fn changes(base: &str, key: &str, query: &str) -> (BTreeSet<String>, BTreeMap<String, BTreeSet<String>>) {
    let (mut there, mut gone) = (BTreeSet::new(), BTreeMap::<String, BTreeSet<String>>::new());
    let mut cursor = String::new();
    loop {
        let url = format!("{base}/v1/changes?{query}&limit=7{cursor}");
        let page = asked(&url, key);
        let (products, went) = (page["data"].as_array().unwrap(), page["gone"].as_array().unwrap());
        assert!(products.len() + went.len() <= 7);
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        for product in products {
            assert!(there.insert(id(&product["product"]["id"])), "{product} twice");
        }
        for product in went {
            let of_kind = gone.entry(id(&product["kind"])).or_default();
            assert!(of_kind.insert(id(&product["id"])), "{product} twice");
        }
        match page["provenance"]["page"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return (there, gone),
        }
    }
}

fn asked(url: &str, key: &str) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(async {
        let answer = reqwest::Client::new()
            .get(url)
            .header("x-service-key", key)
            .send()
            .await;
        let answer = answer.unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{url}");
        serde_json::from_str(&answer.text().await.unwrap()).unwrap()
    })
}

#[test]
fn products_that_left_the_market_are_told_with_the_way_in_which_they_went() {
    let haat = Haat::new();
    let (first, _) = haat.with_stores(&SOURCE);
    haat.run(&["crawl"]).json();
    let ids = |haat: &Haat| -> BTreeMap<String, String> {
        let rows = haat.sql("select product_id, brand_slug from products");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        rows.iter()
            .map(|row| (text(&row["product_id"]), text(&row["brand_slug"])))
            .collect()
    };
    let before = ids(&haat);
    drop(first);
    let (_stores, _) = haat.with_stores(&[SOURCE.as_slice(), &["--epoch", "6"]].concat());
    haat.run(&["crawl"]).json();
    let between = ids(&haat);
    let removed = between.values().next().unwrap().clone();
    haat.run(&["brands", "remove", &removed]).json();
    haat.run(&["release", "build"]).json();
    let after = ids(&haat);

    let key = haat.run(&["keys", "create", "copy", "--plan", "granted"]).json();
    let key = key["key"].as_str().unwrap();
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let base = served["address"].as_str().unwrap();
    let (there, gone) = changes(base, key, "since=2020-01-01T00:00:00Z");
    assert_eq!(there, after.keys().cloned().collect());
    let left = |from: &BTreeMap<String, String>, to: &BTreeMap<String, String>| -> BTreeSet<String> {
        from.keys().filter(|id| !to.contains_key(*id)).cloned().collect()
    };
    let delisted: BTreeSet<String> = left(&before, &between);
    assert!(!delisted.is_empty());
    assert_eq!(gone["delisted"], delisted);
    assert_eq!(gone["brand_removed"], left(&between, &after));
    for id in gone.values().flatten() {
        assert_eq!(get(&format!("{base}/v1/products/{id}")).0, 404, "{id}");
    }
    let (_, later) = changes(base, key, "since=2200-01-01T00:00:00Z");
    assert!(later.is_empty(), "{later:?}");
    let other = after.values().next().unwrap();
    let (_, of_brand) = changes(base, key, &format!("since=2020-01-01T00:00:00Z&brand={other}"));
    let own = delisted
        .iter()
        .filter(|id| before[*id] == *other)
        .cloned()
        .collect::<BTreeSet<_>>();
    assert_eq!(of_brand.get("delisted").cloned().unwrap_or_default(), own);
}
