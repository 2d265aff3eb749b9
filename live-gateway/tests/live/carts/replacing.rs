//! Tests of replacing the whole content of a cart, and of deleting a cart.

use emulator::{Fault, FaultRule};
use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, Server, assert_sums, group, path};

/// Returns the products and quantities in a brand's group.
fn pieces(cart: &Value, brand: &str) -> Vec<(String, u64, u64)> {
    let lines = group(cart, brand)["lines"].as_array().cloned().unwrap_or_default();
    let mut pieces: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["product_id"].as_str().unwrap().to_owned(),
                line["qty"].as_u64().unwrap(),
                line["requested_qty"].as_u64().unwrap(),
            )
        })
        .collect();
    pieces.sort();
    pieces
}

fn replaced(cart: &Value, items: &[Value]) -> Call {
    Call::new(Method::PUT, path(cart, "/lines")).with(json!({ "items": items }))
}

async fn read(server: &Server, cart: &Value) -> Value {
    server.data(Call::get(path(cart, ""))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_those_that_are_named_and_brands_come_and_go() {
    let mall = Mall::open(3).await;
    let server = mall.server().await;
    let cart = server
        .cart(&[mall.item(0, 0, 1), mall.item(0, 1, 2), mall.item(1, 0, 1)])
        .await;
    let wanted = [mall.item(0, 1, 1), mall.item(0, 2, 1), mall.item(2, 0, 1)];
    let after = server.data(replaced(&cart, &wanted)).await;
    assert_sums(&after);
    assert_eq!(after["problems"], json!([]));
    let mut of_first = vec![(mall.goods(0)[1].0.clone(), 1, 1), (mall.goods(0)[2].0.clone(), 1, 1)];
    of_first.sort();
    assert_eq!(pieces(&after, &mall.brand(0)), of_first);
    assert_eq!(group(&after, &mall.brand(1)), Value::Null);
    assert_eq!(pieces(&after, &mall.brand(2)), [(mall.goods(2)[0].0.clone(), 1, 1)]);
    assert_eq!(read(&server, &cart).await["totals"], after["totals"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replacement_is_made_once_for_each_key() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let to = |quantity: u32| replaced(&cart, &[mall.item(0, 0, quantity)]).once("replace");
    let first = server.data(to(3)).await;
    server.data(replaced(&cart, &[mall.item(0, 1, 1)])).await;
    assert_eq!(server.data(to(3)).await, first, "what was answered then");
    let (status, body) = server.send(to(4)).await;
    assert_eq!((status.as_u16(), &body["code"]), (422, &json!("idempotency_mismatch")));
    assert_eq!(
        pieces(&read(&server, &cart).await, &mall.brand(0)),
        [(mall.goods(0)[1].0.clone(), 1, 1)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_had_is_told_and_never_empties_a_cart() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 2)]).await;
    let absent = json!({ "product_id": "00000000-0000-5000-8000-000000000000", "qty": 1 });
    let (status, nothing) = server.send(replaced(&cart, std::slice::from_ref(&absent))).await;
    assert_eq!((status.as_u16(), &nothing["code"]), (404, &json!("product_not_found")));
    assert_eq!(pieces(&read(&server, &cart).await, &mall.brand(0))[0].1, 2);
    let some = server.data(replaced(&cart, &[absent, mall.item(0, 1, 1)])).await;
    assert_eq!(some["problems"][0]["code"], "product_not_found");
    assert_eq!(pieces(&some, &mall.brand(0)), [(mall.goods(0)[1].0.clone(), 1, 1)]);
    let (status, _) = server.send(replaced(&cart, &[])).await;
    assert_eq!(status, 422);
    let (status, body) = server
        .send(replaced(&cart, &[mall.item(0, 0, 999), mall.item(0, 0, 999)]))
        .await;
    assert_eq!((status.as_u16(), &body["code"]), (422, &json!("validation")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_takes_nothing_new_leaves_the_cart_with_what_it_had() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 2)]).await;
    let had = pieces(&cart, &mall.brand(0));
    let fails =
        |operation: &'static str| FaultRule::from(Fault::QueryErrors { partial: false }).on_operation(operation);
    mall.stores.set_faults(&mall.slug(0), [fails("cartLinesAdd")]).unwrap();
    mall.stores.set_faults(&mall.slug(1), [fails("cartCreate")]).unwrap();
    for items in [[mall.item(0, 1, 1)], [mall.item(1, 0, 1)]] {
        let told = server.data(replaced(&cart, &items)).await;
        assert_ne!(told["problems"], json!([]), "{told}");
        assert_eq!(pieces(&told, &mall.brand(0)), had, "{told}");
        assert_eq!(pieces(&read(&server, &cart).await, &mall.brand(0)), had);
    }
    for store in 0..2 {
        mall.stores.set_fault(&mall.slug(store), None).unwrap();
    }
    // The items of other brands stay in the cart if a store refuses the new items.
    let both = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    mall.stores.set_faults(&mall.slug(0), [fails("cartLinesAdd")]).unwrap();
    let told = server.data(replaced(&both, &[mall.item(0, 1, 1)])).await;
    for store in 0..2 {
        assert_eq!(
            pieces(&told, &mall.brand(store)),
            pieces(&both, &mall.brand(store)),
            "{told}"
        );
    }
    mall.stores.set_fault(&mall.slug(0), None).unwrap();
    let other = server.data(replaced(&cart, &[mall.item(1, 0, 1)])).await;
    assert_eq!(
        (&other["problems"], group(&other, &mall.brand(0))),
        (&json!([]), Value::Null)
    );
    assert_eq!(pieces(&other, &mall.brand(1)), [(mall.goods(1)[0].0.clone(), 1, 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_accepts_what_a_store_has_has_asked_for_that() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let (product, variant, _) = mall.goods(0)[0].clone();
    mall.stores.set_stock(&mall.slug(0), variant, 2).unwrap();
    let cart = server.cart(&[mall.item(0, 0, 5)]).await;
    assert_eq!(pieces(&cart, &mall.brand(0)), [(product.clone(), 2, 5)]);
    let accepted = server.data(replaced(&cart, &[mall.item(0, 0, 2)])).await;
    assert_eq!(pieces(&accepted, &mall.brand(0)), [(product.clone(), 2, 2)]);
    assert_eq!(group(&accepted, &mall.brand(0))["verified"], true);
    assert_eq!(
        pieces(&read(&server, &cart).await, &mall.brand(0)),
        [(product.clone(), 2, 2)]
    );

    let other = server.cart(&[mall.item(0, 0, 5)]).await;
    let line = group(&other, &mall.brand(0))["lines"][0]["line_id"].clone();
    let at = path(&other, &format!("/lines/{}", line.as_str().unwrap()));
    let set = server
        .data(Call::new(Method::PATCH, at).with(json!({ "qty": 2 })))
        .await;
    assert_eq!(pieces(&set, &mall.brand(0)), [(product, 2, 2)]);
    assert_eq!(group(&set, &mall.brand(0))["verified"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_that_is_ended_is_told_once_more_and_found_no_more() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let end = || Call::new(Method::DELETE, path(&cart, "")).once("end");
    let (status, _) = server.send(end().by("ravi")).await;
    assert_eq!(status, 404, "another's cart");
    let last = server.data(end()).await;
    assert_eq!((&last["totals"], &last["cart_id"]), (&cart["totals"], &cart["cart_id"]));
    assert_eq!(server.data(end()).await, last, "the answer that was given");
    for call in [
        Call::get(path(&cart, "")),
        Call::new(Method::DELETE, path(&cart, "")),
        Call::post(path(&cart, "/lines"), json!({ "items": [mall.item(0, 0, 1)] })),
        replaced(&cart, &[mall.item(0, 0, 1)]),
        Call::post(path(&cart, "/discount"), json!({ "code": "X" })),
        Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })),
    ] {
        let told = format!("{call:?}");
        let (status, body) = server.send(call).await;
        assert_eq!(
            (status.as_u16(), &body["code"]),
            (404, &json!("cart_not_found")),
            "{told}"
        );
    }
    assert_eq!(
        (mall.calls(0, "cartLinesRemove"), mall.calls(1, "cartLinesRemove")),
        (1, 1)
    );
}
