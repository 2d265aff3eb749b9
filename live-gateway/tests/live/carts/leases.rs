//! Tests of carts that another request is changing, or was changing when its server stopped.

use data_model::Clock;
use live_gateway::CartConfig;
use serde_json::{Value, json};
use state::{CartLock, Lease, StateTarget};

use super::mall::{Call, Mall, group, path};

fn caller() -> String {
    api::CallerId::key("asha").as_str().to_owned()
}

/// Makes another holder lock a cart for the given time.
async fn hold(mall: &Mall, cart: &Value, ms: i64) -> Lease {
    let now = mall.clock.now();
    let lease = Lease::new(now.plus_millis(ms)).unwrap();
    let id = cart["cart_id"].as_str().unwrap();
    let locked = mall.state().await.lock_cart(id, &caller(), &lease, now).await.unwrap();
    assert!(matches!(locked, CartLock::Held(_)));
    lease
}

async fn hasty() -> Mall {
    let config = CartConfig {
        budget_ms: 6_000,
        ..CartConfig::default()
    };
    Mall::with(1, config).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_that_somebody_else_changes_is_read_at_once_and_changed_when_they_are_through() {
    let mall = hasty().await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let _lease = hold(&mall, &cart, 4_200).await;
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(group(&read, &mall.brand(0))["verified"], true);
    let more = Call::post(path(&cart, "/lines"), json!({ "items": [mall.item(0, 1, 1)] })).once("k");
    let (status, headers, body) = server.send_whole(more.clone()).await;
    assert_eq!((status.as_u16(), &body["code"]), (503, &json!("overloaded")));
    assert_eq!(
        headers["retry-after"], "5",
        "the time until nobody has it, in whole seconds"
    );
    mall.clock.advance_ms(5_000);
    let after = server.data(more).await;
    assert_eq!(group(&after, &mall.brand(0))["lines"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_whose_store_forgot_it_is_read_while_somebody_else_changes_it() {
    let mall = hasty().await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    // Stores delete carts after a month on their own clock.
    mall.stores.advance_clock(std::time::Duration::from_secs(40 * 86_400));
    let lease = hold(&mall, &cart, 60_000).await;
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(
        (&group(&read, &mall.brand(0))["verified"], &read["problems"][0]["code"]),
        (&json!(false), &json!("overloaded"))
    );
    let id = cart["cart_id"].as_str().unwrap();
    mall.state().await.unlock_cart(id, &lease).await.unwrap();
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(group(&read, &mall.brand(0))["warnings"][0]["code"], "cart_rebuilt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_flight_elsewhere_says_for_how_long_at_most() {
    let mall = hasty().await;
    let server = mall.server().await;
    let call = Call::post("/v1/cart", json!({ "items": [mall.item(0, 0, 1)] })).once("k");
    let fault = emulator::Fault::AnswerLost { hold_ms: 60_000 };
    mall.stores.set_fault(&mall.slug(0), fault).unwrap();
    let (first, second) = tokio::join!(server.send(call.clone()), async {
        while mall.calls(0, "cartCreate") == 0 {
            tokio::task::yield_now().await;
        }
        server.send_whole(call.clone()).await
    });
    let (status, headers, body) = second;
    assert_eq!((status.as_u16(), &body["code"]), (409, &json!("idempotency_conflict")));
    assert_eq!(headers["retry-after"], "6");
    assert_eq!(first.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_takes_longer_than_a_lease_keeps_it() {
    let config = CartConfig {
        budget_ms: 40_000,
        ..CartConfig::default()
    };
    let mall = Mall::with(1, config).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let rule = emulator::FaultRule {
        operation: Some("cartLinesAdd".to_owned()),
        first: Some(1),
        ..emulator::FaultRule::from(emulator::Fault::AnswerLost { hold_ms: 60_000 })
    };
    mall.stores.set_faults(&mall.slug(0), [rule]).unwrap();
    let more = Call::post(path(&cart, "/lines"), json!({ "items": [mall.item(0, 1, 1)] }));
    let other = mall.server().await;
    let slow = async { server.data(more).await };
    let beside = async {
        while mall.calls(0, "cartLinesAdd") == 0 {
            tokio::task::yield_now().await;
        }
        // The lease would have expired by now without renewals.
        for _ in 0..2 {
            mall.clock.advance_ms(4_000);
            let renewed = renewed_until(&mall, &cart).await;
            tokio::time::timeout(std::time::Duration::from_secs(30), renewed)
                .await
                .unwrap();
        }
        other.data(Call::get(path(&cart, ""))).await
    };
    let (slow, beside) = tokio::join!(slow, beside);
    assert_eq!(slow["problems"], json!([]));
    assert_eq!(group(&beside, &mall.brand(0))["verified"], true);
    assert_eq!(mall.calls(0, "cartLinesAdd"), 1);
}

/// Waits until the lease on a cart lasts for more than five seconds from now.
async fn renewed_until<'a>(mall: &'a Mall, cart: &'a Value) -> impl Future<Output = ()> + 'a {
    let state = mall.state().await;
    async move {
        let id = cart["cart_id"].as_str().unwrap();
        loop {
            let now = mall.clock.now();
            let lease = Lease::new(now).unwrap();
            let lock = state.lock_cart(id, &caller(), &lease, now).await.unwrap();
            assert!(matches!(lock, CartLock::Busy { .. }), "{lock:?}");
            if matches!(lock, CartLock::Busy { until } if until > now.plus_millis(5_000)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_alone_with_its_folder_goes_on_at_once() {
    let mall = hasty().await;
    let cart = {
        let server = mall.server().await;
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let _ = hold(&mall, &cart, 3_600_000).await;
        cart
    };
    let StateTarget::Folder(_) = &mall.target else {
        panic!("the state is in a folder")
    };
    let server = mall.server().await;
    let more = json!({ "items": [mall.item(0, 1, 1)] });
    server.data(Call::post(path(&cart, "/lines"), more)).await;
}
