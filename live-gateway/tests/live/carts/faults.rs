use std::time::{Duration, Instant};

use emulator::{Fault, FaultRule};
use live_gateway::CartConfig;
use serde_json::{Value, json};

use super::mall::{Call, Mall, after_the_first_read, assert_sums, group, minor, path};

fn patient(budget_ms: u64) -> CartConfig {
    CartConfig {
        budget_ms,
        ..CartConfig::default()
    }
}

fn at_api(fault: Fault) -> FaultRule {
    FaultRule {
        path: Some("/api/".to_owned()),
        ..FaultRule::from(fault)
    }
}

fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after_s: None,
    }
}

/// Returns the faults of stores, each with the error code of its problem.
fn faults() -> Vec<(Fault, &'static str)> {
    vec![
        (Fault::Slow { delay_ms: 60_000 }, "store_timeout"),
        (Fault::Reset, "store_unavailable"),
        (status(500), "store_unavailable"),
        (status(429), "store_throttled"),
        (status(430), "store_throttled"),
        (status(404), "store_unavailable"),
        (Fault::QueryThrottled, "store_throttled"),
        (Fault::QueryErrors { partial: false }, "store_unavailable"),
        (Fault::Challenge, "store_unavailable"),
        (Fault::BrokenJson, "store_unavailable"),
        (Fault::HtmlForJson, "store_unavailable"),
        (Fault::GzipBomb { decoded_bytes: 1 << 30 }, "store_unavailable"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_store_does_costs_no_other_brands_group() {
    let faults = faults();
    let mall = Mall::with(u32::try_from(faults.len() + 1).unwrap(), patient(6_000)).await;
    let server = mall.server().await;
    let items: Vec<_> = (0..=faults.len()).map(|store| mall.item(store, 0, 1)).collect();
    let whole = server.cart(&items).await;
    assert_eq!(whole["groups"].as_array().unwrap().len(), faults.len() + 1);
    for (store, (fault, _)) in faults.iter().enumerate() {
        mall.stores
            .set_faults(&mall.slug(store), [at_api(fault.clone())])
            .unwrap();
    }
    let last = mall.brand(faults.len());
    let began = Instant::now();
    // A new cart has the group of the store that works, and problems for the other stores.
    let made = server.cart(&items).await;
    assert_sums(&made);
    assert_eq!(made["groups"].as_array().unwrap().len(), 1);
    assert_eq!(group(&made, &last)["verified"], true);
    for (store, (fault, code)) in faults.iter().enumerate() {
        let problems = made["problems"].as_array().unwrap().iter();
        let told: Vec<_> = problems
            .filter(|problem| problem["brand_slug"] == mall.brand(store))
            .collect();
        assert_eq!(told.len(), 1, "{fault:?}: {made}");
        assert_eq!(told[0]["code"], *code, "{fault:?}: {}", told[0]);
    }
    // The groups of an existing cart stay in their last known state.
    let read = server.data(Call::get(path(&whole, ""))).await;
    assert_sums(&read);
    for store in 0..faults.len() {
        let (before, after) = (group(&whole, &mall.brand(store)), group(&read, &mall.brand(store)));
        assert_eq!((&after["verified"], &after["lines"]), (&json!(false), &before["lines"]));
    }
    assert_eq!(group(&read, &last)["verified"], true);
    // The limit is two time budgets and a margin for a busy machine. The requests ended by their budgets; the store
    // still hangs.
    assert!(
        began.elapsed() < Duration::from_millis(2 * 6_000 + 20_000),
        "{:?}",
        began.elapsed()
    );
    // No item is lost after the stores work again.
    for store in 0..faults.len() {
        mall.stores
            .set_faults(&mall.slug(store), Vec::<FaultRule>::new())
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_whose_answer_was_lost_are_not_added_twice() {
    let mall = Mall::with(1, patient(4_000)).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let rule = FaultRule {
        first: Some(1),
        ..at_api(Fault::AnswerLost { hold_ms: 0 })
    };
    for nth in 1..=4 {
        mall.stores.set_faults(&mall.slug(0), [rule.clone()]).unwrap();
        let more = json!({ "items": [mall.item(0, nth, 2)] });
        let cart = server.data(Call::post(path(&cart, "/lines"), more)).await;
        assert_eq!(cart["problems"], json!([]));
        assert_sums(&cart);
        let lines = group(&cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
        assert_eq!(lines.len(), nth + 1);
        let pieces: i64 = lines.iter().map(|line| minor(&line["qty"])).sum();
        assert_eq!(pieces, 1 + 2 * i64::try_from(nth).unwrap(), "{lines:?}");
        assert_eq!(mall.calls(0, "cartLinesAdd"), u64::try_from(nth).unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_cart_whose_making_was_lost_is_left_behind_and_that_is_said() {
    let mall = Mall::with(1, patient(4_000)).await;
    let server = mall.server().await;
    let rule = FaultRule {
        first: Some(1),
        ..at_api(Fault::AnswerLost { hold_ms: 0 })
    };
    mall.stores.set_faults(&mall.slug(0), [rule]).unwrap();
    let cart = server.cart(&[mall.item(0, 0, 2)]).await;
    let told = group(&cart, &mall.brand(0));
    assert_eq!(
        (minor(&told["lines"][0]["qty"]), &told["warnings"][0]["code"]),
        (2, &json!("cart_made_twice"))
    );
    assert_eq!(mall.stores.carts(&mall.slug(0)).unwrap(), 2);
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(group(&read, &mall.brand(0))["lines"], told["lines"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_did_and_nobody_could_learn_is_learnt_when_it_answers_again() {
    let mall = Mall::with(1, patient(6_000)).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let lost = after_the_first_read(at_api(Fault::AnswerLost { hold_ms: 0 }));
    mall.stores.set_faults(&mall.slug(0), lost).unwrap();
    let more = json!({ "items": [mall.item(0, 1, 3)] });
    let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
    assert_eq!(told["problems"].as_array().unwrap().len(), 1, "{told}");
    mall.stores.set_faults(&mall.slug(0), Vec::<FaultRule>::new()).unwrap();
    let read: Value = server.data(Call::get(path(&cart, ""))).await;
    assert_sums(&read);
    let mut pieces: Vec<_> = group(&read, &mall.brand(0))["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| minor(&line["qty"]))
        .collect();
    pieces.sort_unstable();
    assert_eq!(pieces, [1, 3], "the store had added them");
    assert_eq!(mall.calls(0, "cartLinesAdd"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_a_store_refuses_costs_no_other_line() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let gone = mall.goods(0)[1].clone();
    mall.stores.remove_product(&mall.slug(0), gone.1).unwrap();
    let cart = server
        .cart(&[mall.item(0, 0, 1), mall.item(0, 1, 1), mall.item(0, 2, 1)])
        .await;
    assert_sums(&cart);
    assert_eq!(
        group(&cart, &mall.brand(0))["lines"].as_array().unwrap().len(),
        2,
        "{cart}"
    );
    let says_so = |cart: &Value| {
        let problem = &cart["problems"][0];
        assert_eq!(
            (&problem["code"], &problem["product_id"]),
            (&json!("product_not_found"), &json!(gone.0))
        );
        let detail = problem["detail"].as_str().unwrap();
        assert!(
            detail.contains(&gone.1.to_string()) && !detail.contains("gid://"),
            "{detail}"
        );
    };
    says_so(&cart);
    let more = json!({ "items": [mall.item(0, 1, 1), mall.item(0, 3, 1)] });
    let cart = server.data(Call::post(path(&cart, "/lines"), more)).await;
    assert_eq!(
        group(&cart, &mall.brand(0))["lines"].as_array().unwrap().len(),
        3,
        "{cart}"
    );
    says_so(&cart);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_answers_in_another_currency_is_not_added_to_the_others() {
    let mall = Mall::open(3).await;
    let server = mall.server().await;
    let lie = Fault::OtherCurrency {
        currency: "EUR".to_owned(),
        rate_pct: 100,
    };
    mall.stores.set_fault(&mall.slug(1), lie).unwrap();
    let cart = server
        .cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1), mall.item(2, 0, 1)])
        .await;
    assert_sums(&cart);
    assert_eq!(group(&cart, &mall.brand(1))["currency"], "EUR");
    assert_eq!(cart["combined_total_minor"], Value::Null);
    let totals = cart["totals"].as_array().unwrap();
    let currencies: Vec<_> = totals.iter().map(|total| total["currency"].as_str().unwrap()).collect();
    assert_eq!(currencies, ["EUR", "INR"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_whose_robots_txt_closes_its_api_is_named_as_such() {
    let mall = Mall::open(1).await;
    mall.stores.set_fault(&mall.slug(0), Fault::RobotsDisallow).unwrap();
    let server = mall.server().await;
    let told = server.cart(&[mall.item(0, 0, 1)]).await;
    assert_eq!(
        told["problems"][0]["detail"],
        "The store's robots.txt does not allow this request."
    );
    let sign_in = json!({ "email": "a@example.com", "password": "correct horse", "brand": mall.brand(0) });
    let (_, told) = server.send(Call::post("/v1/account/login", sign_in)).await;
    assert_eq!(told["detail"], "The store's robots.txt does not allow this request.");
}
