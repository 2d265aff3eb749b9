//! Runs recorded answers of real stores through the whole pipeline.

use std::collections::BTreeMap;
use std::path::PathBuf;

use data_model::{CurrencyCode, Money};
use serde_json::Value;

use crate::support::{Rig, Shop};

const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/recorded");

/// Returns the pages of each recorded store, in order.
fn recorded() -> BTreeMap<String, Vec<String>> {
    let mut stores: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for store in std::fs::read_dir(DIR)
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().is_dir())
    {
        for file in std::fs::read_dir(store.path()).unwrap().map(Result::unwrap) {
            let name = file.file_name().into_string().unwrap();
            if name.starts_with("products") && name.ends_with(".json") {
                stores
                    .entry(store.file_name().into_string().unwrap())
                    .or_default()
                    .push(file.path());
            }
        }
    }
    let read = |mut files: Vec<PathBuf>| {
        files.sort_by_key(|file| (file.as_os_str().len(), file.clone()));
        files
            .iter()
            .map(|file| std::fs::read_to_string(file).unwrap())
            .collect()
    };
    stores.into_iter().map(|(name, files)| (name, read(files))).collect()
}

/// Returns the prices of each product's variants in the files themselves. The latest page wins.
fn stated(pages: &[String], currency: CurrencyCode) -> BTreeMap<u64, BTreeMap<u64, i64>> {
    let mut products = BTreeMap::new();
    for page in pages {
        let page: Value = serde_json::from_str(page).unwrap();
        for product in page["products"].as_array().unwrap() {
            let variants = product["variants"].as_array().unwrap().iter().map(|variant| {
                let price = Money::parse_decimal(variant["price"].as_str().unwrap(), currency).unwrap();
                (variant["id"].as_u64().unwrap(), price.minor())
            });
            products.insert(product["id"].as_u64().unwrap(), variants.collect());
        }
    }
    products
}

#[expect(
    clippy::disallowed_methods,
    reason = "on the build machine the recorded stores must be there"
)]
fn is_build_machine() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

#[tokio::test]
async fn recorded_stores_are_in_the_lake_product_by_product_with_their_exact_prices() {
    if !std::path::Path::new(DIR).is_dir() {
        // The recordings are not part of the project, and nothing installs them, so that a plain clone skips this test.
        let beside = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
        assert!(
            !is_build_machine() || !beside.exists(),
            "the recorded stores are needed here: {DIR}"
        );
        println!("skipped: no recorded stores at {DIR}");
        return;
    }
    let stores = recorded();
    assert!(!stores.is_empty());
    let rig = Rig::with([]).await;
    for (name, pages) in &stores {
        rig.street.open(
            name,
            Shop {
                pages: pages.clone(),
                currency: Some("INR"),
                ..Shop::default()
            },
        );
        rig.register(name).await;
    }
    let report = rig.run().await;
    assert_eq!(report.totals.changed, stores.len() as u64, "{report:?}");
    let currency = "INR".parse().unwrap();
    for (name, pages) in &stores {
        let stated = stated(pages, currency);
        let in_lake: BTreeMap<u64, BTreeMap<u64, i64>> = rig
            .products(name)
            .await
            .into_iter()
            .map(|product| {
                let variants = product
                    .variants
                    .iter()
                    .map(|variant| (variant.id.0, variant.price_minor));
                (product.key.platform_id, variants.collect())
            })
            .collect();
        assert_eq!(in_lake, stated, "{name}");
    }
    assert_eq!(report.totals.quarantined, 0);
    let versions = rig.versions().await;
    let second = rig.run().await;
    assert_eq!((second.totals.unchanged, second.commits), (stores.len() as u64, 0));
    assert_eq!(rig.versions().await, versions);
}
