//! Tests of shortages: a shortage at a store is reported, and the missing units are requested again if that may help.

use emulator::{Fault, FaultRule};
use serde_json::{Value, json};

use super::mall::{Call, Mall, assert_sums, group, path};

fn quantity(cart: &Value, mall: &Mall) -> (u64, u64) {
    let line = &group(cart, &mall.brand(0))["lines"][0];
    (line["qty"].as_u64().unwrap(), line["requested_qty"].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_says_what_the_store_has_less_of() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let (_, variant, _) = mall.goods(0)[0].clone();
    mall.stores.set_stock(&mall.slug(0), variant, 9).unwrap();
    let cart = server.cart(&[mall.item(0, 0, 5)]).await;
    let body = json!({ "cart_id": cart["cart_id"] });
    let whole = server.data(Call::post("/v1/checkout", body.clone())).await;
    assert_eq!(
        (&whole["problems"], whole["checkouts"].as_array().unwrap().len()),
        (&json!([]), 1)
    );
    mall.stores.set_stock(&mall.slug(0), variant, 2).unwrap();
    let less = server.data(Call::post("/v1/checkout", body.clone())).await;
    assert_eq!(less["checkouts"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&less["problems"][0]["code"], &less["problems"][0]["detail"]),
        (
            &json!("store_rejected"),
            &json!("The store has only 2 of the 5 requested.")
        )
    );
    mall.stores.set_stock(&mall.slug(0), variant, 0).unwrap();
    let none = server.data(Call::post("/v1/checkout", body)).await;
    assert_eq!((&none["checkouts"], &none["attribution"]), (&json!([]), &Value::Null));
    assert_eq!(none["problems"][0]["detail"], "The store has none of the 5 requested.");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_does_not_sell_to_one_address_is_asked_for_again_at_the_next() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 3)]).await;
    let to = async |country: &str| {
        let body = json!({ "zip": "560001", "country": country });
        server.data(Call::post(path(&cart, "/address"), body)).await
    };
    let home = to("IN").await;
    assert_eq!(quantity(&home, &mall), (3, 3));
    let nowhere = to("ZZ").await;
    assert_eq!(quantity(&nowhere, &mall), (0, 3));
    let back = to("IN").await;
    assert_sums(&back);
    assert_eq!((quantity(&back, &mall), &back["totals"]), ((3, 3), &home["totals"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_while_lines_were_added_is_looked_up_at_the_store_and_called_no_refusal() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let rule = FaultRule::from(Fault::QueryErrors { partial: true }).on_operation("cartLinesAdd");
    mall.stores.set_faults(&mall.slug(0), [rule]).unwrap();
    let more = json!({ "items": [mall.item(0, 1, 1)] });
    let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
    let problems = told["problems"].as_array().unwrap();
    assert!(problems.iter().all(|one| one["code"] != "store_rejected"), "{told}");
    mall.stores.set_fault(&mall.slug(0), None).unwrap();
    let after = server.data(Call::get(path(&cart, ""))).await;
    let lines = group(&after, &mall.brand(0))["lines"].as_array().unwrap().clone();
    assert!(lines.iter().all(|line| line["qty"] == 1), "{after}");
    assert_sums(&after);
}
