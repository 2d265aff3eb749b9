//! Tests that the state of a store's cart is known after the store refused it, was down, or lost it.

use emulator::{CartFunction, Fault, FaultRule};
use http::Method;
use serde_json::{Value, json};

use super::mall::{Call, Mall, Server, after_the_first_read, assert_sums, group, path};

const MONTH: std::time::Duration = std::time::Duration::from_secs(40 * 86_400);

/// Returns a fault that ends a call before the store carries out anything.
fn down() -> FaultRule {
    FaultRule::from(Fault::Status {
        status: 404,
        retry_after_s: None,
    })
}

fn set(mall: &Mall, rule: impl Into<Option<FaultRule>>) {
    mall.stores.set_faults(&mall.slug(0), rule.into()).unwrap();
}

/// Returns the quantity and the requested quantity of the nth product, summed over its lines.
fn of(cart: &Value, mall: &Mall, nth: usize) -> (u64, u64) {
    let variant = mall.goods(0)[nth].1.to_string();
    let lines = group(cart, &mall.brand(0))["lines"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let lines = lines.iter().filter(|line| line["variant_id"] == variant.as_str());
    let pieces = |line: &Value, name: &str| line[name].as_u64().unwrap();
    lines.fold((0, 0), |(qty, requested), line| {
        (qty + pieces(line, "qty"), requested + pieces(line, "requested_qty"))
    })
}

async fn read(server: &Server, cart: &Value) -> Value {
    server.data(Call::get(path(cart, ""))).await
}

fn replaced(cart: &Value, items: &[Value]) -> Call {
    Call::new(Method::PUT, path(cart, "/lines")).with(json!({ "items": items }))
}

fn address(zip: &str) -> Value {
    json!({ "zip": zip, "country": "IN", "province": "KA", "city": "Bengaluru" })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_problem_says_when_a_repetition_will_not_help() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let status = |status| Fault::Status {
        status,
        retry_after_s: None,
    };
    for (fault, reason) in [
        (status(404), json!("no_api")),
        (Fault::PasswordPage, json!("store_closed")),
        (status(402), json!("store_closed")),
        (status(500), json!(null)),
    ] {
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        set(&mall, FaultRule::from(fault.clone()).on_path("/api/"));
        let read = read(&server, &cart).await;
        let change = server.data(replaced(&cart, &[mall.item(0, 1, 1)])).await;
        set(&mall, None);
        for told in [read, change] {
            let problem = &told["problems"][0];
            assert_eq!(
                (&problem["code"], &problem["reason"]),
                (&json!("store_unavailable"), &reason),
                "{fault:?}: {problem}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replacement_that_a_store_refused_leaves_no_trace() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(0, 1, 2)]).await;
    set(&mall, down().on_operation("cartLinesAdd"));
    let told = server.data(replaced(&cart, &[mall.item(0, 2, 1)])).await;
    set(&mall, None);
    let problems = told["problems"].as_array().unwrap();
    assert_eq!(
        problems.len(),
        1,
        "the true one, and no product that is not found: {told}"
    );
    assert_eq!(problems[0]["code"], "store_unavailable");
    let as_before = |cart: &Value| {
        let pieces = [0, 1, 2].map(|nth| of(cart, &mall, nth));
        assert_eq!(pieces, [(1, 1), (2, 2), (0, 0)], "{cart}");
    };
    as_before(&told);
    // The response of a later addition is lost.
    set(
        &mall,
        FaultRule::from(Fault::AnswerLost { hold_ms: 0 })
            .on_operation("cartLinesAdd")
            .first(1),
    );
    let more = json!({ "items": [mall.item(0, 3, 1)] });
    let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
    assert_eq!((&told["problems"], of(&told, &mall, 3)), (&json!([]), (1, 1)));
    as_before(&told);
    // The store loses its cart.
    mall.stores.advance_clock(MONTH);
    let told = read(&server, &cart).await;
    assert_eq!((&told["problems"], of(&told, &mall, 3)), (&json!([]), (1, 1)));
    as_before(&told);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quantity_that_a_store_refused_is_not_set_by_what_comes_later() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let line = group(&cart, &mall.brand(0))["lines"][0]["line_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let patched = Call::new(Method::PATCH, path(&cart, &format!("/lines/{line}"))).with(json!({ "qty": 9 }));
    for call in [replaced(&cart, &[mall.item(0, 0, 9)]), patched] {
        set(&mall, down().on_operation("cartLinesUpdate"));
        let told = server.data(call).await;
        set(&mall, None);
        assert_eq!(told["problems"].as_array().unwrap().len(), 1, "{told}");
        let body = address("560001");
        let told = server.data(Call::post(path(&cart, "/address"), body)).await;
        assert_eq!((&told["problems"], of(&told, &mall, 0)), (&json!([]), (1, 1)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_a_store_was_not_told_is_told_when_it_answers_again() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    server
        .data(Call::post(path(&cart, "/address"), address("110001")))
        .await;
    let checkout = || Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] }));
    let told_first = mall.calls(0, "cartDeliveryAddressesReplace");
    // The store is down completely, or only for address changes.
    for fault in [
        down().on_path("/api/"),
        down().on_operation("cartDeliveryAddressesReplace"),
    ] {
        set(&mall, fault);
        server
            .data(Call::post(path(&cart, "/address"), address("560001")))
            .await;
        for _ in 0..2 {
            let told = read(&server, &cart).await;
            assert_eq!(group(&told, &mall.brand(0))["verified"], false, "{told}");
            assert_eq!(told["problems"][0]["code"], "store_unavailable");
        }
        let told = server.data(checkout()).await;
        assert_eq!(told["checkouts"], json!([]), "not with the old address");
        assert_ne!(told["problems"], json!([]));
    }
    assert_eq!(mall.calls(0, "cartDeliveryAddressesReplace"), told_first);
    set(&mall, None);
    let told = read(&server, &cart).await;
    assert_eq!(
        (&told["problems"], &group(&told, &mall.brand(0))["verified"]),
        (&json!([]), &json!(true))
    );
    assert_eq!(mall.calls(0, "cartDeliveryAddressesReplace"), told_first + 1);
    read(&server, &cart).await;
    assert_eq!(mall.calls(0, "cartDeliveryAddressesReplace"), told_first + 1, "once");
    assert_eq!(server.data(checkout()).await["checkouts"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_and_a_delivery_that_a_store_was_not_told_are_told_when_it_answers_again() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let cart = server
        .data(Call::post(path(&cart, "/address"), address("560001")))
        .await;
    let options = group(&cart, &mall.brand(0))["delivery_options"]
        .as_array()
        .unwrap()
        .clone();
    let last = options.last().unwrap()["handle"].clone();
    set(&mall, down().on_path("/api/"));
    let code = Call::post(path(&cart, "/discount"), json!({ "code": "X" }));
    let delivery = Call::post(
        path(&cart, "/delivery"),
        json!({ "brand": mall.brand(0), "handle": last }),
    );
    for call in [code, delivery] {
        let told = server.data(call).await;
        assert_eq!(told["problems"][0]["code"], "store_unavailable");
    }
    assert_ne!(read(&server, &cart).await["problems"], json!([]), "the problem stays");
    set(&mall, None);
    let told = read(&server, &cart).await;
    assert_sums(&told);
    assert_eq!(told["problems"], json!([]));
    let told = group(&told, &mall.brand(0));
    assert_eq!(told["discount_codes"][0]["code"], "X");
    let options = told["delivery_options"].as_array().unwrap();
    let chosen = options.iter().find(|option| option["selected"] == true).unwrap();
    assert_eq!(chosen["handle"], last);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_a_store_took_without_saying_so_is_taken_out_where_that_is_asked() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let lost = FaultRule::from(Fault::EdgeFailed { status: 502 }).on_path("/api/");
    mall.stores
        .set_faults(&mall.slug(0), after_the_first_read(lost))
        .unwrap();
    let code = Call::post(path(&cart, "/discount"), json!({ "code": "X" }));
    let told = server.data(code).await;
    assert_eq!(told["problems"].as_array().unwrap().len(), 1, "{told}");
    set(&mall, None);
    let removal = Call::new(Method::DELETE, path(&cart, "/discount/X"));
    for told in [server.data(removal).await, read(&server, &cart).await] {
        let group = group(&told, &mall.brand(0));
        assert_eq!((&told["problems"], &group["discount_codes"]), (&json!([]), &json!([])));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_delivery_is_found_again_though_its_handle_is_another() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let cart = server
        .data(Call::post(path(&cart, "/address"), address("560001")))
        .await;
    let last = group(&cart, &mall.brand(0))["delivery_options"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    let choice = json!({ "brand": mall.brand(0), "handle": last["handle"] });
    server.data(Call::post(path(&cart, "/delivery"), choice)).await;
    for _ in 0..2 {
        mall.stores.renew(&mall.slug(0)).unwrap();
        mall.stores.advance_clock(MONTH);
        let told = read(&server, &cart).await;
        assert_eq!(told["problems"], json!([]));
        let told = group(&told, &mall.brand(0));
        let options = told["delivery_options"].as_array().unwrap();
        let chosen = options.iter().find(|option| option["selected"] == true).unwrap();
        assert_eq!(
            (&chosen["title"], &chosen["amount_minor"]),
            (&last["title"], &last["amount_minor"])
        );
        assert_ne!(chosen["handle"], last["handle"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_that_is_made_anew_asks_for_the_sum_once_and_says_what_it_has_less_of() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let variant = mall.goods(0)[0].1;
    mall.stores.set_stock(&mall.slug(0), variant, 9).unwrap();
    let split = CartFunction::Split { variant };
    mall.stores.set_cart_function(&mall.slug(0), Some(split)).unwrap();
    let cart = server.cart(&[mall.item(0, 0, 2)]).await;
    assert_eq!(group(&cart, &mall.brand(0))["lines"].as_array().unwrap().len(), 2);
    assert_eq!(of(&cart, &mall, 0), (2, 2));
    mall.stores.advance_clock(MONTH);
    let told = read(&server, &cart).await;
    assert_eq!((&told["problems"], of(&told, &mall, 0)), (&json!([]), (2, 2)));
    mall.stores.set_stock(&mall.slug(0), variant, 1).unwrap();
    mall.stores.advance_clock(MONTH);
    let told = read(&server, &cart).await;
    assert_eq!(of(&told, &mall, 0), (1, 2));
    assert_eq!(
        (&told["problems"][0]["code"], &told["problems"][0]["detail"]),
        (
            &json!("store_rejected"),
            &json!("The store's cart was rebuilt and has 1 of the 2 requested.")
        )
    );
}
