//! Tests products with more variants than a listing has, from the store to the answer.

use serde_json::{Value, json};

use crate::support::{Haat, get};

/// Returns a product with 600 variants. One after the first 250 is the cheapest and the only one in stock.
fn mug() -> Value {
    let values = |count: usize| (1..=count).map(|nth| nth.to_string()).collect::<Vec<_>>();
    let variants = (0..600_usize).map(|nth| {
        let (size, glaze) = ((nth / 20 + 1).to_string(), (nth % 20 + 1).to_string());
        let price = if nth == 577 { "199.00" } else { "499.00" };
        json!({ "id": 1_000 + nth, "title": format!("{size} / {glaze}"), "option1": size, "option2": glaze,
            "price": price, "available": nth == 577, "position": nth + 1 })
    });
    json!({ "id": 7, "title": "Mug", "handle": "mug", "body_html": "", "product_type": "Mugs", "tags": [], "images": [],
        "options": [{ "name": "Number", "values": values(30) }, { "name": "Glaze", "values": values(20) }],
        "updated_at": "2026-09-01T00:00:00Z", "variants": variants.collect::<Vec<_>>() })
}

#[test]
fn variants_that_a_listing_omits_reach_the_answers_and_are_unknown_until_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("potter");
    std::fs::create_dir(&store).unwrap();
    std::fs::write(store.join("products.json"), json!({ "products": [mug()] }).to_string()).unwrap();
    let mut haat = Haat::new();
    let _stores = haat.with_stores(&["--recorded", folder.path().to_str().unwrap(), "--currency", "INR"]);
    for (requests, listed, price_min, in_stock) in [("0", 250, 49_900, false), ("8", 600, 19_900, true)] {
        haat = haat.with("HAAT_REFRESH__VARIANT_REQUESTS_MAX", requests);
        let crawled = haat.run(&["crawl", "--release"]).json();
        let variants = haat.sql("select product_id, variant_id from variants");
        assert_eq!(variants.len(), listed, "{crawled}");
        let (_server, up) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
        let id = variants[0]["product_id"].as_str().unwrap();
        let (status, product) = get(&format!("{}/v1/products/{id}", up["address"].as_str().unwrap()));
        let told = &product["data"];
        assert_eq!(
            (
                status,
                &told["variants_complete"],
                &told["price_min_minor"],
                &told["in_stock"]
            ),
            (200, &json!(listed == 600), &json!(price_min), &json!(in_stock)),
            "{told}"
        );
    }
    let again = haat.run(&["crawl"]).json();
    assert_eq!(again["commits"], 0, "{again}");
}
