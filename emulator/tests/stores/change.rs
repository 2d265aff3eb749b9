use std::collections::{BTreeMap, BTreeSet};

use super::*;
use emulator::Drift;

fn by_id(products: &[Value]) -> BTreeMap<u64, Value> {
    products
        .iter()
        .map(|product| (product["id"].as_u64().unwrap(), product.clone()))
        .collect()
}

#[tokio::test]
async fn an_epoch_moves_prices_stock_and_products_and_can_be_gone_back_to() {
    let (running, store) = store(400).await;
    let before = by_id(&crawl(&store, 250).await);
    running.advance(3);
    let after = by_id(&crawl(&store, 250).await);
    assert_eq!(after.len(), 400);
    let gone = before.keys().filter(|id| !after.contains_key(id)).count();
    assert!((3..40).contains(&gone), "{gone} gone");
    let moved = |key: &str| {
        let pairs = before
            .iter()
            .filter_map(|(id, product)| Some((product, after.get(id)?)));
        pairs
            .filter(|(old, new)| old["variants"][0][key] != new["variants"][0][key])
            .count()
    };
    assert!(moved("price") > 10 && moved("available") > 0);
    running.advance(0);
    assert_eq!(by_id(&crawl(&store, 250).await), before);
}

#[tokio::test]
async fn stores_that_do_not_change_in_an_epoch_keep_their_validators() {
    let drift = Drift {
        stores: 100,
        ..Drift::default()
    };
    let source = Source::Generated {
        products: 2_000,
        stores: 100,
        seed: 9,
    };
    let running = Emulator::start(EmulatorConfig {
        drift,
        ..EmulatorConfig::new(source)
    })
    .await
    .unwrap();
    let stores = running.stores();
    let mut etags = Vec::new();
    for store in &stores {
        etags.push(get(store, "/products.json?limit=250").await.header("etag").to_owned());
    }
    running.advance(1);
    let mut changed = BTreeSet::new();
    for (store, etag) in stores.iter().zip(&etags) {
        if get_with(store, "/products.json?limit=250", &[("if-none-match", etag)])
            .await
            .status
            == 200
        {
            changed.insert(&store.slug);
        }
    }
    assert!((1..25).contains(&changed.len()), "{changed:?}");
    running.advance_store(&stores[0].slug, 200).unwrap();
    assert_ne!(
        get(&stores[0], "/products.json?limit=250").await.header("etag"),
        etags[0]
    );
}
