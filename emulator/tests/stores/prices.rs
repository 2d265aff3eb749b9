//! Tests that every view of a store states the same prices.

use std::collections::HashMap;

use serde_json::json;

use super::recorded::recordings;
use super::*;

const PRICES: &str = "query ($ids: [ID!]!) @inContext(country: IN) {
  nodes(ids: $ids) { ... on ProductVariant { id availableForSale price { amount currencyCode } product { id } } }
}";

/// Returns a decimal text without redundant zeros.
fn number(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

fn gid(kind: &str, id: &Value) -> String {
    format!("gid://shopify/{kind}/{id}")
}

/// Compares every variant in GraphQL with the listing, and returns the number of variants.
async fn compare(store: &StoreAddress) -> usize {
    let products = crawl(store, 250).await;
    // Recordings contain some products twice. The first record is used, as on the product's own page.
    let mut listed: HashMap<String, (String, bool, String)> = HashMap::new();
    let mut ids = Vec::new();
    for product in &products {
        for variant in product["variants"].as_array().unwrap() {
            let id = gid("ProductVariant", &variant["id"]);
            let price = number(variant["price"].as_str().unwrap());
            let available = variant["available"].as_bool().unwrap();
            ids.push(id.clone());
            listed
                .entry(id)
                .or_insert((price, available, gid("Product", &product["id"])));
        }
    }
    ids.dedup();
    for ids in ids.chunks(250) {
        let answer = query(store, PRICES, json!({ "ids": ids })).await.json();
        assert!(answer.get("errors").is_none(), "{answer}");
        let nodes = answer["data"]["nodes"].as_array().unwrap();
        assert_eq!(nodes.len(), ids.len());
        for (id, node) in ids.iter().zip(nodes) {
            let amount = node["price"]["amount"]
                .as_str()
                .unwrap_or_else(|| panic!("{}: {id}: {node}", store.slug));
            assert!(
                amount.contains('.') && (amount.ends_with(".0") || !amount.ends_with('0')),
                "{amount}"
            );
            assert_eq!(node["price"]["currencyCode"], store.currency.as_str());
            let told = (
                number(amount),
                node["availableForSale"].as_bool().unwrap(),
                node["product"]["id"].as_str().unwrap().to_owned(),
            );
            assert_eq!((id, &told), (id, &listed[id]), "{}", store.slug);
        }
    }
    listed.len()
}

#[tokio::test]
async fn every_generated_price_is_the_same_by_graphql() {
    let running = market(600, 40).await;
    let stores = running.stores();
    let currencies: std::collections::HashSet<&str> = stores.iter().map(|store| store.currency.as_str()).collect();
    assert!(currencies.len() > 2, "{currencies:?}");
    let mut variants = 0;
    for store in &stores {
        variants += compare(store).await;
    }
    running.advance(5);
    for store in stores.iter().take(8) {
        variants += compare(store).await;
    }
    assert!(variants > 1_000, "{variants}");
}

#[tokio::test]
async fn every_recorded_price_is_the_same_by_graphql() {
    let Some(folder) = recordings("recorded") else { return };
    let running = Emulator::start(EmulatorConfig::new(Source::Recorded(folder)))
        .await
        .unwrap();
    let stores = running.stores();
    let mut variants = 0;
    for store in &stores {
        variants += compare(store).await;
    }
    println!("{variants} variants of {} recorded stores agree", stores.len());
    assert!(variants > 3_000, "{variants}");
    running.advance(3);
    for store in stores.iter().take(4) {
        compare(store).await;
    }
}

#[tokio::test]
async fn the_ajax_view_counts_in_hundredths_of_every_currency_whatever_country_asks() {
    let running = market(400, 160).await;
    for currency in ["JPY", "KWD", "INR"] {
        let store = running.stores().into_iter().find(|store| store.currency == currency);
        let store = store.unwrap_or_else(|| panic!("no store charges {currency}"));
        for product in crawl(&store, 250).await {
            let handle = product["handle"].as_str().unwrap();
            let script = get(&store, &format!("/products/{handle}.js")).await.json();
            let elsewhere = get(&store, &format!("/products/{handle}.js?country=US&currency=USD"))
                .await
                .json();
            assert_eq!(script, elsewhere);
            for (variant, told) in product["variants"]
                .as_array()
                .unwrap()
                .iter()
                .zip(script["variants"].as_array().unwrap())
            {
                let price: f64 = variant["price"].as_str().unwrap().parse().unwrap();
                assert_eq!(
                    told["price"].as_f64().unwrap(),
                    (price * 100.0).round(),
                    "{currency} {}",
                    variant["price"]
                );
            }
        }
    }
}
