//! Stores that carried out a call, but whose response does not show it.

use emulator::{Fault, FaultRule};
use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, assert_sums, group, minor, path};

/// Statuses that gateways return while the store may still carry out the call.
const OPEN: [u16; 6] = [500, 502, 504, 520, 522, 524];

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
        set(&mall, edge_failed(status).on_path("/api/"));
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
    for (status, retry_after_s) in [(503, None), (503, Some(1)), (429, Some(1)), (430, None), (404, None)] {
        let refusal = Fault::Status { status, retry_after_s };
        set(&mall, FaultRule::from(refusal).on_operation("cartLinesAdd"));
        let (added, read) = (mall.calls(0, "cartLinesAdd"), mall.calls(0, "cart"));
        // The request uses a new server, because a server that received a request to wait sends no requests.
        let told = mall.server().await.data(more()).await;
        set(&mall, None);
        assert_eq!(told["problems"].as_array().unwrap().len(), 1, "{status}: {told}");
        assert_eq!(
            (mall.calls(0, "cartLinesAdd"), mall.calls(0, "cart")),
            (added, read),
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
    for first in [Some(1), None] {
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let late = FaultRule::from(Fault::Delayed { status: 504 }).on_operation("cartLinesAdd");
        set(&mall, FaultRule { first, ..late });
        let more = json!({ "items": [mall.item(0, 1, 2)] });
        let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
        set(&mall, None);
        assert_unsure(&mall, &told);
        // An early read does not change the outcome.
        assert_unsure(&mall, &server.data(Call::get(path(&cart, ""))).await);
        assert_eq!(mall.stores.catch_up(&mall.slug(0)).unwrap(), 1);
        for _ in 0..2 {
            let told = server.data(Call::get(path(&cart, ""))).await;
            assert_eq!((&told["problems"], pieces(&told, &mall)), (&json!([]), vec![1, 2]));
            let lines = group(&told, &mall.brand(0))["lines"].as_array().unwrap().clone();
            assert!(lines.iter().all(|line| line["requested_qty"] == line["qty"]), "{told}");
        }
    }
}

/// Asserts that the answer states a problem and no verified numbers.
fn assert_unsure(mall: &Mall, told: &Value) {
    let problems = told["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{told:#}");
    assert_eq!(problems[0]["code"], "store_unavailable", "{told:#}");
    assert_eq!(group(told, &mall.brand(0))["verified"], false, "{told:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_store_that_goes_on_after_the_answer_is_asked_once() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let variants = [0, 1].map(|nth| mall.goods(0)[nth].1);
    for variant in variants {
        mall.stores.set_stock(&mall.slug(0), variant, 50).unwrap();
    }
    for (operation, nth) in [("cartLinesAdd", 1), ("cartLinesUpdate", 0)] {
        for requests in 1..5 {
            let cart = server.cart(&[mall.item(0, 0, 1)]).await;
            let late = FaultRule::from(Fault::Late { status: 504, requests });
            set(&mall, late.on_operation(operation).first(1));
            let calls = mall.calls(0, operation);
            let more = || Call::post(path(&cart, "/lines"), json!({ "items": [mall.item(0, nth, 2)] }));
            let told = server.data(more()).await;
            assert_unsure(&mall, &told);
            let checkout = Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] }));
            if requests > 2 {
                // No link leads to numbers that may still change.
                assert_eq!(server.data(checkout).await["checkouts"], json!([]));
            }
            // Somebody tries once more, with a new request.
            server.data(more()).await;
            mall.stores.catch_up(&mall.slug(0)).unwrap();
            let told = server.data(Call::get(path(&cart, ""))).await;
            let sum: i64 = pieces(&told, &mall).iter().sum();
            // The second request adds to what the caller saw, so that it comes on top only after the first one.
            assert_eq!(told["problems"], json!([]), "{told:#}");
            assert!(sum == 3 || sum == 5 && requests == 1, "{requests}: {told:#}");
            let lines = group(&told, &mall.brand(0))["lines"].as_array().unwrap().clone();
            assert!(
                lines.iter().all(|line| line["requested_qty"] == line["qty"]),
                "{told:#}"
            );
            assert!(mall.calls(0, operation) <= calls + 2);
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
    let more = || Call::post(path(&cart, "/lines"), json!({ "items": [mall.item(0, 1, 2)] })).once("more");
    assert_unsure(&mall, &server.data(more()).await);
    assert_unsure(&mall, &server.data(more()).await);
    assert_eq!(mall.calls(0, "cartLinesAdd"), 0);
    mall.clock.advance_ms(120_000);
    let told = server.data(more()).await;
    assert_eq!((&told["problems"], pieces(&told, &mall)), (&json!([]), vec![1, 2]));
    // The doubt has ended, so a late addition no longer counts as requested here.
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
