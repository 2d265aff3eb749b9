use http::Method;
use serde_json::json;

use super::mall::{Call, Mall, group, path};

#[tokio::test(flavor = "multi_thread")]
async fn another_callers_cart_looks_absent_on_every_route() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let line = group(&cart, &mall.brand(0))["lines"][0]["line_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let at = |below: &str| path(&cart, below);
    let calls = [
        Call::get(at("")),
        Call::post(at("/lines"), json!({ "items": [mall.item(0, 0, 1)] })),
        Call::new(Method::PATCH, at(&format!("/lines/{line}"))).with(json!({ "qty": 2 })),
        Call::new(Method::DELETE, at(&format!("/lines/{line}"))),
        Call::post(at("/discount"), json!({ "code": "TEN" })),
        Call::new(Method::DELETE, at("/discount/TEN")),
        Call::post(at("/address"), json!({ "zip": "560001" })),
        Call::post(at("/delivery"), json!({ "brand": mall.brand(0), "handle": "h" })),
        Call::new(Method::POST, at("/optimize")),
        Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })),
    ];
    let absent = Call::get("/v1/cart/00000000000000000000000000000000");
    let (status, mut nothing) = server.send(absent).await;
    assert_eq!(status, 404);
    for call in calls {
        let told = format!("{call:?}");
        let (status, mut body) = server.send(call.clone().by("ravi")).await;
        assert_eq!(
            (status.as_u16(), body["code"].as_str()),
            (404, Some("cart_not_found")),
            "{told}"
        );
        // The response must equal the response for a cart that never existed.
        for body in [&mut body, &mut nothing] {
            body["request_id"] = json!("r");
        }
        assert_eq!(body, nothing, "{told}");
        let (status, body) = server.send(call.by(None)).await;
        assert_eq!(
            (status.as_u16(), body["code"].as_str()),
            (401, Some("missing_credentials")),
            "{told}"
        );
    }
    let again = server.data(Call::get(at(""))).await;
    assert_eq!(
        again["groups"][0]["lines"], cart["groups"][0]["lines"],
        "and nothing was changed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_cart_id_names_no_cart() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    for id in ["x", "0", "..%2F..", "%FF", "0123456789ABCDEF0123456789ABCDEF"] {
        let (status, body) = server.send(Call::get(format!("/v1/cart/{id}"))).await;
        assert_eq!(
            (status.as_u16(), body["code"].as_str()),
            (404, Some("cart_not_found")),
            "{id}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_is_forgotten_when_it_is_over() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    mall.clock.advance_ms(29 * 86_400_000);
    server
        .data(Call::post(path(&cart, "/discount"), json!({ "code": "X" })))
        .await;
    mall.clock.advance_ms(29 * 86_400_000);
    server.data(Call::get(path(&cart, ""))).await;
    mall.clock.advance_ms(2 * 86_400_000);
    let (status, _) = server.send(Call::get(path(&cart, ""))).await;
    assert_eq!(status, 404);
}
