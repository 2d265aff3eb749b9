//! Tests of servers that stop during an operation, at each step in the life of a cart.

use std::time::Duration;

use emulator::{Fault, FaultRule};
use http::Method;
use live_gateway::CartConfig;
use serde_json::{Value, json};

use super::mall::{Call, Mall, assert_sums, group, minor, path, verdicts_of};

/// Starts a mall with long time budgets, so that a server still waits for a store when the server is stopped.
async fn open() -> Mall {
    let config = CartConfig {
        budget_ms: 600_000,
        ..CartConfig::default()
    };
    Mall::with(2, config).await
}

/// Sends `call` to a separate server and stops that server with all its tasks once `is_reached` returns true. Returns
/// false if that never happened.
pub(super) fn cut_short(mall: &Mall, call: &Call, is_reached: impl Fn() -> bool + Send + Sync) -> bool {
    std::thread::scope(|scope| {
        let work = async {
            let server = mall.server().await;
            let reached = async {
                while !is_reached() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! { _ = server.send(call.clone()) => false, () = reached => true }
        };
        let thread = scope.spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            // The runtime ends with this thread and stops all tasks of the server.
            runtime.block_on(async { tokio::time::timeout(Duration::from_secs(30), work).await.unwrap() })
        });
        thread.join().unwrap()
    })
}

/// Stops the server of `call` after the second store has carried out `operation` and before the store has responded.
fn end_in(mall: &Mall, call: &Call, operation: &str) {
    let rule = FaultRule {
        operation: Some(operation.to_owned()),
        ..FaultRule::from(Fault::AnswerLost { hold_ms: 60_000 })
    };
    mall.stores.set_faults(&mall.slug(1), [rule]).unwrap();
    let before = [mall.calls(0, operation), mall.calls(1, operation)];
    let has_ended = cut_short(mall, call, || {
        mall.calls(0, operation) != before[0] && mall.calls(1, operation) != before[1]
    });
    assert!(has_ended, "the server ended while the second store was asked");
    mall.stores.set_faults(&mall.slug(1), Vec::<FaultRule>::new()).unwrap();
}

/// Returns the quantities in a brand's group by variant.
fn pieces(cart: &Value, brand: &str) -> Vec<(String, i64)> {
    let lines = group(cart, brand)["lines"].as_array().cloned().unwrap_or_default();
    let mut pieces: Vec<_> = lines
        .iter()
        .map(|line| (line["variant_id"].as_str().unwrap().to_owned(), minor(&line["qty"])))
        .collect();
    pieces.sort();
    pieces
}

/// Returns the state of a cart without the fields that differ between carts.
fn told(mall: &Mall, cart: &Value) -> Vec<Value> {
    let of = |store: usize| {
        let group = group(cart, &mall.brand(store));
        json!({
            "pieces": pieces(cart, &mall.brand(store)),
            "total_minor": group["total_minor"],
            // The reason for a refusal is lost together with its response.
            "codes": verdicts_of(&group),
            "delivery_minor": group["delivery_minor"],
        })
    };
    vec![of(0), of(1)]
}

#[tokio::test(flavor = "multi_thread")]
async fn whichever_step_a_server_ends_in_the_next_one_ends_it_and_nothing_is_doubled() {
    let mall = open().await;
    let server = mall.server().await;
    let items = |nth, qty| json!({ "items": [mall.item(0, nth, qty), mall.item(1, nth, qty)] });
    type Step = (&'static str, &'static str, Value);
    let steps: [Step; 5] = [
        ("/lines", "cartLinesAdd", items(1, 2)),
        ("/lines", "cartLinesUpdate", items(0, 1)),
        ("/discount", "cartDiscountCodesUpdate", json!({ "code": "NOPE" })),
        (
            "/address",
            "cartDeliveryAddressesReplace",
            json!({ "zip": "560001", "province": "KA" }),
        ),
        ("/checkout", "cartAttributesUpdate", Value::Null),
    ];
    // The result of an undisturbed server is the expected result.
    let whole = server.data(Call::post("/v1/cart", items(0, 1))).await;
    let ended = server.data(Call::post("/v1/cart", items(0, 1))).await;
    for (nth, (below, operation, body)) in steps.into_iter().enumerate() {
        let call = |cart: &Value| match below {
            "/checkout" => Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })),
            below => Call::post(path(cart, below), body.clone()),
        };
        server.data(call(&whole)).await;
        let call = call(&ended).once(format!("step-{nth}"));
        tokio::task::block_in_place(|| end_in(&mall, &call, operation));
        let added = mall.calls(1, "cartLinesAdd");
        let (status, body) = server.send(call.clone()).await;
        assert_eq!(
            (status.as_u16(), body["code"].as_str()),
            (409, Some("idempotency_conflict")),
            "{operation}"
        );
        mall.clock.advance_ms(3_600_000);
        let done = server.data(call.clone()).await;
        assert_eq!(done["problems"], json!([]), "{operation}");
        assert_eq!(server.data(call).await, done, "{operation}: and it is kept");
        let (one, other) = (path(&whole, ""), path(&ended, ""));
        let (whole, ended) = (server.data(Call::get(one)).await, server.data(Call::get(other)).await);
        assert_sums(&ended);
        assert_eq!(told(&mall, &ended), told(&mall, &whole), "{operation}");
        assert_eq!(
            mall.calls(1, "cartLinesAdd"),
            added,
            "{operation}: no line was added again"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_next_ends_what_was_begun_whether_or_not_it_had_a_key() {
    let mall = open().await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let more = json!({ "items": [mall.item(0, 1, 2), mall.item(1, 1, 3)] });
    let call = Call::post(path(&cart, "/lines"), more).once("k");
    tokio::task::block_in_place(|| end_in(&mall, &call, "cartLinesAdd"));
    mall.clock.advance_ms(3_600_000);
    // A different operation is sent before the repeated one.
    let cart = server
        .data(Call::post(path(&cart, "/discount"), json!({ "code": "X" })))
        .await;
    let of = |cart: &Value| (pieces(cart, &mall.brand(0)), pieces(cart, &mall.brand(1)));
    let sum = |pieces: &[(String, i64)]| pieces.iter().map(|(_, qty)| qty).sum::<i64>();
    assert_eq!((sum(&of(&cart).0), sum(&of(&cart).1)), (3, 4));
    let again = server.data(call).await;
    assert_eq!(of(&again), of(&cart), "the request finds that it was done");
    assert_eq!((mall.calls(0, "cartLinesAdd"), mall.calls(1, "cartLinesAdd")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_whose_making_was_cut_short_is_there_under_its_key() {
    let mall = open().await;
    let server = mall.server().await;
    let body = json!({ "items": [mall.item(0, 0, 2), mall.item(1, 0, 1)] });
    let call = Call::post("/v1/cart", body).once("new");
    tokio::task::block_in_place(|| end_in(&mall, &call, "cartCreate"));
    mall.clock.advance_ms(3_600_000);
    let cart = server.data(call.clone()).await;
    assert_sums(&cart);
    for (store, qty) in [(0, 2), (1, 1)] {
        assert_eq!(
            pieces(&cart, &mall.brand(store))
                .iter()
                .map(|(_, qty)| qty)
                .sum::<i64>(),
            qty
        );
    }
    assert_eq!(server.data(call).await["cart_id"], cart["cart_id"]);
    // Nobody knows the ids of the other carts.
    assert_eq!(mall.stores.carts(&mall.slug(1)).unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replacement_over_brands_that_was_begun_is_ended_by_whoever_reads_the_cart() {
    let mall = open().await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let wanted = json!({ "items": [mall.item(1, 1, 2)] });
    let call = Call::new(Method::PUT, path(&cart, "/lines")).with(wanted);
    let rule = FaultRule::from(Fault::AnswerLost { hold_ms: 60_000 }).on_operation("cartLinesAdd");
    mall.stores.set_faults(&mall.slug(1), [rule]).unwrap();
    let has_ended = tokio::task::block_in_place(|| cut_short(&mall, &call, || mall.calls(1, "cartLinesAdd") > 0));
    assert!(has_ended);
    mall.stores.set_faults(&mall.slug(1), None).unwrap();
    mall.clock.advance_ms(3_600_000);
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(
        (&told["problems"], group(&told, &mall.brand(0))),
        (&json!([]), Value::Null)
    );
    assert_eq!(pieces(&told, &mall.brand(1)), [(mall.goods(1)[1].1.to_string(), 2)]);
}
