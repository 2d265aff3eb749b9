//! Tests of products that several brands sell, from barcodes on stores' pages to API responses and tables.

use serde_json::Value;

use crate::support::{Haat, get};

#[test]
fn a_barcode_that_stores_show_leads_from_a_product_to_what_another_brand_calls_otherwise() {
    let haat = Haat::new().with("HAAT_REFRESH__PRODUCT_PAGES_MAX", "500");
    let (_stores, _) = haat.with_stores(&["--products", "240", "--stores", "6", "--resellers", "2", "--seed", "11"]);
    assert_eq!(haat.run(&["crawl", "--release"]).code, 0);
    let rows = haat.sql(
        "select distinct one.product_id as id, one.brand_slug as brand, one.barcode, other.product_id as other_id, o.title as other_title \
         from variants one join variants other on one.barcode = other.barcode and one.store <> other.store \
         join products p on p.product_id = one.product_id join products o on o.product_id = other.product_id \
         where p.title <> o.title and p.vendor = o.vendor",
    );
    let released = haat
        .run(&[
            "sql",
            "--release",
            "select product_id, other_product_id, basis from product_matches",
            "--limit",
            "1000000",
        ])
        .json();
    let of_release = |one: &Value, basis: &str| {
        let pair = |row: &&Value| row["product_id"] == one["id"] && row["other_product_id"] == one["other_id"];
        released
            .as_array()
            .unwrap()
            .iter()
            .any(|row| pair(&row) && row["basis"] == basis)
    };
    let found: Vec<&Value> = rows.iter().filter(|one| of_release(one, "barcode")).collect();
    assert!(
        found.len() > 10 && found.len() * 10 > rows.len() * 9,
        "{} of {}",
        found.len(),
        rows.len()
    );
    let (_server, up) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let address = up["address"].as_str().unwrap();
    for one in found.iter().take(5) {
        let (status, body) = get(&format!("{address}/v1/products/{}/offers", one["id"].as_str().unwrap()));
        assert_eq!(status, 200, "{body}");
        let offers = body["data"].as_array().unwrap();
        let offer = offers.iter().find(|offer| offer["id"] == one["other_id"]).unwrap();
        assert_eq!(
            (&offer["title"], &offer["basis"]),
            (&one["other_title"], &"barcode".into())
        );
        assert_eq!(offer["reasons"][0]["code"], "barcode");
        assert!(offer["confidence"].as_f64().unwrap() >= 0.95, "{offer}");
    }
    // The release contains the same barcodes and sizes as the lake.
    let told = "select product_id, variant_id, barcode, size_normalized, size_system, size_ordinal from variants order by 1, 2";
    let released = haat.run(&["sql", "--release", told, "--limit", "1000000"]).json();
    assert_eq!(released.as_array().unwrap(), &haat.sql(told));
}
