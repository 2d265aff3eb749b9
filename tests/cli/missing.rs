//! Tests that each kind of absent object has an error code of its own, in all operations of a running market.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::mcp::market;
use crate::openapi::operations;
use crate::support::{Haat, get};

/// UCP has codes of its own for absent objects, which `tests/cli/ucp.rs` tests.
const OTHER_WORDS: &str = "/v1/ucp/";
/// Path parameters, a value that names no object, and the error code.
const ABSENT: [(&str, &str, &str); 4] = [
    ("{ident}", "00000000-0000-5000-8000-000000000000", "product_not_found"),
    ("{slug}", "no-such-brand", "brand_not_found"),
    ("{cart_id}", "00000000000000000000000000000000", "cart_not_found"),
    ("{watch_id}", "wat_00000000000000000000000000000000", "watch_not_found"),
];
/// Parameters that depend on another parameter's object, or have a few fixed values.
const BESIDE: [(&str, &str); 3] = [("{line_id}", "1"), ("{code}", "X"), ("{action}", "login")];

/// Returns a body that every operation accepts, because unknown fields are ignored.
fn body() -> Value {
    let items = json!([{ "product_id": ABSENT[0].1, "qty": 1 }]);
    json!({
        "paused": true, "items": items, "qty": 1, "code": "X", "zip": "560001", "country": "IN", "brand": ABSENT[1].1,
        "handle": "x", "email": "asha@mail.example", "password": "correct horse battery",
    })
}

#[test]
fn whatever_is_absent_is_told_by_a_code_of_its_own() {
    let market = market(Haat::new());
    let (_, document) = get(&format!("{}/openapi.json", market.base));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = reqwest::Client::new();
    let (mut faults, mut asked) = (Vec::new(), BTreeSet::new());
    for (method, pattern, operation) in operations(&document) {
        if pattern.starts_with(OTHER_WORDS) {
            continue;
        }
        let Some((name, value, expected)) = ABSENT.into_iter().find(|(name, ..)| pattern.contains(name)) else {
            assert!(
                !pattern.contains('{') || pattern.contains("{action}"),
                "{pattern} is not in the table"
            );
            continue;
        };
        asked.insert(name);
        let path = BESIDE.iter().fold(pattern.replace(name, value), |path, (name, value)| {
            path.replace(name, value)
        });
        let request = client
            .request(method.to_uppercase().parse().unwrap(), format!("{}{path}", market.base))
            .header("x-service-key", &market.key);
        let request = match operation.get("requestBody") {
            Some(_) => request
                .header("content-type", "application/json")
                .body(body().to_string()),
            None => request,
        };
        let (status, text) = runtime.block_on(async {
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        });
        let answer: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        if status != 404 || answer["code"] != *expected {
            faults.push(format!("{method} {path}: {status} {text}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(asked.len(), ABSENT.len());
}
