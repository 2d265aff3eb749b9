//! Tests of discount codes in carts and checkouts, as in the protocol's extension.

use reqwest::Method;
use serde_json::json;

use super::{Agent, CART, CHECKOUT, line};

/// Tests codes that replace each other: one that the store accepts, if it has a known code, and one that no store has.
pub(super) fn discounts(agent: &mut Agent, variant: &str) {
    let product = variant.split(':').next().unwrap();
    let (_, coupons) = agent.send(
        Method::GET,
        &format!("/../coupons?product={product}"),
        Some(&agent.key),
        None,
    );
    let works = coupons["data"]["coupons"][0]["code"].as_str().map(str::to_owned);
    let with = |codes: &[&str]| json!({ "line_items": [line(variant, 1)], "discounts": { "codes": codes } });

    let cart = agent.post("/carts", &with(&["NOSUCHCODE"]), (201, CART));
    assert_eq!(
        cart["discounts"],
        json!({ "codes": ["NOSUCHCODE"], "applied": [] }),
        "{cart}"
    );
    let told = cart["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["path"] == "$.discounts.codes[0]");
    let told = told.unwrap_or_else(|| panic!("{cart}"));
    assert_eq!([&told["type"], &told["code"]], ["warning", "discount_code_invalid"]);
    let path = format!("/carts/{}", cart["id"].as_str().unwrap());
    let mut replaced = |codes: &[&str]| {
        let mut body = with(codes);
        body["id"] = cart["id"].clone();
        agent.ask(Method::PUT, &path, Some(&body), (200, CART))
    };
    if let Some(code) = &works {
        let applied = replaced(&[code]);
        let discount = &applied["discounts"]["applied"][0];
        assert_eq!(
            (&applied["discounts"]["codes"], &discount["code"]),
            (&json!([code]), &json!(code)),
            "{applied}"
        );
        let total = |kind: &str| -> i64 {
            let totals = applied["totals"].as_array().unwrap().iter();
            totals
                .filter(|one| one["type"] == kind)
                .map(|one| one["amount"].as_i64().unwrap())
                .sum()
        };
        let applied = discount["amount"].as_i64().unwrap();
        assert!(
            applied > 0 && -applied == total("discount") + total("items_discount"),
            "{applied}"
        );
    }
    let kept = agent.ask(Method::GET, &path, None, (200, CART));
    let checkout = json!({ "cart_id": cart["id"], "line_items": [] });
    let checkout = agent.post("/checkout-sessions", &checkout, (201, CHECKOUT));
    assert_eq!(checkout["discounts"], kept["discounts"], "carried forward");
    let mut cleared = with(&[]);
    cleared["id"] = cart["id"].clone();
    let cleared = agent.ask(Method::PUT, &path, Some(&cleared), (200, CART));
    assert_eq!(
        cleared["discounts"]["codes"].as_array().map_or(0, Vec::len),
        0,
        "{cleared}"
    );
    let (status, refused) = agent.send(
        Method::POST,
        "/carts",
        Some(&agent.key),
        Some(&with(&[" "]).to_string()),
    );
    assert_eq!(status, 400, "{refused}");
}
