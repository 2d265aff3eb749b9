use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Haat, files, get, shared_data};

/// Returns the products in a store's files by id, each with its variants' decimal prices. Later files override earlier
/// ones.
fn recorded_products(folder: &std::path::Path) -> BTreeMap<u64, Value> {
    let mut products: BTreeMap<u64, Value> = BTreeMap::new();
    for file in files(folder, "products") {
        let page: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        for product in page["products"].as_array().unwrap() {
            products.insert(product["id"].as_u64().unwrap(), product.clone());
        }
    }
    products
}

#[test]
fn recorded_stores_come_out_of_the_lake_as_they_went_in() {
    let Some(recorded) = shared_data("recorded") else {
        return;
    };
    let haat = Haat::new();
    let (_stores, stores) = haat.with_stores(&["--recorded", recorded.to_str().unwrap()]);
    let first = haat.run(&["crawl", "--release"]).json();
    let of_files: BTreeMap<String, BTreeMap<u64, Value>> = stores["stores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|store| {
            let name = store["slug"].as_str().unwrap().to_owned();
            let products = recorded_products(&recorded.join(&name));
            (name, products)
        })
        .collect();
    let products: usize = of_files.values().map(BTreeMap::len).sum();
    let variants: usize = of_files
        .values()
        .flat_map(BTreeMap::values)
        .map(|product| product["variants"].as_array().unwrap().len())
        .sum();
    assert!(products > 800, "{products}");

    // The counts are compared by SQL over the lake.
    let counts = haat.sql("select (select count(*) from products) products, (select count(*) from variants) variants");
    assert_eq!(counts[0]["products"], products, "{first}");
    assert_eq!(counts[0]["variants"], variants);

    // Prices are exact to the minor unit. Every recorded store has a currency with two decimals.
    let stated: BTreeMap<u64, i64> = of_files
        .values()
        .flat_map(BTreeMap::values)
        .flat_map(|product| product["variants"].as_array().unwrap())
        .map(|variant| {
            let (whole, cents) = variant["price"].as_str().unwrap().split_once('.').unwrap();
            (
                variant["id"].as_u64().unwrap(),
                whole.parse::<i64>().unwrap() * 100 + cents.parse::<i64>().unwrap(),
            )
        })
        .collect();
    let read = haat.sql("select variant_id, price_minor from variants");
    for row in &read {
        let id = row["variant_id"]
            .as_u64()
            .unwrap_or_else(|| row["variant_id"].as_str().unwrap().parse().unwrap());
        assert_eq!(row["price_minor"], stated[&id], "variant {id}");
    }

    // A second crawl finds no changes: no commit on any table, the same ids, the same release.
    let ids = haat.sql("select product_id, product_uid from products order by 1");
    let log = files(&haat.path().join("lake"), "_delta_log");
    let second = haat.run(&["crawl", "--release"]).json();
    assert_eq!(files(&haat.path().join("lake"), "_delta_log"), log, "{second}");
    assert_eq!(haat.sql("select product_id, product_uid from products order by 1"), ids);

    // The server agrees with the lake.
    let (_server, address) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let base = address["address"].as_str().unwrap();
    let (status, stats) = get(&format!("{base}/v1/stats"));
    assert_eq!(
        (status, &stats["data"]["products"], &stats["data"]["variants"]),
        (200, &products.into(), &variants.into())
    );
    let id = ids[0]["product_id"].as_str().unwrap();
    let (status, product) = get(&format!("{base}/v1/products/{id}"));
    assert_eq!((status, &product["data"]["product_uid"]), (200, &ids[0]["product_uid"]));
}
