//! Tests of stores with delivery rules by pincode: the stores are probed and released, and the answers must match their
//! rules.

use emulator::{ZoneKind, ZoneRules};
use serde_json::{Value, json};

use crate::support::{Haat, get, post};

#[test]
fn what_stores_ask_for_delivery_is_probed_released_and_answered() {
    let haat = Haat::new();
    let (_stores, emulated) = haat.with_stores(&["--products", "80", "--stores", "4", "--seed", "5", "--control"]);
    let rules = ZoneRules {
        kind: ZoneKind::Islands,
        seed: 2,
    };
    for store in emulated["stores"].as_array().unwrap() {
        let change = json!({ "kind": "deliver-by", "rules": rules });
        let url = format!("{}/emulator/change", store["base_url"].as_str().unwrap());
        assert_eq!(post(&url, &change).0, 200);
    }
    haat.run(&["crawl"]).json();
    let dry = haat.run(&["delivery", "probe", "--dry-run", "--budget", "150"]).json();
    assert!(dry["asked"].as_u64().unwrap() > 0, "{dry}");
    let told = haat.run(&["delivery", "probe", "--budget", "150"]).json();
    let brands = told["brands"].as_array().unwrap();
    let complete: Vec<&Value> = brands.iter().filter(|brand| brand["outcome"] == "complete").collect();
    assert!(!complete.is_empty(), "{told}");
    assert!(
        brands.iter().all(|brand| brand["probes"].as_u64().unwrap() < 150),
        "{told}"
    );

    haat.run(&["release", "build"]).json();
    let slug = complete[0]["brand_slug"].as_str().unwrap();
    let statement = format!("SELECT product_id FROM products WHERE brand_slug = '{slug}' LIMIT 1");
    let product = haat.sql(&statement)[0]["product_id"].as_str().unwrap().to_owned();
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let base = served["address"].as_str().unwrap();
    for (pincode, confidence) in [
        ("560001", "high"),
        ("560100", "high"),
        ("571101", "low"),
        ("744101", "low"),
    ] {
        let (status, answer) = get(&format!("{base}/v1/shipping?product={product}&pincode={pincode}"));
        assert_eq!(status, 200, "{answer}");
        let delivery = &answer["data"]["delivery"];
        let quotes = rules.quotes(pincode.parse().unwrap(), 100_000, 100);
        let days = quotes.first().map(|quote| quote.days_max);
        assert_eq!(delivery["days_max"], json!(days), "{pincode}: {answer}");
        assert_ne!(delivery["basis"], "unknown", "{pincode}: {answer}");
        assert_eq!(
            delivery["serviceable"],
            json!(!quotes.is_empty()),
            "{pincode}: {answer}"
        );
        let source = &answer["data"]["sources"]["serviceable"];
        assert_eq!(source["confidence"], confidence, "{pincode}: {answer}");
    }
    let (_, stats) = get(&format!("{base}/v1/stats"));
    let covered = stats["data"]["pincodes_covered"].as_u64().unwrap();
    assert!((15_000..=19_586).contains(&covered), "{covered}");
    // The areas of a zone connect it with its pincodes.
    let pincodes = haat.told(&["delivery", "pincodes"]);
    assert_eq!(pincodes.lines().count(), 19_587);
    let zones = haat.sql("SELECT count(*) AS zones, sum(probes) AS probes FROM delivery_zones");
    assert!(zones[0]["zones"].as_u64().unwrap() > 0, "{zones:?}");
}
