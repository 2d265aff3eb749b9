use std::sync::Arc;

use futures::future::join_all;
use serde_json::json;

use super::mall::{Call, Mall, path};

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
        if status == 409 {
            assert_eq!(body["code"], "idempotency_conflict");
        } else {
            assert_eq!(status, 200, "{body}");
            done.push(body);
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
    assert_eq!(
        (&body["detail"][0]["type"], &body["detail"][0]["loc"]),
        (&json!("idempotency_mismatch"), &json!(["header", "Idempotency-Key"]))
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

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_one_cart_at_two_servers_come_one_after_the_other() {
    // The last of them waits for all others.
    let config = live_gateway::CartConfig {
        budget_ms: 50_000,
        ..live_gateway::CartConfig::default()
    };
    let mall = Mall::with(1, config).await;
    let servers = [Arc::new(mall.server().await), Arc::new(mall.server().await)];
    let cart = servers[0].cart(&[mall.item(0, 0, 1)]).await;
    let sent = (0..10).map(|nth| {
        let body = json!({ "items": [mall.item(0, nth % 2, 1)] });
        let (server, call) = (Arc::clone(&servers[nth % 2]), Call::post(path(&cart, "/lines"), body));
        tokio::spawn(async move { server.data(call).await })
    });
    for told in join_all(sent).await {
        assert_eq!(told.unwrap()["problems"], json!([]));
    }
    let read = servers[0].data(Call::get(path(&cart, ""))).await;
    let lines = read["groups"][0]["lines"].as_array().unwrap();
    let mut pieces: Vec<_> = lines.iter().map(|line| line["qty"].as_u64().unwrap()).collect();
    pieces.sort_unstable();
    assert_eq!(pieces, [5, 6]);
}
