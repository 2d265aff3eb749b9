use data_model::Secret;
use emulator::{CustomerState, DiscountRule, DiscountValue, Fault, FaultRule};
use live_gateway::seal_storefront_token;
use serde_json::{Value, json};

use super::mall::{Call, Mall, Server, group, master_keys, path};
use super::model::ills;
use super::unanswered::no_answers;

const DAY_MS: i64 = 86_400_000;

/// Returns the caller Asha as the state names callers.
fn caller() -> String {
    api::CallerId::key("asha").as_str().to_owned()
}

fn account(mall: &Mall, action: &str, email: &str, password: &str) -> Call {
    let body = json!({ "email": email, "password": password, "brand": mall.brand(0) });
    Call::post(format!("/v1/account/{action}"), body)
}

async fn refused(server: &Server, call: Call) -> (u16, Value, Value) {
    let (status, body) = server.send(call).await;
    if status == 422 {
        assert_eq!(body["detail"][0]["type"], body["code"], "{body}");
        assert_eq!(body["detail"][0]["loc"][0], "body", "{body}");
        assert!(body["detail"][0].get("input").is_none(), "{body}");
    }
    (status.as_u16(), body["code"].clone(), body["reason"].clone())
}

/// Starts a mall whose first store has accounts with passwords. The operator has set a Storefront token for that store.
async fn open() -> Mall {
    let mall = Mall::open(1).await;
    let slug = mall.slug(0);
    mall.stores.set_passwords(&slug, true).unwrap();
    let (store, token) = (
        &mall.shelf.brands[0].store,
        mall.stores.storefront_token(&slug).unwrap(),
    );
    let sealed = seal_storefront_token(&master_keys(), store, &Secret::new(token)).unwrap();
    let now = data_model::Clock::now(mall.clock.as_ref());
    mall.state()
        .await
        .put_storefront_token(store, sealed, now)
        .await
        .unwrap();
    mall
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_registers_logs_in_and_shops_as_one() {
    let mall = open().await;
    let rule = DiscountRule {
        customers_only: true,
        ..DiscountRule::code("MEMBER", DiscountValue::Percentage { percent: 10 })
    };
    mall.stores.set_discounts(&mall.slug(0), [rule]).unwrap();
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let cart = server
        .data(Call::post(path(&cart, "/discount"), json!({ "code": "MEMBER" })))
        .await;
    let applicable = |cart: &Value| group(cart, &mall.brand(0))["discount_codes"][0]["applicable"].clone();
    assert_eq!(applicable(&cart), false);

    let told = server
        .data(account(&mall, "register", "asha@example.com", "correct horse"))
        .await;
    assert_eq!(
        (&told["status"], &told["brand_slug"]),
        (&json!("registered"), &json!(mall.brand(0)))
    );
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(applicable(&read), true, "the cart is the customer's now");
    let again = server
        .data(account(&mall, "login", "asha@example.com", "correct horse"))
        .await;
    assert_eq!(again["status"], "logged_in");
    // Another caller's cart belongs to no customer.
    let other = Call::post("/v1/cart", json!({ "items": [mall.item(0, 0, 1)] })).by("ravi");
    let other = server.data(other).await;
    let other = server
        .data(Call::post(path(&other, "/discount"), json!({ "code": "MEMBER" })).by("ravi"))
        .await;
    assert_eq!(applicable(&other), false);
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_goes_wrong_while_a_store_is_told_who_buys_it_is_told_again_and_nothing_else_changes() {
    let mall = open().await;
    let rule = DiscountRule {
        customers_only: true,
        ..DiscountRule::code("MEMBER", DiscountValue::Percentage { percent: 10 })
    };
    mall.stores.set_discounts(&mall.slug(0), [rule]).unwrap();
    let server = mall.server().await;
    for (nth, ill) in ills().into_iter().enumerate() {
        let caller: &'static str = Box::leak(format!("caller-{nth}").into_boxed_str());
        let items = json!({ "items": [mall.item(0, 0, 1)] });
        let cart = server.data(Call::post("/v1/cart", items).by(caller)).await;
        let code = json!({ "code": "MEMBER" });
        server.data(Call::post(path(&cart, "/discount"), code).by(caller)).await;
        let email = format!("{caller}@example.com");
        server
            .data(account(&mall, "register", &email, "correct horse").by(caller))
            .await;
        let fault = FaultRule::from(ill.fault.clone()).on_operation("cartBuyerIdentityUpdate");
        mall.stores.set_faults(&mall.slug(0), [fault]).unwrap();
        let read = || Call::get(path(&cart, "")).by(caller);
        server.data(read()).await;
        mall.stores.set_fault(&mall.slug(0), None).unwrap();
        mall.stores.catch_up(&mall.slug(0)).unwrap();
        let told = server.data(read()).await;
        let group = group(&told, &mall.brand(0));
        assert_eq!(
            (&told["problems"], &group["discount_codes"][0]["applicable"]),
            (&json!([]), &json!(true)),
            "{ill:?}"
        );
        let lines = group["lines"].as_array().unwrap();
        assert_eq!((lines.len(), &lines[0]["qty"]), (1, &json!(1)), "{ill:?}");
        // Registration attempts are limited for a while, so the clock advances.
        mall.pass(3_600_000);
    }
}

/// Returns the customer to whom a cart belongs according to the store's checkout.
async fn contact(mall: &Mall, cart: &Value) -> String {
    let link = group(cart, &mall.brand(0))["checkout_url"].clone();
    let page = reqwest::get(link.as_str().unwrap())
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let (_, contact) = page.split_once("Contact: ").unwrap();
    contact.split_once('<').unwrap().0.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_is_the_customers_who_signed_in_last_though_the_store_hears_of_another_one_late() {
    let mall = open().await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let read = || server.data(Call::get(path(&cart, "")));
    let late = FaultRule::from(Fault::Delayed { status: 504 }).on_operation("cartBuyerIdentityUpdate");
    mall.stores.set_faults(&mall.slug(0), [late.first(1)]).unwrap();
    for email in ["asha@example.com", "ravi@example.com"] {
        server.data(account(&mall, "register", email, "correct horse")).await;
        assert_eq!(contact(&mall, &read().await).await, email);
    }
    assert_eq!(mall.stores.catch_up(&mall.slug(0)).unwrap(), 1);
    assert_eq!(contact(&mall, &cart).await, "asha@example.com");
    assert_eq!(contact(&mall, &read().await).await, "ravi@example.com");
    mall.clock.advance_ms(120_000);
    read().await;
    let told = mall.calls(0, "cartBuyerIdentityUpdate");
    read().await;
    assert_eq!(
        mall.calls(0, "cartBuyerIdentityUpdate"),
        told,
        "nothing is under way any more"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn why_nobody_is_let_in_is_told_as_far_as_the_store_tells_it() {
    let mall = open().await;
    let slug = mall.slug(0);
    let server = mall.server().await;
    mall.stores
        .add_customer(&slug, "a@example.com", Some("correct horse"), CustomerState::Enabled)
        .unwrap();
    mall.stores
        .add_customer(
            &slug,
            "shut@example.com",
            Some("correct horse"),
            CustomerState::Disabled,
        )
        .unwrap();
    let mut told = Vec::new();
    for (action, email, password) in [
        ("login", "a@example.com", "wrong password"),
        ("login", "unknown@example.com", "correct horse"),
        ("login", "shut@example.com", "correct horse"),
        ("register", "a@example.com", "correct horse"),
        ("register", "new@example.com", "abc"),
    ] {
        let (status, code, reason) = refused(&server, account(&mall, action, email, password)).await;
        told.push(format!("{action} {email}: {status} {code} {reason}"));
    }
    mall.stores.set_fault(&slug, Fault::CustomersThrottled).unwrap();
    let (status, code, reason) = refused(&server, account(&mall, "login", "a@example.com", "correct horse")).await;
    told.push(format!("throttled: {status} {code} {reason}"));
    mall.stores.set_fault(&slug, None).unwrap();
    mall.stores.set_passwords(&slug, false).unwrap();
    let (status, code, reason) = refused(&server, account(&mall, "register", "b@example.com", "correct horse")).await;
    told.push(format!("without passwords: {status} {code} {reason}"));
    insta::assert_snapshot!(told.join("\n"), @r#"
    login a@example.com: 422 "store_rejected" "wrong_credentials"
    login unknown@example.com: 422 "store_rejected" "wrong_credentials"
    login shut@example.com: 422 "store_rejected" "wrong_credentials"
    register a@example.com: 422 "store_rejected" "email_taken"
    register new@example.com: 422 "store_rejected" "invalid"
    throttled: 502 "store_throttled" "throttled"
    without passwords: 422 "store_rejected" "no_passwords"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_an_account_request_never_show_the_password() {
    let mall = open().await;
    let server = mall.server().await;
    let body = json!({ "email": "no address", "password": 12_345_678, "brand": "" });
    let (status, body) = server.send(Call::post("/v1/account/logout", body)).await;
    assert_eq!(status, 422);
    let text = body.to_string();
    assert!(!text.contains("12345678"), "{text}");
    let loc = |at: usize| body["detail"][at]["loc"].clone();
    assert_eq!(
        [loc(0), loc(1), loc(2), loc(3)],
        [
            json!(["path", "action"]),
            json!(["body", "email"]),
            json!(["body", "password"]),
            json!(["body", "brand"]),
        ]
    );
    let (status, body) = server
        .send(Call::post(
            "/v1/account/login",
            json!({ "email": "a@b.c", "password": "x", "brand": "nobody" }),
        ))
        .await;
    assert_eq!((status.as_u16(), body["code"].as_str()), (404, Some("brand_not_found")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_whose_answer_was_lost_is_known_by_its_password() {
    let mall = open().await;
    let server = mall.server().await;
    let rule = emulator::FaultRule {
        path: Some("/api/".to_owned()),
        first: Some(1),
        ..emulator::FaultRule::from(Fault::AnswerLost { hold_ms: 0 })
    };
    mall.stores.set_faults(&mall.slug(0), [rule]).unwrap();
    let told = server
        .data(account(&mall, "register", "asha@example.com", "correct horse"))
        .await;
    assert_eq!(told["status"], "registered");
    assert_eq!(mall.calls(0, "customerCreate"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_of_unknown_outcome_is_called_neither_done_nor_refused() {
    let mall = open().await;
    let server = mall.server().await;
    let register = || account(&mall, "register", "asha@example.com", "correct horse");
    let late = emulator::FaultRule::from(Fault::Delayed { status: 504 }).on_operation("customerCreate");
    mall.stores.set_faults(&mall.slug(0), [late]).unwrap();
    let told = refused(&server, register()).await;
    assert_eq!(told, (502, json!("store_unavailable"), json!("unknown")));
    assert_eq!(mall.stores.catch_up(&mall.slug(0)).unwrap(), 1);
    mall.stores.set_fault(&mall.slug(0), None).unwrap();
    let again = refused(&server, register()).await;
    assert_eq!(again, (422, json!("store_rejected"), json!("email_taken")));
    let told = server
        .data(account(&mall, "login", "asha@example.com", "correct horse"))
        .await;
    assert_eq!(told["status"], "logged_in");

    let done = emulator::FaultRule::from(Fault::EdgeFailed { status: 502 }).on_operation("customerCreate");
    mall.stores.set_faults(&mall.slug(0), [done]).unwrap();
    let told = server
        .data(account(&mall, "register", "ravi@example.com", "correct horse"))
        .await;
    assert_eq!(told["status"], "registered");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_answer_is_no_refusal_and_the_same_request_signs_in() {
    let mall = open().await;
    let faults = no_answers().into_iter();
    let faults = faults.filter(|fault| !matches!(fault, Fault::CartError { .. }));
    for (nth, fault) in faults.enumerate() {
        let email = format!("number-{nth}@example.com");
        for (action, signed_in) in [("register", "registered"), ("login", "logged_in")] {
            let call = account(&mall, action, &email, "correct horse").once(format!("{action}-{nth}"));
            let rule = FaultRule::from(fault.clone()).on_path("/api/");
            mall.stores.set_faults(&mall.slug(0), [rule]).unwrap();
            let (status, code, reason) = refused(&mall.server().await, call.clone()).await;
            assert_eq!((status, code), (502, json!("store_unavailable")), "{fault:?}: {reason}");
            mall.stores.set_fault(&mall.slug(0), None).unwrap();
            mall.stores.catch_up(&mall.slug(0)).unwrap();
            let told = mall.server().await.data(call).await;
            assert_eq!(told["status"], signed_in, "{fault:?}");
        }
        // Sign-in attempts are limited for a while, so the clock advances.
        mall.pass(3_600_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_operators_token_the_one_that_the_stores_page_shows_is_taken() {
    let mall = Mall::open(1).await;
    let slug = mall.slug(0);
    mall.stores.set_passwords(&slug, true).unwrap();
    let server = mall.server().await;
    let told = server
        .data(account(&mall, "register", "asha@example.com", "correct horse"))
        .await;
    assert_eq!(told["status"], "registered");
    // Customers cannot sign in through this service at a store whose page shows no token.
    let location = "/meta.json".to_owned();
    let elsewhere = FaultRule::from(Fault::RedirectTo { location });
    mall.stores.set_faults(&slug, [elsewhere.first(1)]).unwrap();
    let server = mall.server().await;
    let told = refused(&server, account(&mall, "login", "asha@example.com", "correct horse")).await;
    assert_eq!(told, (422, json!("store_rejected"), json!("no_token")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_has_a_new_public_token_is_read_again_once() {
    let mall = Mall::open(1).await;
    let slug = mall.slug(0);
    mall.stores.set_passwords(&slug, true).unwrap();
    let server = mall.server().await;
    server
        .data(account(&mall, "register", "asha@example.com", "correct horse"))
        .await;
    mall.stores.renew(&slug).unwrap();
    let told = server
        .data(account(&mall, "login", "asha@example.com", "correct horse"))
        .await;
    assert_eq!(told["status"], "logged_in");
    mall.stores.renew(&slug).unwrap();
    let told = server
        .data(account(&mall, "register", "ravi@example.com", "correct horse"))
        .await;
    assert_eq!(
        (&told["status"], mall.calls(0, "customerCreate")),
        (&json!("registered"), 2)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customers_token_that_ends_soon_is_renewed_when_it_is_used() {
    let mall = open().await;
    mall.show_the_stores_time();
    let server = mall.server().await;
    let told = server
        .data(account(&mall, "register", "asha@example.com", "correct horse"))
        .await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(mall.calls(0, "customerAccessTokenRenew"), 0, "there is time");
    // The clocks of the store and of this server are set to two days before the token expires.
    let ends: data_model::Timestamp = told["expires_at"].as_str().unwrap().parse().unwrap();
    let now = data_model::Clock::now(mall.clock.as_ref());
    let left_ms = (ends.micros() - now.micros()) / 1_000 - 2 * DAY_MS;
    mall.pass(left_ms);
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let renewed = async {
        while mall.calls(0, "customerAccessTokenRenew") == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), renewed)
        .await
        .unwrap();
    // After the first token's expiry the cart still belongs to the customer.
    let store = &mall.shelf.brands[0].store;
    let state = mall.state().await;
    let kept = async {
        let later = ends.plus_millis(DAY_MS);
        while !state
            .customers(&caller(), later)
            .await
            .unwrap()
            .iter()
            .any(|(known, _)| known == store)
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), kept)
        .await
        .unwrap();
    mall.pass(3 * DAY_MS);
    let read = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(
        (&read["problems"], &group(&read, &mall.brand(0))["warnings"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(mall.calls(0, "customerAccessTokenRenew"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_a_caller_and_a_brand_have_a_few_tries_and_each_is_audited() {
    let mall = open().await;
    let server = mall.server().await;
    for _ in 0..10 {
        let (status, ..) = refused(&server, account(&mall, "login", "a@example.com", "wrong password")).await;
        assert_ne!(status, 429);
    }
    // The limit applies to the address, whoever the caller is and regardless of upper or lower case.
    let again = || account(&mall, "register", "A@Example.com", "correct horse").by("ravi");
    let (status, code, _) = refused(&server, again()).await;
    assert_eq!((status, code), (429, json!("rate_limit")));
    // The caller may make more attempts for other addresses, up to the caller's own limit.
    for number in 10..60 {
        let email = format!("number-{number}@example.com");
        let (status, ..) = refused(&server, account(&mall, "login", &email, "wrong password")).await;
        assert_ne!(status, 429, "{number}");
    }
    let (status, ..) = refused(&server, account(&mall, "login", "more@example.com", "wrong password")).await;
    assert_eq!(status, 429);
    let audit = mall
        .state()
        .await
        .audit(&state::AuditQuery::default(), 100)
        .await
        .unwrap();
    assert_eq!(audit.len(), 60);
    let expected = json!({ "brand": mall.brand(0), "action": "login" });
    assert!(audit.iter().all(|event| event.detail == expected), "{audit:?}");
    mall.clock.advance_ms(15 * 60 * 1000);
    let (status, ..) = refused(&server, again()).await;
    assert_ne!(status, 429);
}
