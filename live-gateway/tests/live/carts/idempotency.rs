use std::sync::Arc;

use emulator::{Fault, FaultRule};
use futures::future::join_all;
use serde_json::{Value, json};

use super::mall::{Call, Mall, after_the_first_read, group, path};

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
    // A repeated request gets the same response, even from the other server.
    let (status, headers, body) = servers[1]
        .send_whole(Call::post(path(&cart, "/lines"), more.clone()).once("k-1"))
        .await;
    assert_eq!((status.as_u16(), &body), (200, &done[0]));
    assert_eq!(headers["idempotent-replayed"], "true");
    // A different request under the same key is refused. Another caller may use the same key.
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
    // The last request waits for all others, so the time budget is long.
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

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_problems_pass_is_not_kept_and_what_is_left_is_done_once() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let down = FaultRule {
        path: Some("/api/".to_owned()),
        ..FaultRule::from(Fault::Status {
            status: 503,
            retry_after_s: None,
        })
    };
    let pieces = |cart: &Value, store: usize| {
        let lines = group(cart, &mall.brand(store))["lines"].clone();
        let lines = lines.as_array().cloned().unwrap_or_default();
        let mut pieces: Vec<_> = lines.iter().map(|line| line["qty"].as_u64().unwrap()).collect();
        pieces.sort_unstable();
        pieces
    };
    let both = |quantity| json!({ "items": [mall.item(0, 0, quantity), mall.item(1, 0, quantity)] });
    mall.stores.set_faults(&mall.slug(1), [down.clone()]).unwrap();
    let make = || Call::post("/v1/cart", both(1)).once("make");
    let made = server.data(make()).await;
    assert_eq!(made["problems"][0]["code"], "store_unavailable");
    mall.stores.set_faults(&mall.slug(1), Vec::<FaultRule>::new()).unwrap();
    let cart = server.data(make()).await;
    assert_eq!((&cart["cart_id"], &cart["problems"]), (&made["cart_id"], &json!([])));
    assert_eq!((pieces(&cart, 0), pieces(&cart, 1)), (vec![1], vec![1]));

    mall.stores.set_faults(&mall.slug(1), [down]).unwrap();
    let add = || Call::post(path(&cart, "/lines"), both(2)).once("add");
    let told = server.data(add()).await;
    assert_eq!(told["problems"][0]["code"], "store_unavailable");
    assert_eq!(pieces(&told, 0), [3]);
    mall.stores.set_faults(&mall.slug(1), Vec::<FaultRule>::new()).unwrap();
    let (status, headers, body) = server.send_whole(add()).await;
    assert_eq!((status.as_u16(), &body["data"]["problems"]), (200, &json!([])));
    assert!(!headers.contains_key("idempotent-replayed"));
    assert_eq!((pieces(&body["data"], 0), pieces(&body["data"], 1)), (vec![3], vec![3]));
    let (_, headers, again) = server.send_whole(add()).await;
    assert_eq!(
        (headers["idempotent-replayed"].to_str().unwrap(), &again),
        ("true", &body)
    );
    let (status, _) = server
        .send(Call::post(path(&cart, "/lines"), both(5)).once("add"))
        .await;
    assert_eq!(status, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_did_before_it_failed_is_not_done_again_under_the_key() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let slug = mall.slug(0);
    let pieces = |cart: &Value| {
        let lines = group(cart, &mall.brand(0))["lines"].clone();
        let lines = lines.as_array().cloned().unwrap_or_default();
        let mut pieces: Vec<_> = lines.iter().map(|line| line["qty"].as_u64().unwrap()).collect();
        pieces.sort_unstable();
        pieces
    };
    // The quantity of the first line increases, and the second line is not added.
    let down = Fault::Status {
        status: 503,
        retry_after_s: None,
    };
    let more = json!({ "items": [mall.item(0, 0, 1), mall.item(0, 1, 1)] });
    let add = || Call::post(path(&cart, "/lines"), more.clone()).once("add");
    mall.stores
        .set_faults(&slug, [FaultRule::from(down.clone()).on_operation("cartLinesAdd")])
        .unwrap();
    for _ in 0..2 {
        let told = server.data(add()).await;
        assert_eq!(
            (&told["problems"][0]["code"], pieces(&told)),
            (&json!("store_unavailable"), vec![2])
        );
    }
    mall.stores.set_faults(&slug, Vec::<FaultRule>::new()).unwrap();
    let told = server.data(add()).await;
    assert_eq!((&told["problems"], pieces(&told)), (&json!([]), vec![1, 2]));
    // The responses of the addition and of the following read are lost. A later read finds the effect of the addition
    // before the request is repeated.
    let lost = FaultRule::from(Fault::EdgeFailed { status: 502 }).on_path("/api/");
    let add = || Call::post(path(&cart, "/lines"), more.clone()).once("lost");
    mall.stores.set_faults(&slug, after_the_first_read(lost)).unwrap();
    assert_eq!(server.data(add()).await["problems"][0]["code"], "store_unavailable");
    mall.stores.set_faults(&slug, Vec::<FaultRule>::new()).unwrap();
    let read = server.data(Call::get(path(&cart, ""))).await;
    let told = server.data(add()).await;
    assert_eq!(
        (&told["problems"], pieces(&told)),
        (&json!([]), vec![2, 3]),
        "after {read}"
    );
    let line = told["groups"][0]["lines"][0]["line_id"].as_str().unwrap();
    let set = || {
        Call::new(http::Method::PATCH, path(&cart, &format!("/lines/{line}")))
            .with(json!({ "qty": 1 }))
            .once("set")
    };
    mall.stores
        .set_faults(&slug, [FaultRule::from(down).on_path("/api/")])
        .unwrap();
    assert_eq!(server.data(set()).await["problems"][0]["code"], "store_unavailable");
    mall.stores.set_faults(&slug, Vec::<FaultRule>::new()).unwrap();
    assert!(pieces(&server.data(set()).await).contains(&1));
}
