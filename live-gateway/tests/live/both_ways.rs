use live_gateway::{GatewayConfig, Way};

use crate::support::{Market, Options, generated, offers, patient, recorded, stored_offers};

/// Checks that this interface verifies every variant price of every store, exactly in minor units.
async fn verifies_everything(way: Way, source: &'static str, config: emulator::EmulatorConfig) -> (usize, usize) {
    let options = Options {
        gateway: GatewayConfig { way, ..patient() },
        ..Options::default()
    };
    let market = Market::open(config, options).await;
    let (mut products, mut variants) = (0, 0);
    for store in 0..market.stores.stores().len() {
        for idents in market.idents(store).to_vec().chunks(20) {
            for (ident, entry) in idents.iter().zip(market.prices(idents).await) {
                let stored = market.stored(ident);
                assert_eq!(entry["verified"], true, "{}: {entry}", stored.title);
                assert_eq!(entry["source"], source);
                assert_eq!(offers(&entry), stored_offers(stored), "{entry}");
                assert_eq!(entry["changes"]["variants"], serde_json::json!([]), "{entry}");
                assert_eq!(entry["currency"], stored.currency.as_str());
                products += 1;
                variants += stored.variants.len();
            }
        }
    }
    (products, variants)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recorded_variant_is_verified_by_graphql_exact_to_the_minor_unit() {
    let Some(config) = recorded() else { return };
    let counted = verifies_everything(Way::Graphql, "graphql", config).await;
    println!("verified by GraphQL: {counted:?} products and variants");
    assert!(counted.1 > counted.0 && counted.0 > 500, "{counted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recorded_variant_is_verified_by_js_exact_to_the_minor_unit() {
    let Some(config) = recorded() else { return };
    let counted = verifies_everything(Way::Js, "js", config).await;
    println!("verified by .js: {counted:?} products and variants");
    assert!(counted.1 > counted.0 && counted.0 > 500, "{counted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_stores_of_every_currency_are_verified_by_graphql() {
    let counted = verifies_everything(Way::Auto, "graphql", generated(600, 24)).await;
    assert_eq!(counted.0, 600);
}
