//! Tests of late settings: a store carries out an older call after a newer one.

use emulator::{Fault, FaultRule, ZoneKind, ZoneRules};
use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, Server, group, path};

/// Postal code with two delivery options, and another with one option.
pub(super) const ZIPS: [&str; 2] = ["560001", "570001"];

/// Defines delivery options that show the delivery address of a store's carts.
pub(super) fn tell_places(mall: &Mall, store: usize) {
    let rules = ZoneRules {
        kind: ZoneKind::ExpressInMetros,
        seed: 1,
    };
    mall.stores.set_zone_rules(&mall.slug(store), Some(rules)).unwrap();
}

pub(super) fn address(cart: &Value, zip: &str) -> Call {
    let body = json!({ "zip": zip, "country": "IN", "province": "KA", "city": "Bengaluru" });
    Call::post(path(cart, "/address"), body)
}

async fn open() -> (Mall, Server, Value) {
    let mall = Mall::open(1).await;
    tell_places(&mall, 0);
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let cart = server.data(address(&cart, ZIPS[0])).await;
    (mall, server, cart)
}

/// Returns the settings of a cart as its store has them.
fn settings(mall: &Mall, cart: &Value) -> [Value; 2] {
    assert_eq!(cart["problems"], json!([]), "{cart:#}");
    let group = group(cart, &mall.brand(0));
    assert_eq!(group["verified"], true, "{group:#}");
    ["discount_codes", "delivery_options"].map(|member| group[member].clone())
}

/// Makes two changes. The first call fails with the status 504 and is repeated. The store carries out the first copy of
/// the call after the second change.
async fn cross(mall: &Mall, server: &Server, operation: &str, [older, newer]: [Call; 2]) {
    let late = FaultRule::from(Fault::Delayed { status: 504 }).on_operation(operation);
    mall.stores.set_faults(&mall.slug(0), [late.first(1)]).unwrap();
    assert_eq!(server.data(older).await["problems"], json!([]), "{operation}");
    mall.stores.set_fault(&mall.slug(0), None).unwrap();
    assert_eq!(server.data(newer).await["problems"], json!([]), "{operation}");
}

fn changes(mall: &Mall, cart: &Value) -> [(&'static str, [Call; 2]); 4] {
    let code = |method| Call::new(method, path(cart, "/discount/LATE"));
    let added = Call::post(path(cart, "/discount"), json!({ "code": "LATE" }));
    let options = group(cart, &mall.brand(0))["delivery_options"].clone();
    let choice = |nth: usize| {
        let body = json!({ "brand": mall.brand(0), "handle": options[nth]["handle"] });
        Call::post(path(cart, "/delivery"), body)
    };
    let checkout = || Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] }));
    [
        ("cartDiscountCodesUpdate", [added, code(Method::DELETE)]),
        ("cartSelectedDeliveryOptionsUpdate", [choice(1), choice(0)]),
        ("cartAttributesUpdate", [checkout(), checkout()]),
        (
            "cartDeliveryAddressesReplace",
            [ZIPS[1], ZIPS[0]].map(|zip| address(cart, zip)),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_set_last_is_set_again_once_where_an_older_call_comes_late() {
    let (mall, server, cart) = open().await;
    let read = || server.data(Call::get(path(&cart, "")));
    for (operation, calls) in changes(&mall, &cart) {
        cross(&mall, &server, operation, calls).await;
        let before = settings(&mall, &read().await);
        assert_eq!(mall.stores.catch_up(&mall.slug(0)).unwrap(), 1, "{operation}");
        let calls = mall.calls(0, operation);
        for _ in 0..2 {
            assert_eq!(settings(&mall, &read().await), before, "{operation}");
            assert_eq!(mall.calls(0, operation), calls + 1, "{operation}");
        }
        // No call is running any more.
        mall.clock.advance_ms(120_000);
        read().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn once_no_call_can_be_under_way_what_is_set_at_the_store_is_the_stores() {
    let (mall, server, cart) = open().await;
    let read = || server.data(Call::get(path(&cart, "")));
    for (operation, calls) in changes(&mall, &cart) {
        cross(&mall, &server, operation, calls).await;
        mall.clock.advance_ms(120_000);
        read().await;
        assert_eq!(mall.stores.catch_up(&mall.slug(0)).unwrap(), 1, "{operation}");
        let calls = mall.calls(0, operation);
        settings(&mall, &read().await);
        assert_eq!(mall.calls(0, operation), calls, "{operation}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_set_again_is_a_problem_until_it_is() {
    let (mall, server, cart) = open().await;
    let read = || server.data(Call::get(path(&cart, "")));
    for (operation, calls) in changes(&mall, &cart) {
        cross(&mall, &server, operation, calls).await;
        let before = settings(&mall, &read().await);
        mall.stores.catch_up(&mall.slug(0)).unwrap();
        let down = FaultRule::from(Fault::Status {
            status: 503,
            retry_after_s: None,
        });
        mall.stores
            .set_faults(&mall.slug(0), [down.on_operation(operation)])
            .unwrap();
        for _ in 0..2 {
            let told = read().await;
            assert_eq!(told["problems"][0]["code"], "store_unavailable", "{operation}");
            assert_eq!(group(&told, &mall.brand(0))["verified"], false, "{operation}");
            // The clock advances past the time in which a late call can still take effect.
            mall.clock.advance_ms(120_000);
        }
        mall.stores.set_fault(&mall.slug(0), None).unwrap();
        assert_eq!(settings(&mall, &read().await), before, "{operation}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_late_address_takes_out_and_unchooses_comes_back_with_the_address() {
    let (mall, server, cart) = open().await;
    let abroad = Call::post(path(&cart, "/address"), json!({ "country": "US", "zip": "10001" }));
    cross(
        &mall,
        &server,
        "cartDeliveryAddressesReplace",
        [abroad, address(&cart, ZIPS[0])],
    )
    .await;
    let options = group(&cart, &mall.brand(0))["delivery_options"].clone();
    let choice = json!({ "brand": mall.brand(0), "handle": options[1]["handle"] });
    let chosen = server.data(Call::post(path(&cart, "/delivery"), choice)).await;
    mall.stores.catch_up(&mall.slug(0)).unwrap();
    let told = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(settings(&mall, &told), settings(&mall, &chosen));
    assert_eq!(group(&told, &mall.brand(0))["lines"][0]["qty"], 1);
    assert_eq!(told["combined_total_minor"], chosen["combined_total_minor"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_a_store_does_not_take_is_asked_for_once_and_stays_a_problem() {
    let (mall, server, cart) = open().await;
    let wrong = json!({ "zip": ZIPS[0], "city": "<b>Bengaluru</b>" });
    let operation = "cartDeliveryAddressesReplace";
    let wrong = Call::post(path(&cart, "/address"), wrong);
    let late = FaultRule::from(Fault::Delayed { status: 504 }).on_operation(operation);
    mall.stores.set_faults(&mall.slug(0), [late.first(1)]).unwrap();
    server.data(address(&cart, ZIPS[1])).await;
    let told = server.data(wrong).await;
    mall.stores.catch_up(&mall.slug(0)).unwrap();
    let calls = mall.calls(0, operation);
    for _ in 0..2 {
        let read = server.data(Call::get(path(&cart, ""))).await;
        assert_eq!(read["problems"], told["problems"]);
        assert_eq!(read["problems"][0]["code"], "store_rejected");
        assert_eq!(group(&read, &mall.brand(0))["verified"], false);
    }
    let checkout = Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] }));
    assert_eq!(server.data(checkout).await["checkouts"], json!([]));
    assert_eq!(mall.calls(0, operation), calls);
    assert_eq!(server.data(address(&cart, ZIPS[0])).await["problems"], json!([]));
}
