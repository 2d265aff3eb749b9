//! Test that products have the codes that were tested at their store, before a cart exists.

use serde_json::json;

use crate::mcp::market_of;
use crate::support::{Haat, files, get};

#[test]
fn products_tell_codes_that_worked_at_their_store_to_whoever_looks_without_a_key() {
    let stores = ["--products", "60", "--stores", "4", "--seed", "5"];
    let market = market_of(Haat::new().with("HAAT_QUERY_SERVER__POLL_MS", "10"), &stores);
    let brands = get(&format!("{}/v1/brands", market.base)).1["data"].clone();
    let slugs = brands.as_array().unwrap().iter().map(|brand| brand["slug"].clone());
    let found = slugs
        .map(|slug| {
            let found = market.call(Some(&market.key), "find_coupons", &json!({ "brand": slug }));
            found["structuredContent"]["data"].clone()
        })
        .find(|data| data["coupons"].as_array().is_some_and(|coupons| !coupons.is_empty()));
    let found = found.unwrap_or_else(|| panic!("no store has a code: {brands}"));
    assert!(!files(market.haat.path(), "discounts/").is_empty());
    // The server looks for new test results at its own intervals.
    let path = format!("{}/v1/products/{}", market.base, found["product_id"].as_str().unwrap());
    let told = loop {
        let told = get(&path).1["data"]["discounts"].clone();
        if told.as_array().is_some_and(|told| !told.is_empty()) {
            break told;
        }
    };
    let told = told.as_array().unwrap();
    for coupon in found["coupons"].as_array().unwrap().iter().take(10) {
        let discount = told.iter().find(|one| one["code"] == coupon["code"]).unwrap();
        assert_eq!(discount["basis"], "this_product", "{discount}");
        for member in ["kind", "source", "tested_at", "currency", "applicable"] {
            assert_eq!(discount[member], coupon[member], "{discount}");
        }
        assert_eq!(discount["condition"]["tested_subtotal_minor"], coupon["subtotal_minor"]);
    }
    let of_agent = market.call(
        None,
        "get_product",
        &json!({ "ident": found["product_id"], "include": ["discounts"] }),
    );
    assert_eq!(of_agent["structuredContent"]["data"]["discounts"], json!(told));
}
