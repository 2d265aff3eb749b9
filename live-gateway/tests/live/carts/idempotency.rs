use std::sync::Arc;

use emulator::{Fault, FaultRule};
use futures::future::join_all;
use live_gateway::CartConfig;
use serde_json::json;

use super::mall::{Call, Mall, assert_sums, group, minor, path};

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_fifty_times_at_once_has_one_effect() {
    let mall = Mall::open(1).await;
    let servers = [Arc::new(mall.server().await), Arc::new(mall.server().await)];
    let cart = servers[0].cart(&[mall.item(0, 0, 1)]).await;
    let more = json!({ "items": [mall.item(0, 1, 2)] });
    let sent = (0..50).map(|nth| {
        let (server, call) = (
            Arc::clone(&servers[nth % 2]),
            Call::post(path(&cart, "/lines"), more.clone()),
        );
        tokio::spawn(async move { server.send(call.once("k-1")).await })
    });
    let mut done = Vec::new();
    for answer in join_all(sent).await {
        let (status, body) = answer.unwrap();
        match status.as_u16() {
            200 => done.push(body),
            409 => assert_eq!(body["code"], "idempotency_conflict"),
            other => panic!("{other}: {body}"),
        }
    }
    assert!(!done.is_empty() && done.iter().all(|body| *body == done[0]));
    assert_eq!(mall.calls(0, "cartLinesAdd"), 1);
    // Asked again, also at the other server, it is the same answer.
    let (status, headers, body) = servers[1]
        .send_whole(Call::post(path(&cart, "/lines"), more.clone()).once("k-1"))
        .await;
    assert_eq!((status.as_u16(), &body), (200, &done[0]));
    assert_eq!(headers["idempotent-replayed"], "true");
    // Another request under the key, and the key of another caller.
    let other = json!({ "items": [mall.item(0, 1, 3)] });
    let (status, body) = servers[0]
        .send(Call::post(path(&cart, "/lines"), other).once("k-1"))
        .await;
    assert_eq!(
        (status.as_u16(), body["code"].as_str()),
        (422, Some("idempotency_mismatch"))
    );
    let (status, _) = servers[0]
        .send(Call::post(path(&cart, "/lines"), more).once("k-1").by("ravi"))
        .await;
    assert_eq!(status, 404);
    assert_eq!(mall.calls(0, "cartLinesAdd"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn carts_made_under_one_key_are_one_cart() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let body = json!({ "items": [mall.item(0, 0, 1), mall.item(1, 0, 1)] });
    let first = server.data(Call::post("/v1/cart", body.clone()).once("new")).await;
    let again = server.data(Call::post("/v1/cart", body.clone()).once("new")).await;
    assert_eq!(first, again);
    let other = server.data(Call::post("/v1/cart", body.clone()).once("newer")).await;
    assert_ne!(first["cart_id"], other["cart_id"]);
    assert_eq!(mall.calls(0, "cartCreate"), 2);
    // After a day the key is free.
    mall.clock.advance_ms(24 * 3_600_000);
    let later = server.data(Call::post("/v1/cart", body).once("new")).await;
    assert_ne!(first["cart_id"], later["cart_id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_did_nothing_may_be_used_again() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let nobody = json!({ "code": "TEN", "brand": "nobody" });
    let (status, _) = server
        .send(Call::post(path(&cart, "/discount"), nobody).once("k"))
        .await;
    assert_eq!(status, 404);
    server
        .data(Call::post(path(&cart, "/discount"), json!({ "code": "TEN" })).once("k"))
        .await;
    for key in ["", "\u{fc}", &"k".repeat(256)] {
        let (status, body) = server
            .send(Call::post(path(&cart, "/discount"), json!({ "code": "A" })).once(key))
            .await;
        assert_eq!(status, 422, "{key}");
        assert_eq!(body["detail"][0]["loc"], json!(["header", "Idempotency-Key"]));
    }
}

/// A server that ends in the middle leaves a lease behind; when it is over, whoever asks again goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ended_in_the_middle_is_taken_over_and_nothing_is_doubled() {
    let config = CartConfig {
        budget_ms: 600_000,
        ..CartConfig::default()
    };
    let mall = Mall::with(2, config).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    // The second store adds the line and never says so; the server waits for it, and is gone.
    let rule = FaultRule {
        path: Some("/api/".to_owned()),
        ..FaultRule::from(Fault::AnswerLost { hold_ms: 60_000 })
    };
    mall.stores.set_faults(&mall.slug(1), [rule]).unwrap();
    let more = json!({ "items": [mall.item(0, 1, 2), mall.item(1, 1, 3)] });
    let call = Call::post(path(&cart, "/lines"), more.clone()).once("mid");
    let ended = std::thread::scope(|scope| {
        let (mall, call) = (&mall, call.clone());
        scope
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    let server = mall.server().await;
                    let sent = server.send(call);
                    let at_the_store = async {
                        while mall.calls(0, "cartLinesAdd") < 1 || mall.calls(1, "cartLinesAdd") < 1 {
                            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                        }
                    };
                    tokio::select! { _ = sent => false, () = at_the_store => true }
                })
                // The runtime ends here, with every task of the server.
            })
            .join()
            .unwrap()
    });
    assert!(ended, "the server ended while the store was asked");
    mall.stores.set_faults(&mall.slug(1), Vec::<FaultRule>::new()).unwrap();
    let (status, body) = server.send(call.clone()).await;
    assert_eq!(
        (status.as_u16(), body["code"].as_str()),
        (409, Some("idempotency_conflict"))
    );
    mall.clock.advance_ms(3_600_000);
    let told = server.data(call.clone()).await;
    assert_sums(&told);
    for (store, pieces) in [(0, 3), (1, 4)] {
        let lines = group(&told, &mall.brand(store));
        let sum: i64 = lines["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| minor(&line["qty"]))
            .sum();
        assert_eq!(sum, pieces, "{lines}");
        assert_eq!(mall.calls(store, "cartLinesAdd"), 1);
    }
    assert_eq!(server.data(call).await, told);
}
