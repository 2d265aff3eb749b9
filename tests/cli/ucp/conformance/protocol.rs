//! Conformance tests of discovery, versions and repeated requests.

use reqwest::Method;
use serde_json::{Value, json};

use super::shop::{Shop, payment, session};
use crate::ucp::{PROFILE, line};

pub(super) fn discovery(shop: &mut Shop) {
    let (status, told) = shop.ask(Method::GET, "/../../.well-known/ucp", &Value::Null);
    assert_eq!(status, 200, "{told}");
    let profile = &told["ucp"];
    let is_date = |value: &Value| {
        let parts: Vec<_> = value.as_str().unwrap().split('-').map(str::len).collect();
        assert_eq!(parts, [4, 2, 2], "{value}");
    };
    let is_reversed = |name: &str| {
        name.contains('.')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'.' || byte == b'_')
    };
    is_date(&profile["version"]);
    let capabilities = profile["capabilities"].as_object().unwrap();
    for (name, entries) in capabilities {
        assert!(is_reversed(name), "{name}");
        entries
            .as_array()
            .unwrap()
            .iter()
            .for_each(|entry| is_date(&entry["version"]));
    }
    for needed in ["checkout", "cart", "discount"] {
        assert!(
            capabilities.contains_key(&format!("dev.ucp.shopping.{needed}")),
            "{needed}"
        );
    }
    let service = &profile["services"]["dev.ucp.shopping"][0];
    assert_eq!(
        [&service["version"], &service["transport"]],
        [&profile["version"], &json!("rest")]
    );
    assert_eq!(service["endpoint"], shop.agent.base);
}

pub(super) fn version_negotiation(shop: &mut Shop) {
    let body = json!({ "line_items": [line(&shop.variant, 1)] });
    let mut asked = |version: &str| {
        shop.agent.identity = format!("{PROFILE}; version=\"{version}\"");
        shop.ask(Method::POST, "/checkout-sessions", &body)
    };
    let (spoken, (refused, fault)) = (asked("2026-04-08"), asked("2099-01-01"));
    shop.agent.identity = PROFILE.to_owned();
    assert_eq!(spoken.0, 201, "{}", spoken.1);
    assert_eq!((refused, &fault["code"]), (400, &json!("version_unsupported")));
}

pub(super) fn idempotency_header_accepted(shop: &mut Shop) {
    let told = shop.ask_once("discovery", Method::GET, "/../../.well-known/ucp", &Value::Null);
    assert_eq!(told.0, 200);
}

/// Asserts that a repeated request with a key gets the same response, and that a different request with the key is
/// refused.
#[track_caller]
pub(super) fn is_once(shop: &mut Shop, key: &'static str, method: &Method, path: &str, bodies: [&Value; 2]) {
    let first = shop.ask_once(key, method.clone(), path, bodies[0]);
    assert!([200, 201].contains(&first.0), "{first:?}");
    let second = shop.ask_once(key, method.clone(), path, bodies[0]);
    assert_eq!(second, first);
    if bodies[0] != bodies[1] {
        let other = shop.ask_once(key, method.clone(), path, bodies[1]);
        assert_eq!(other.0, 409, "{}", other.1);
    }
}

pub(super) fn idempotency_create(shop: &mut Shop) {
    let body = json!({ "line_items": [line(&shop.variant, 1)], "currency": "INR" });
    let mut other = body.clone();
    other["currency"] = json!("EUR");
    is_once(shop, "create", &Method::POST, "/checkout-sessions", [&body, &other]);
}

pub(super) fn idempotency_update(shop: &mut Shop) {
    let checkout = shop.checkout();
    let body = |quantity| json!({ "id": checkout["id"], "line_items": [line(&shop.variant, quantity)] });
    let (two, three) = (body(2), body(3));
    is_once(shop, "update", &Method::PUT, &session(&checkout, ""), [&two, &three]);
}

pub(super) fn idempotency_complete(shop: &mut Shop) {
    let path = session(&shop.checkout(), "/complete");
    is_once(
        shop,
        "complete",
        &Method::POST,
        &path,
        [&payment("one"), &payment("another")],
    );
}

pub(super) fn idempotency_cancel(shop: &mut Shop) {
    let path = session(&shop.checkout(), "/cancel");
    is_once(shop, "cancel", &Method::POST, &path, [&Value::Null, &Value::Null]);
}
