use std::collections::{HashMap, HashSet};

use super::*;
use serde_json::Value;

fn stores(products: u64, stores: u32, seed: u64) -> Vec<GeneratedCatalogue> {
    let mut taken = HashSet::new();
    let mut offset = 0;
    split(products, stores)
        .into_iter()
        .zip(0..)
        .map(|(size, index)| {
            let persona = Persona::draw(seed, index, &mut taken);
            offset += size;
            GeneratedCatalogue::new(
                persona,
                size,
                offset - size,
                products,
                Drift::default(),
                "http://127.1.0.1:80",
            )
        })
        .collect()
}

fn record(store: &GeneratedCatalogue, slot: u64, epoch: u64) -> Value {
    let mut out = Vec::new();
    store.push_record(slot, epoch, &mut Scratch::default(), &mut out);
    serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)))
}

#[test]
fn ids_and_handles_are_unique_and_found_again() {
    let (mut products, mut variants) = (HashSet::new(), HashSet::new());
    for store in stores(3_000, 40, 11) {
        let mut handles = HashSet::new();
        for slot in 0..store.len() {
            let product = record(&store, slot, 0);
            assert!(products.insert(product["id"].as_u64().unwrap()));
            for variant in product["variants"].as_array().unwrap() {
                assert!(variants.insert(variant["id"].as_u64().unwrap()));
                assert_eq!(variant["product_id"], product["id"]);
            }
            let handle = product["handle"].as_str().unwrap().to_owned();
            assert_eq!(store.find(&handle, 0), Some(slot));
            assert!(handles.insert(handle));
        }
    }
    assert_eq!(products.len(), 3_000);
}

#[test]
fn a_product_depends_on_its_place_alone() {
    let (one, two) = (stores(500, 5, 3), stores(500, 5, 3));
    assert_eq!(record(&one[2], 7, 4), record(&two[2], 7, 4));
    assert_ne!(record(&one[2], 7, 0), record(&stores(500, 5, 4)[2], 7, 0));
}

#[test]
fn records_differ_from_epoch_to_epoch_exactly_where_fingerprints_do() {
    let store = &stores(400, 1, 5)[0];
    let mut changed: HashMap<&str, u32> = HashMap::new();
    for slot in 0..store.len() {
        for epoch in 1..6 {
            let (before, after) = (record(store, slot, epoch - 1), record(store, slot, epoch));
            let same_print = store.fingerprint(slot, epoch - 1) == store.fingerprint(slot, epoch);
            assert_eq!(before == after, same_print, "{slot} at {epoch}");
            if before["id"] != after["id"] {
                *changed.entry("replaced").or_default() += 1;
            } else if before["variants"][0]["price"] != after["variants"][0]["price"] {
                *changed.entry("repriced").or_default() += 1;
            } else if before != after {
                *changed.entry("other").or_default() += 1;
            }
        }
    }
    // There are 2,000 chances: 1% replaced, 5% repriced, 6% restocked or touched.
    assert!((5..60).contains(&changed["replaced"]), "{changed:?}");
    assert!((50..150).contains(&changed["repriced"]), "{changed:?}");
    assert!((60..200).contains(&changed["other"]), "{changed:?}");
}

#[test]
fn messiness_is_what_recorded_stores_show() {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut count = |name, yes: bool| *counts.entry(name).or_default() += usize::from(yes);
    for store in stores(4_000, 60, 1) {
        for slot in 0..store.len() {
            let product = record(&store, slot, 0);
            let first = &product["variants"][0];
            let amount = |key: &str| first[key].as_str().map(|text| text.parse::<f64>().unwrap());
            count("null body", product["body_html"].is_null());
            count("blank body", product["body_html"] == "");
            count("blank type", product["product_type"] == "");
            count("no images", product["images"].as_array().unwrap().is_empty());
            count("default title", first["title"] == "Default Title");
            count("null sku", first["sku"].is_null());
            count("null compare", first["compare_at_price"].is_null());
            count("zero compare", amount("compare_at_price") == Some(0.0));
            count("marked down", amount("compare_at_price") > amount("price"));
            count(
                "sold out",
                product["variants"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|it| it["available"] == false),
            );
            count("non-ascii title", !product["title"].as_str().unwrap().is_ascii());
        }
    }
    let permille = |name| counts[name] * 1000 / 4_000;
    for (name, low, high) in [
        ("null body", 10, 30),
        ("blank body", 90, 150),
        ("blank type", 250, 480),
        ("no images", 10, 35),
        ("default title", 380, 600),
        ("null sku", 140, 220),
        ("null compare", 720, 820),
        ("zero compare", 25, 60),
        ("marked down", 80, 150),
        ("sold out", 80, 200),
        ("non-ascii title", 150, 400),
    ] {
        assert!(
            (low..high).contains(&permille(name)),
            "{name}: {} in a thousand",
            permille(name)
        );
    }
}

#[test]
fn one_product_as_it_is_listed() {
    let store = &stores(40, 3, 42)[0];
    let slot = (0..store.len())
        .find(|slot| record(store, *slot, 0)["variants"].as_array().unwrap().len() == 2)
        .unwrap();
    let mut out = Vec::new();
    store.push_record(slot, 0, &mut Scratch::default(), &mut out);
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"{"id":6196290540730,"title":"Aria Classic Cold Brew Bags","handle":"aria-classic-cold-brew-bags-5","body_html":"\u003cp\u003eWillow Beans began with one idea: do less, but do it well. Cold Brew Bags, made that way – nothing more.\u003c\/p\u003e\n\u003cul data-mce-fragment=\"1\"\u003e\n\u003cli\u003e100% Arabica, single estate\u003c\/li\u003e\n\u003cli\u003eRoasted to order, shipped within 24 hours of roasting\u003c\/li\u003e\n\u003cli\u003eAltitude: 1,100–1,400 m above sea level\u003c\/li\u003e\n\u003c\/ul\u003e\n\u003cp\u003e\u003cem\u003eShips in 2–4 working days. Cash on delivery available.\u003c\/em\u003e\u003c\/p\u003e","published_at":"2025-12-20T15:45:55+05:30","created_at":"2025-12-20T15:40:44+05:30","updated_at":"2026-08-31T17:19:46+05:30","vendor":"Willow Beans","product_type":"Cold Brew","tags":["Cold Brew","Classic","gifting","handmade","wh_BLR","bestseller"],"variants":[{"id":52718735359530,"title":"Pack of 2","option1":"Pack of 2","option2":null,"option3":null,"sku":"WIL-540730-1","requires_shipping":true,"taxable":true,"featured_image":null,"available":false,"price":"649.00","grams":1700,"compare_at_price":null,"position":1,"product_id":6196290540730,"created_at":"2025-12-20T15:40:44+05:30","updated_at":"2026-08-31T17:19:46+05:30"},{"id":63462920289989,"title":"Pack of 4","option1":"Pack of 4","option2":null,"option3":null,"sku":"WIL-540730-2","requires_shipping":true,"taxable":true,"featured_image":null,"available":true,"price":"1136.00","grams":1700,"compare_at_price":null,"position":2,"product_id":6196290540730,"created_at":"2025-12-20T15:40:44+05:30","updated_at":"2026-08-31T17:19:46+05:30"}],"images":[{"id":28407412824342,"created_at":"2025-12-20T15:41:44+05:30","position":1,"updated_at":"2025-12-20T15:41:46+05:30","product_id":6196290540730,"variant_ids":[],"src":"http:\/\/127.1.0.1:80\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_1.svg?v=1766245304","width":1200,"height":1200},{"id":23223638262438,"created_at":"2025-12-20T15:41:44+05:30","position":2,"updated_at":"2025-12-20T15:41:46+05:30","product_id":6196290540730,"variant_ids":[],"src":"http:\/\/127.1.0.1:80\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_2.svg?v=1766245304","width":1200,"height":1200}],"options":[{"name":"Pack","position":1,"values":["Pack of 2","Pack of 4"]}]}"#);
}
