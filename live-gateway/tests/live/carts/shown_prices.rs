//! Tests of prices that callers showed for items, compared with the stores' prices.

use emulator::{Fault, FaultRule};
use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, group, path};

const MONTH: std::time::Duration = std::time::Duration::from_secs(40 * 86_400);

/// Returns a request item for the nth product with a shown price.
fn shown(mall: &Mall, nth: usize, price_minor: impl Into<Value>) -> Value {
    let mut item = mall.item(0, nth, 1);
    item["price_minor"] = price_minor.into();
    item
}

fn line(cart: &Value, mall: &Mall, nth: usize) -> Value {
    let variant = mall.goods(0)[nth].1.to_string();
    let lines = group(cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let found = lines.into_iter().find(|line| line["variant_id"] == variant.as_str());
    found.unwrap()
}

/// Returns the verdicts on the shown price in the nth product's line.
fn verdict(cart: &Value, mall: &Mall, nth: usize) -> (Value, Value) {
    let line = line(cart, mall, nth);
    assert!(
        line.get("price_changed").is_some() && line.get("price_held").is_some(),
        "{line}"
    );
    (line["price_held"].clone(), line["price_changed"].clone())
}

fn changed(shown_minor: i64, now_minor: i64) -> (Value, Value) {
    changed_from("INR", shown_minor, now_minor)
}

fn changed_from(currency: &str, shown_minor: i64, now_minor: i64) -> (Value, Value) {
    let both = json!({ "shown_minor": shown_minor, "shown_currency": currency, "now_minor": now_minor });
    (json!(false), both)
}

fn held() -> (Value, Value) {
    (json!(true), Value::Null)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_says_at_every_read_if_the_price_that_was_shown_held() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let goods = mall.goods(0);
    let (first, second) = (goods[0].2, goods[1].2);
    let items = [shown(&mall, 0, first), shown(&mall, 1, second - 1), mall.item(0, 2, 1)];
    let cart = server.cart(&items).await;
    let read = async || server.data(Call::get(path(&cart, ""))).await;
    for told in [cart.clone(), read().await] {
        assert_eq!(verdict(&told, &mall, 0), held());
        assert_eq!(verdict(&told, &mall, 1), changed(second - 1, second));
        assert_eq!(
            verdict(&told, &mall, 2),
            (Value::Null, Value::Null),
            "nothing was shown"
        );
    }
    // The store changes the price, the buyer changes the quantity, and the store loses its cart.
    mall.stores.reprice(&mall.slug(0), goods[0].1, "77777.00").unwrap();
    assert_eq!(verdict(&read().await, &mall, 0), changed(first, 7_777_700));
    let at = line(&cart, &mall, 0)["line_id"].as_str().unwrap().to_owned();
    let patched = Call::new(Method::PATCH, path(&cart, &format!("/lines/{at}"))).with(json!({ "qty": 2 }));
    assert_eq!(
        verdict(&server.data(patched).await, &mall, 0),
        changed(first, 7_777_700)
    );
    mall.stores.advance_clock(MONTH);
    let told = read().await;
    assert_eq!(verdict(&told, &mall, 0), changed(first, 7_777_700));
    assert_eq!(verdict(&told, &mall, 1), changed(second - 1, second));
    // The same price is shown again.
    let items = json!({ "items": [shown(&mall, 0, 7_777_700), mall.item(0, 1, 1)] });
    let told = server
        .data(Call::new(Method::PUT, path(&cart, "/lines")).with(items))
        .await;
    assert_eq!(verdict(&told, &mall, 0), held());
    assert_eq!(verdict(&told, &mall, 1), changed(second - 1, second));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_in_another_currency_is_never_held_whatever_its_number() {
    let mut mall = Mall::open(1).await;
    let price = mall.goods(0)[0].2;
    // The catalogue has the same number as an amount in another currency.
    let shelf = std::sync::Arc::get_mut(&mut mall.shelf).unwrap();
    shelf.brands[0].currency = "USD".parse().unwrap();
    for product in shelf.products.values_mut() {
        product.currency = "USD".parse().unwrap();
    }
    let server = mall.server().await;
    let cart = server.cart(&[shown(&mall, 0, price)]).await;
    let read = server.data(Call::get(path(&cart, ""))).await;
    let items = json!({ "items": [shown(&mall, 0, price)] });
    let put = Call::new(Method::PUT, path(&cart, "/lines")).with(items);
    for told in [cart, read, server.data(put).await] {
        assert_eq!(group(&told, &mall.brand(0))["currency"], "INR");
        assert_eq!(verdict(&told, &mall, 0), changed_from("USD", price, price));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_that_was_shown_for_what_a_store_did_not_take_leaves_no_trace() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let price = mall.goods(0)[0].2;
    let cart = server.cart(&[shown(&mall, 0, price)]).await;
    let down = FaultRule::from(Fault::Status {
        status: 503,
        retry_after_s: None,
    });
    mall.stores.set_faults(&mall.slug(0), [down]).unwrap();
    let more = json!({ "items": [shown(&mall, 0, 1)] });
    let told = server.data(Call::post(path(&cart, "/lines"), more.clone())).await;
    assert_eq!(told["problems"][0]["code"], "store_unavailable");
    assert_eq!(verdict(&told, &mall, 0), held());
    // A later read finds the outcome of the lost call and reports it.
    let lost = FaultRule::from(Fault::AnswerLost { hold_ms: 0 }).first(1);
    mall.stores.set_faults(&mall.slug(0), [lost]).unwrap();
    let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
    assert_eq!(
        (&told["problems"], verdict(&told, &mall, 0)),
        (&json!([]), changed(1, price))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shown_price_is_an_amount_in_minor_units_and_a_quote_is_signed() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let below = path(&cart, "/lines");
    for (member, value, kind) in [
        ("price_minor", json!(-1), "greater_than_equal"),
        ("price_minor", json!(1.5), "int_parsing"),
        ("price_minor", json!(true), "int_type"),
        ("price_minor", json!([]), "int_type"),
        ("price_minor", json!("dear"), "int_parsing"),
        ("price_minor", json!(1_u64 << 53), "less_than_equal"),
        ("quote", json!(5), "string_type"),
        ("quote", json!("eyJhbGciOiJFZERTQSJ9"), "value_error"),
    ] {
        let mut item = mall.item(0, 0, 1);
        item[member] = value.clone();
        let body = json!({ "items": [item] });
        let put = Call::new(Method::PUT, &below).with(body.clone());
        for call in [Call::post("/v1/cart", body.clone()), Call::post(&below, body), put] {
            let (status, told) = server.send(call).await;
            assert_eq!(
                (status.as_u16(), &told["detail"][0]["type"], &told["detail"][0]["loc"]),
                (422, &json!(kind), &json!(["body", "items", 0, member])),
                "{value}: {told}"
            );
        }
    }
    let free = server.cart(&[shown(&mall, 0, 0)]).await;
    assert_eq!(verdict(&free, &mall, 0), changed(0, mall.goods(0)[0].2));
}

#[tokio::test(flavor = "multi_thread")]
async fn items_of_one_variant_state_one_price() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let price = mall.goods(0)[0].2;
    let items = |prices: [i64; 2]| json!({ "items": prices.map(|price| shown(&mall, 0, price)) });
    let cart = server.data(Call::post("/v1/cart", items([price, price]))).await;
    assert_eq!(verdict(&cart, &mall, 0), held());
    assert_eq!(line(&cart, &mall, 0)["qty"], 2);
    let no_price = json!({ "items": [shown(&mall, 0, price - 1), mall.item(0, 0, 1)] });
    let other = server.data(Call::post("/v1/cart", no_price)).await;
    assert_eq!(verdict(&other, &mall, 0), changed(price - 1, price));
    for call in [
        Call::post("/v1/cart", items([price, price + 1])),
        Call::post(path(&cart, "/lines"), items([price - 1, price])),
        Call::new(Method::PUT, path(&cart, "/lines")).with(items([price, price - 1])),
    ] {
        let (status, told) = server.send(call).await;
        assert_eq!(
            (status.as_u16(), &told["detail"][0]["loc"]),
            (422, &json!(["body", "items"])),
            "{told}"
        );
    }
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(verdict(&read, &mall, 0), held());
    assert_eq!(line(&read, &mall, 0)["qty"], 2);
}
