//! Tests of stores that carried out a call although the response does not show it.

use emulator::{Fault, FaultRule};
use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, after_the_first_read, assert_sums, group, minor, path};

/// Statuses that gateways return while the store may still carry out the call.
const OPEN: [u16; 8] = [500, 501, 502, 503, 504, 520, 522, 524];

fn set(mall: &Mall, rule: impl Into<Option<FaultRule>>) {
    mall.stores.set_faults(&mall.slug(0), rule.into()).unwrap();
}

fn edge_failed(status: u16) -> FaultRule {
    FaultRule::from(Fault::EdgeFailed { status })
}

fn pieces(cart: &Value, mall: &Mall) -> Vec<i64> {
    let lines = group(cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let mut pieces: Vec<_> = lines.iter().map(|line| minor(&line["qty"])).collect();
    pieces.sort_unstable();
    pieces
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateways_error_after_the_work_is_looked_up_and_nothing_is_added_twice() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    for status in OPEN {
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let added = mall.calls(0, "cartLinesAdd");
        set(&mall, edge_failed(status).on_operation("cartLinesAdd"));
        let more = json!({ "items": [mall.item(0, 1, 2)] });
        let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
        set(&mall, None);
        assert_eq!(
            (&told["problems"], pieces(&told, &mall)),
            (&json!([]), vec![1, 2]),
            "{status}"
        );
        assert_eq!(mall.calls(0, "cartLinesAdd"), added + 1, "{status}");
        assert_sums(&told);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_looked_up_is_no_failure_and_asked_again_is_not_doubled() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    for status in OPEN {
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let added = mall.calls(0, "cartLinesAdd");
        let rules = after_the_first_read(edge_failed(status).on_path("/api/"));
        mall.stores.set_faults(&mall.slug(0), rules).unwrap();
        let more = || Call::post(path(&cart, "/lines"), json!({ "items": [mall.item(0, 1, 2)] }));
        let told = server.data(more()).await;
        set(&mall, None);
        assert_eq!(told["problems"].as_array().unwrap().len(), 1, "{status}: {told}");
        assert_eq!(group(&told, &mall.brand(0))["verified"], false, "{status}");
        let told = server.data(more()).await;
        assert_eq!(
            (&told["problems"], pieces(&told, &mall)),
            (&json!([]), vec![1, 2]),
            "{status}"
        );
        assert_eq!(mall.calls(0, "cartLinesAdd"), added + 1, "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_begin_has_done_nothing_and_is_asked_again() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let more = || Call::post(path(&cart, "/lines"), json!({ "items": [mall.item(0, 1, 2)] }));
    for (status, retry_after_s) in [(429, Some(1)), (430, None), (404, None)] {
        let refusal = Fault::Status { status, retry_after_s };
        set(&mall, FaultRule::from(refusal).on_operation("cartLinesAdd"));
        let (added, read) = (mall.calls(0, "cartLinesAdd"), mall.calls(0, "cart"));
        // The request needs a new server, because a server that a store told to wait sends no requests.
        let told = mall.server().await.data(more()).await;
        set(&mall, None);
        assert_eq!(told["problems"].as_array().unwrap().len(), 1, "{status}: {told}");
        assert_eq!(
            (mall.calls(0, "cartLinesAdd"), mall.calls(0, "cart")),
            (added, read + 1),
            "{status}"
        );
    }
    let told = server.data(more()).await;
    assert_eq!((&told["problems"], pieces(&told, &mall)), (&json!([]), vec![1, 2]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_late_doubles_nothing_and_is_never_called_requested() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let (_, variant, _) = mall.goods(0)[1];
    mall.stores.set_stock(&mall.slug(0), variant, 50).unwrap();
    // Either the repeated call succeeds, or all calls fail up to the maximum number of attempts.
    for (first, problems) in [(Some(1), 0), (None, 1)] {
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let late = FaultRule::from(Fault::Delayed { status: 504 }).on_operation("cartLinesAdd");
        set(&mall, FaultRule { first, ..late });
        let more = json!({ "items": [mall.item(0, 1, 2)] });
        let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
        set(&mall, None);
        assert_eq!(told["problems"].as_array().unwrap().len(), problems, "{told}");
        // An early read does not decide the outcome.
        server.data(Call::get(path(&cart, ""))).await;
        assert_ne!(mall.stores.catch_up(&mall.slug(0)).unwrap(), 0);
        for _ in 0..2 {
            let told = server.data(Call::get(path(&cart, ""))).await;
            assert_eq!((&told["problems"], pieces(&told, &mall)), (&json!([]), vec![1, 2]));
            let lines = group(&told, &mall.brand(0))["lines"].as_array().unwrap().clone();
            assert!(lines.iter().all(|line| line["requested_qty"] == line["qty"]), "{told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_addition_that_lands_after_the_look_is_taken_back_beside_its_repetition() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let (_, variant, _) = mall.goods(0)[1];
    mall.stores.set_stock(&mall.slug(0), variant, 50).unwrap();
    // The store carries out the lost call before, or after, it receives the repeated call or a later one.
    for (requests, is_replacement) in (1..5).flat_map(|requests| [(requests, false), (requests, true)]) {
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let late = FaultRule::from(Fault::Late { status: 504, requests });
        set(&mall, late.on_operation("cartLinesAdd").first(1));
        let more = json!({ "items": [mall.item(0, 1, 2)] });
        let (call, wanted) = if is_replacement {
            (Call::new(Method::PUT, path(&cart, "/lines")).with(more), vec![2])
        } else {
            (Call::post(path(&cart, "/lines"), more), vec![1, 2])
        };
        let told = server.data(call).await;
        assert_eq!((&told["problems"], pieces(&told, &mall)), (&json!([]), wanted.clone()));
        mall.stores.catch_up(&mall.slug(0)).unwrap();
        for _ in 0..2 {
            let told = server.data(Call::get(path(&cart, ""))).await;
            assert_eq!((&told["problems"], pieces(&told, &mall)), (&json!([]), wanted.clone()));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn once_no_call_can_be_under_way_what_somebody_adds_at_the_store_is_theirs() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let (_, variant, _) = mall.goods(0)[1];
    mall.stores.set_stock(&mall.slug(0), variant, 50).unwrap();
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let late = FaultRule::from(Fault::Delayed { status: 504 }).on_operation("cartLinesAdd");
    set(&mall, late.first(1));
    let more = json!({ "items": [mall.item(0, 1, 2)] });
    server.data(Call::post(path(&cart, "/lines"), more)).await;
    mall.clock.advance_ms(120_000);
    server.data(Call::get(path(&cart, ""))).await;
    // The time for late calls is over, so a late addition no longer counts as requested.
    mall.stores.catch_up(&mall.slug(0)).unwrap();
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(pieces(&told, &mall), [1, 4]);
    let lines = group(&told, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let line = lines.iter().find(|line| line["qty"] == 4).unwrap();
    assert_eq!(line["requested_qty"], 2, "as many as were asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_changed_a_gateways_error_after_the_work_leaves_it_done_once() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    set(&mall, edge_failed(502).on_operation("cartCreate").first(1));
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(0, 1, 1)]).await;
    assert_eq!((&cart["problems"], pieces(&cart, &mall)), (&json!([]), vec![1, 1]));
    let of_brand = |cart: &Value| group(cart, &mall.brand(0));
    assert_eq!(of_brand(&cart)["warnings"][0]["code"], "cart_made_twice");

    let line = of_brand(&cart)["lines"][0]["line_id"].as_str().unwrap().to_owned();
    let at = path(&cart, &format!("/lines/{line}"));
    let address = json!({ "zip": "560001", "country": "IN", "province": "KA", "city": "Bengaluru" });
    let steps = [
        (
            "cartLinesUpdate",
            Call::new(Method::PATCH, &at).with(json!({ "qty": 5 })),
        ),
        (
            "cartDiscountCodesUpdate",
            Call::post(path(&cart, "/discount"), json!({ "code": "X" })),
        ),
        (
            "cartDeliveryAddressesReplace",
            Call::post(path(&cart, "/address"), address),
        ),
        (
            "cartAttributesUpdate",
            Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })),
        ),
        ("cartLinesRemove", Call::new(Method::DELETE, &at)),
    ];
    for (operation, call) in steps {
        set(&mall, edge_failed(504).on_operation(operation).first(1));
        let told = server.data(call).await;
        assert_eq!(told["problems"], json!([]), "{operation}");
    }
    set(&mall, None);
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_sums(&read);
    assert_eq!(pieces(&read, &mall), [1]);
    assert_eq!(of_brand(&read)["discount_codes"][0]["code"], "X");
    assert_ne!(of_brand(&read)["delivery_options"], json!([]));
}
