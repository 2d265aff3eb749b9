//! Tests of invalid requests.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{Shop, post};

/// Returns requests with one fault each, and the expected error.
fn faulty() -> [(&'static str, Value, &'static str); 13] {
    let line = |line| json!({ "line_items": [{ "item": { "id": "a" }, "quantity": 1 }, line] });
    [
        (
            "/catalog/search",
            json!({ "query": 7 }),
            "body.query: Input should be a valid string",
        ),
        (
            "/catalog/search",
            json!({ "filters": "x" }),
            "body.filters: Input should be a valid dictionary",
        ),
        (
            "/catalog/search",
            json!({ "filters": { "price": { "min": "expected u32: 1" } } }),
            "body.filters.price.min: Input should be a valid integer",
        ),
        (
            "/catalog/search",
            json!({ "pagination": { "limit": -1 } }),
            "body.pagination.limit: Input should be greater than or equal to 0",
        ),
        (
            "/catalog/search",
            json!({ "filters": { "price": { "max": 1.5 } } }),
            "body.filters.price.max: Input should be a valid integer, got a number with a fractional part",
        ),
        ("/catalog/lookup", json!({}), "body.ids: Field required"),
        (
            "/catalog/lookup",
            json!({ "ids": "a" }),
            "body.ids: Input should be a valid list",
        ),
        (
            "/catalog/lookup",
            json!({ "ids": ["a", 7] }),
            "body.ids.1: Input should be a valid string",
        ),
        (
            "/carts",
            line(json!({ "quantity": 1 })),
            "body.line_items.1.item: Field required",
        ),
        (
            "/carts",
            line(json!({ "item": "a", "quantity": 1 })),
            "body.line_items.1.item: Input should be a valid dictionary",
        ),
        (
            "/carts",
            line(json!({ "item": { "id": "a" }, "quantity": "2" })),
            "body.line_items.1.quantity: Input should be a valid integer",
        ),
        (
            "/carts",
            line(json!({ "item": { "id": "a" }, "quantity": 9_000_000_000_u64 })),
            "body.line_items.1.quantity: Unable to parse input string as an integer, exceeded maximum size",
        ),
        (
            "/carts",
            json!({ "discounts": { "codes": [null] } }),
            "body.discounts.codes.0: Input should be a valid string",
        ),
    ]
}

#[tokio::test]
async fn a_member_that_is_not_as_it_must_be_is_named_in_the_words_of_rest() {
    let shop = Arc::new(Shop::default());
    for (path, body, content) in faulty() {
        let (status, told) = post(&shop, path, body.clone()).await;
        let expected = json!("invalid");
        assert_eq!(
            (status, &told["code"], told["content"].as_str()),
            (400, &expected, Some(content)),
            "{body}"
        );
    }
}
