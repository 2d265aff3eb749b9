//! Conformance tests of a checkout from creation to completion, and of refused requests.

use reqwest::Method;
use serde_json::{Value, json};

use super::shop::{Shop, is_business_error, items, payment, session};
use crate::ucp::line;

pub(super) fn create_checkout(shop: &mut Shop) {
    shop.checkout();
}

pub(super) fn get_checkout(shop: &mut Shop) {
    let checkout = shop.checkout();
    let (status, told) = shop.ask(Method::GET, &session(&checkout, ""), &Value::Null);
    assert_eq!((status, &told["id"]), (200, &checkout["id"]));
}

pub(super) fn update_checkout(shop: &mut Shop) {
    let checkout = shop.checkout();
    let body = json!({ "id": checkout["id"], "line_items": [line(&shop.variant, 2)] });
    let (status, told) = shop.ask(Method::PUT, &session(&checkout, ""), &body);
    assert_eq!((status, items(&told)), (200, vec![(shop.variant.clone(), 2)]));
}

pub(super) fn cancel_checkout(shop: &mut Shop) {
    let (status, told) = shop.ask(Method::POST, &session(&shop.checkout(), "/cancel"), &Value::Null);
    assert_eq!((status, &told["status"]), (200, &json!("canceled")));
}

pub(super) fn escalation_flow(shop: &mut Shop) {
    let (status, told) = shop.ask(Method::POST, &session(&shop.checkout(), "/complete"), &payment("token"));
    assert_eq!(
        (status, &told["status"]),
        (200, &json!("requires_escalation")),
        "{told}"
    );
    assert!(
        told["continue_url"].as_str().is_some_and(|url| url.starts_with("http")),
        "{told}"
    );
    assert_eq!(told["messages"][0]["severity"], "requires_buyer_input", "{told}");
}

/// Asserts that a cancelled checkout cannot be changed.
pub(super) fn canceled_stays(shop: &mut Shop, how: &str) {
    let checkout = shop.checkout();
    let cancel = |below: &str, body: &Value| shop.ask(Method::POST, &session(&checkout, below), body);
    assert_eq!(cancel("/cancel", &Value::Null).0, 200);
    let refused = match how {
        "update" => {
            let body = json!({ "id": checkout["id"], "line_items": [line(&shop.variant, 2)] });
            shop.ask(Method::PUT, &session(&checkout, ""), &body)
        }
        "complete" => cancel("/complete", &payment("token")),
        _ => cancel("/cancel", &Value::Null),
    };
    assert!(refused.1["id"].is_null(), "{refused:?}");
    is_business_error(&refused, &["not_found"]);
}

pub(super) fn out_of_stock(shop: &mut Shop) {
    let body = json!({ "line_items": [line(&shop.sold_out, 1)] });
    let told = shop.ask(Method::POST, "/checkout-sessions", &body);
    is_business_error(&told, &["out_of_stock", "item_unavailable"]);
}

pub(super) fn update_inventory_validation(shop: &mut Shop) {
    let checkout = shop.checkout();
    let body = json!({ "id": checkout["id"], "line_items": [line(&shop.variant, 10_001)] });
    let told = shop.ask(Method::PUT, &session(&checkout, ""), &body);
    is_business_error(&told, &["out_of_stock", "item_unavailable"]);
}

pub(super) fn product_not_found(shop: &mut Shop) {
    for id in [
        "no such item",
        "00000000-0000-5000-8000-000000000000",
        "00000000-0000-5000-8000-000000000000:7",
    ] {
        let told = shop.ask(
            Method::POST,
            "/checkout-sessions",
            &json!({ "line_items": [line(id, 1)] }),
        );
        is_business_error(&told, &["not_found", "item_unavailable"]);
    }
}

/// Asserts that the suite's own test endpoint does not exist, whatever secret is sent.
pub(super) fn simulation_endpoint(shop: &mut Shop) {
    let (status, _) = shop.ask(Method::POST, "/../../testing/simulate-shipping/order", &json!({}));
    assert_eq!(status, 404);
}
