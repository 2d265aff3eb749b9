use emulator::Fault;
use futures::future::join_all;
use http::Method;
use serde_json::json;

use super::mall::{Call, Mall, path};

#[tokio::test(flavor = "multi_thread")]
async fn equal_reads_of_a_cart_share_one_answer_until_the_cart_is_changed() {
    let mut mall = Mall::open(2).await;
    mall.reuse_ms = 600_000;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let read = || server.data(Call::get(path(&cart, "")));
    let asked = || (mall.calls(0, "cart"), mall.calls(1, "cart"));
    let before = asked();
    let told = join_all((0..20).map(|_| read())).await;
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
    assert!(
        told[0]["groups"]
            .as_array()
            .unwrap()
            .iter()
            .all(|group| group["verified"] == true)
    );
    assert_eq!(read().await, told[0]);
    assert_eq!(asked(), (before.0 + 1, before.1 + 1));
    // The response to a change has the current cart, and so have later reads.
    let item = mall.item(0, 1, 2);
    server
        .data(Call::post(path(&cart, "/lines"), json!({ "items": [item] })))
        .await;
    let changed = asked();
    let now = read().await;
    assert_ne!(now["totals"], told[0]["totals"]);
    assert_eq!(asked(), (changed.0 + 1, changed.1 + 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_used_again_states_when_the_stores_were_read() {
    let mut mall = Mall::open(1).await;
    mall.reuse_ms = 600_000;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    mall.clock.advance_ms(1_000);
    let read = async || server.send(Call::get(path(&cart, ""))).await.1;
    let first = read().await;
    let now = data_model::Clock::now(mall.clock.as_ref()).to_string();
    assert_eq!(first["as_of"], now);
    assert_eq!(first["data"]["groups"][0]["as_of"], now);
    mall.clock.advance_ms(5_000);
    assert_eq!(read().await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_not_all_stores_said_is_not_told_again() {
    let mut mall = Mall::open(2).await;
    mall.reuse_ms = 600_000;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    mall.stores.set_fault(&mall.slug(1), Fault::HtmlForJson).unwrap();
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(told["problems"][0]["brand_slug"], mall.brand(1), "{told}");
    mall.stores.set_fault(&mall.slug(1), None).unwrap();
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(told["problems"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_counts_as_many_as_there_are_stores_that_it_asks() {
    let mut mall = Mall::open(3).await;
    mall.reuse_ms = 600_000;
    let server = mall.server().await;
    let items = [mall.item(0, 0, 1), mall.item(1, 0, 1), mall.item(2, 0, 1)];
    let cart = server.cart(&items).await;
    assert_eq!(mall.counted.requests(), 3, "create_cart");
    server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(mall.counted.requests(), 3, "get_cart");
    server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(mall.counted.requests(), 1, "no store was asked");
    server
        .data(Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })))
        .await;
    assert_eq!(mall.counted.requests(), 3, "create_checkout");
    let idents: Vec<_> = items.iter().map(|item| item["product_id"].clone()).collect();
    server.data(Call::post("/v1/prices", json!({ "idents": idents }))).await;
    assert_eq!(mall.counted.requests(), 3, "get_prices");
    server
        .data(Call::post("/v1/prices", json!({ "idents": [idents[0], idents[0]] })))
        .await;
    assert_eq!(mall.counted.requests(), 1, "get_prices of one store");
    // The repeated request is executed and counted only once, because it has the same key.
    let again = Call::new(Method::DELETE, path(&cart, "")).once("end");
    server.data(again).await;
    assert_eq!(mall.counted.requests(), 3, "end_cart");
    server
        .data(Call::new(Method::DELETE, path(&cart, "")).once("end"))
        .await;
    assert_eq!(mall.counted.requests(), 1, "end_cart, told again");
}
