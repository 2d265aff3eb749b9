//! Conformance tests of carts, totals and discounts.

use reqwest::Method;
use serde_json::{Value, json};

use super::shop::{Code, Shop, applied, items, session, sum, text};
use crate::ucp::line;

pub(super) fn conversion_uses_the_cart(shop: &mut Shop) {
    let cart = shop.made("/carts", &json!({ "line_items": [line(&shop.variant, 2)] }));
    let body = json!({ "cart_id": cart["id"], "line_items": [line(&shop.variant, 9)] });
    assert_eq!(items(&shop.made("/checkout-sessions", &body)), items(&cart));
}

pub(super) fn second_conversion(shop: &mut Shop) {
    let cart = shop.made("/carts", &json!({ "line_items": [line(&shop.variant, 1)] }));
    let body = json!({ "cart_id": cart["id"] });
    let [first, second] = [(); 2].map(|()| shop.made("/checkout-sessions", &body)["id"].clone());
    assert_eq!(first, second);
}

pub(super) fn cancel_returns_the_cart(shop: &mut Shop) {
    let cart = shop.made("/carts", &json!({ "line_items": [line(&shop.variant, 3)] }));
    let path = format!("/carts/{}/cancel", text(&cart["id"]));
    let (status, canceled) = shop.ask(Method::POST, &path, &json!({}));
    assert_eq!(
        (status, &canceled["id"], items(&canceled)),
        (200, &cart["id"], items(&cart))
    );
}

pub(super) fn codes_carry_forward(shop: &mut Shop) {
    let Code { code, variant, .. } = shop.code("percentage");
    let body = json!({ "line_items": [line(variant, 1)], "discounts": { "codes": [code] } });
    let cart = shop.made("/carts", &body);
    assert_eq!(applied(&cart), [code.as_str()]);
    let checkout = shop.made("/checkout-sessions", &json!({ "cart_id": cart["id"] }));
    assert_eq!(checkout["discounts"], cart["discounts"]);
}

/// Returns the totals of a plain checkout and of one with a discount, with those of their lines.
pub(super) fn all_totals(shop: &Shop) -> Vec<Value> {
    let [plain, discounted] = shop.discounted(shop.code("percentage"), &[]);
    let lines = |one: &Value| {
        one["line_items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["totals"].clone())
            .collect::<Vec<_>>()
    };
    [
        vec![plain["totals"].clone(), discounted["totals"].clone()],
        lines(&plain),
        lines(&discounted),
    ]
    .concat()
}

pub(super) fn single_entry(shop: &mut Shop, kind: &str) {
    for totals in all_totals(shop) {
        let entries = totals.as_array().unwrap().iter();
        assert_eq!(entries.filter(|entry| entry["type"] == kind).count(), 1, "{totals}");
    }
}

pub(super) fn entries_have_type_and_amount(shop: &mut Shop) {
    for entry in all_totals(shop).iter().flat_map(|totals| totals.as_array().unwrap()) {
        assert!(
            entry["type"].as_str().is_some_and(|kind| !kind.is_empty()) && entry["amount"].is_i64(),
            "{entry}"
        );
    }
}

pub(super) fn additive_entries_non_negative(shop: &mut Shop) {
    for entry in all_totals(shop).iter().flat_map(|totals| totals.as_array().unwrap()) {
        let is_additive = ["subtotal", "fulfillment", "tax", "fee"].contains(&entry["type"].as_str().unwrap());
        assert!(!is_additive || entry["amount"].as_i64().unwrap() >= 0, "{entry}");
    }
}

pub(super) fn discount_entry_is_negative(shop: &mut Shop) {
    let totals = all_totals(shop);
    let entries = totals.iter().flat_map(|totals| totals.as_array().unwrap());
    let off: Vec<_> = entries
        .filter(|entry| ["discount", "items_discount"].contains(&entry["type"].as_str().unwrap()))
        .collect();
    assert!(
        !off.is_empty() && off.iter().all(|entry| entry["amount"].as_i64().unwrap() < 0),
        "{off:?}"
    );
}

pub(super) fn totals_calculation_on_create(shop: &mut Shop) {
    let mut wrong = line(&shop.variant, 1);
    wrong["item"]["title"] = json!("Wrong title");
    wrong["item"]["price"] = json!(1);
    let checkout = shop.made("/checkout-sessions", &json!({ "line_items": [wrong] }));
    for totals in [&checkout["totals"], &checkout["line_items"][0]["totals"]] {
        assert_eq!(
            [sum(totals, &["subtotal"]), sum(totals, &["total"])],
            [shop.price; 2],
            "{checkout}"
        );
    }
}

pub(super) fn totals_recalculation_on_update(shop: &mut Shop) {
    let checkout = shop.checkout();
    let body = json!({ "id": checkout["id"], "line_items": [line(&shop.variant, 2)] });
    let (status, updated) = shop.ask(Method::PUT, &session(&checkout, ""), &body);
    assert_eq!(
        (status, sum(&updated["totals"], &["subtotal"])),
        (200, 2 * shop.price),
        "{updated}"
    );
}

/// Asserts that a code reduces the total by its known amount.
pub(super) fn takes_off(shop: &mut Shop, kind: &str) {
    let code = shop.code(kind);
    let [plain, with] = shop.discounted(code, &[]);
    assert_eq!(
        sum(&with["totals"], &["total"]),
        sum(&plain["totals"], &["total"]) - code.amount,
        "{with}"
    );
    let discount = &with["discounts"]["applied"][0];
    assert_eq!(
        (&discount["code"], &discount["amount"]),
        (&json!(code.code), &json!(code.amount)),
        "{with}"
    );
}

/// Asserts that each given code is applied or named in a warning, and that one store accepts two. Stores decide which
/// of their codes can be combined.
pub(super) fn multiple_discounts_accepted(shop: &mut Shop) {
    let mut most = 0;
    for codes in shop.codes.iter().filter(|codes| codes.len() > 1) {
        let codes: Vec<_> = codes.values().collect();
        let [_, with] = shop.discounted(codes[0], &[&codes[1].code]);
        let taken = applied(&with);
        let messages = with["messages"].as_array().unwrap().iter();
        let warned = messages.filter(|one| one["path"].as_str().is_some_and(|path| path.starts_with("$.discounts")));
        assert_eq!(taken.len() + warned.count(), 2, "{with}");
        let off: i64 = with["discounts"]["applied"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["amount"].as_i64().unwrap())
            .sum();
        assert_eq!(-off, sum(&with["totals"], &["discount", "items_discount"]), "{with}");
        most = most.max(taken.len());
    }
    assert_eq!(most, 2, "no store takes two codes");
}

pub(super) fn multiple_discounts_one_rejected(shop: &mut Shop) {
    let code = shop.code("percentage");
    let [plain, with] = shop.discounted(code, &["NOSUCHCODE"]);
    assert_eq!(
        sum(&with["totals"], &["total"]),
        sum(&plain["totals"], &["total"]) - code.amount
    );
    assert_eq!(applied(&with), [code.code.as_str()]);
}

pub(super) fn unknown_discount_code(shop: &mut Shop) {
    let checkout = shop.checkout();
    let body = json!({ "id": checkout["id"], "line_items": [line(&shop.variant, 1)], "discounts": { "codes": ["NOSUCHCODE"] } });
    let (status, told) = shop.ask(Method::PUT, &session(&checkout, ""), &body);
    assert_eq!(
        (status, sum(&told["totals"], &["discount", "items_discount"])),
        (200, 0),
        "{told}"
    );
}
