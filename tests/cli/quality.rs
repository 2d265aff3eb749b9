use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Haat, post};

/// Returns handles and prices of a brand's products in the lake.
fn prices(haat: &Haat, slug: &str) -> BTreeMap<String, i64> {
    let rows = haat.sql(&format!(
        "select handle, price_min_minor from products where brand_slug = '{slug}'"
    ));
    let price = |row: &Value| {
        let minor = &row["price_min_minor"];
        let minor = minor
            .as_i64()
            .unwrap_or_else(|| minor.as_str().unwrap().parse().unwrap());
        (row["handle"].as_str().unwrap().to_owned(), minor)
    };
    rows.iter().map(price).collect()
}

/// Makes the store with the most products multiply every price by a hundred, and returns its slug.
fn misprice(haat: &Haat, stores: &Value, healthy: &Value) -> String {
    let count = |brand: &&Value| brand["now"]["products"].as_u64();
    let slug = healthy["brands"].as_array().unwrap().iter().max_by_key(count).unwrap()["slug"].clone();
    let slug = slug.as_str().unwrap();
    let store = stores["stores"]
        .as_array()
        .unwrap()
        .iter()
        .find(|store| store["slug"] == slug)
        .unwrap();
    let change = format!("{}/emulator/change", store["base_url"].as_str().unwrap());
    let before = prices(haat, slug);
    assert!(before.len() >= 20, "{before:?}");
    for (handle, minor) in &before {
        let reprice = json!({ "kind": "reprice", "item": handle, "price": format!("{minor}.00") });
        assert_eq!(post(&change, &reprice).0, 200, "{handle}");
    }
    slug.to_owned()
}

#[test]
fn a_brand_with_a_decimals_error_is_held_as_it_was_until_it_is_accepted() {
    let haat = Haat::new();
    let (_stores, stores) = haat.with_stores(&["--products", "150", "--stores", "3", "--control"]);
    let first = haat.run(&["crawl", "--release"]).json();
    assert_eq!(first["quality"]["findings"], json!([]), "{first}");
    let healthy = haat.run(&["quality"]).json();
    assert_eq!(
        (&healthy["findings"], &healthy["is_released"]),
        (&json!([]), &json!(true))
    );
    assert_eq!(healthy["totals"]["brands"], 3);

    let slug = misprice(&haat, &stores, &healthy);
    let slug = slug.as_str();
    let damaged = haat.run(&["crawl", "--release"]);
    assert_eq!(damaged.code, 3, "{}", damaged.stdout);
    let release = damaged.document()["release"].clone();
    assert_eq!(
        (&release["outcome"], &release["held"][0]["slug"]),
        (&json!("published"), &json!(slug))
    );
    let reason = release["held"][0]["reasons"][0].as_str().unwrap();
    assert!(
        reason.contains("quality.price_jump_share_max is 0.25") && reason.contains("the value is 1)"),
        "{reason}"
    );
    let found = &damaged.document()["quality"]["findings"][0];
    assert_eq!(
        (&found["threshold"], &found["brand"]),
        (&json!("price_jump_share_max"), &json!(slug))
    );
    let report = damaged.document()["quality"]["report"].as_str().unwrap().to_owned();
    let page = std::fs::read_to_string(report).unwrap();
    assert!(page.contains("held back") && page.contains(slug), "{page}");

    // This command from docs/operations.md shows the reason. A build without a crawl also holds the brand back.
    let looked = haat.run(&["quality", "--html", "quality.html"]);
    assert_eq!(
        (looked.code, &looked.document()["findings"][0]["brand"]),
        (3, &json!(slug)),
        "{}",
        looked.stderr
    );
    assert!(
        std::fs::read_to_string(haat.path().join("quality.html"))
            .unwrap()
            .contains("<svg")
    );
    let again = haat.run(&["release", "build"]);
    assert_eq!((again.code, &again.document()["outcome"]), (3, &json!("unchanged")));
    let listed = haat.run(&["brands", "list"]).json();
    let brands = listed["brands"].as_array().unwrap().iter();
    let held: Vec<_> = brands
        .filter(|brand| !brand["held"].is_null())
        .map(|brand| &brand["slug"])
        .collect();
    assert_eq!(held, [&json!(slug)]);
    let advice = format!("--accept-brand {slug}");
    let doctor = haat.run(&["doctor"]).document();
    let advised = |finding: &Value| finding["advice"].as_str().is_some_and(|text| text.contains(&advice));
    assert!(doctor["findings"].as_array().unwrap().iter().any(advised), "{doctor}");

    let refused = haat.run(&["release", "build", "--accept-brand", "nobody"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let accepted = haat.run(&["release", "build", "--accept-brand", slug]).json();
    assert_eq!(
        (&accepted["outcome"], &accepted["held"]),
        (&json!("published"), &json!([]))
    );
    assert_eq!(haat.run(&["release", "build"]).json()["outcome"], "unchanged");
    assert_eq!(haat.run(&["quality"]).json()["is_released"], true);
}

#[test]
fn thresholds_are_configuration_that_can_be_read_and_is_checked() {
    let haat = Haat::new().with("HAAT_QUALITY__PRICE_JUMP_FACTOR", "9");
    let told = haat.told(&["config", "--explain"]);
    assert!(told.contains("price_jump_factor = 9"), "{told}");
    let refused = Haat::new()
        .with("HAAT_QUALITY__STALE_SHARE_MAX", "1.5")
        .run(&["config"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("quality.stale_share_max must be between 0 and 1, not 1.5"),
        "{}",
        refused.stderr
    );
}
