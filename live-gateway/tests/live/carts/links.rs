//! Tests of checkout links that do not open.

use std::sync::Arc;

use emulator::{Fault, FaultRule};
use serde_json::{Value, json};

use super::mall::{Call, Mall, Server, group, path};

/// Address without a server, which the first brand uses as its host.
const DEAD: &str = "127.0.0.1:1";

async fn mall() -> Mall {
    let mut mall = Mall::open(2).await;
    Arc::get_mut(&mut mall.shelf).unwrap().brands[0].domain = DEAD.to_owned();
    mall
}

async fn check_out(server: &Server, cart: &Value) -> Value {
    let body = json!({ "cart_id": cart["cart_id"] });
    server.data(Call::post("/v1/checkout", body)).await
}

fn at(origin: &str) -> FaultRule {
    FaultRule::from(Fault::CheckoutAt {
        origin: origin.to_owned(),
    })
}

fn page(fault: Fault) -> FaultRule {
    FaultRule::from(fault).on_path("/cart/c/")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_at_a_dead_or_foreign_host_is_opened_at_the_stores_own() {
    let mall = mall().await;
    let server = mall.server().await;
    let base = mall.stores.stores()[0].base_url.clone();
    let with_user = format!("{}@127.0.0.9:1", base);
    for (origin, shown) in [
        (format!("http://{DEAD}"), format!("http://{DEAD}")),
        ("http://127.0.0.9:1".to_owned(), base.clone()),
        (with_user, base.clone()),
    ] {
        mall.stores.set_faults(&mall.slug(0), [at(&origin)]).unwrap();
        let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
        let stated = group(&cart, &mall.brand(0))["checkout_url"].clone();
        assert!(stated.as_str().unwrap().starts_with(&shown), "{stated}");
        let told = check_out(&server, &cart).await;
        assert_eq!(
            (&told["problems"], told["checkouts"].as_array().unwrap().len()),
            (&json!([]), 2)
        );
        let link = told["checkouts"][0]["checkout_url"].as_str().unwrap();
        assert!(link.starts_with(&base), "{link}");
        assert!(reqwest::get(link).await.unwrap().status().is_success());
        let read = server.data(Call::get(path(&cart, ""))).await;
        assert_eq!(group(&read, &mall.brand(0))["checkout_url"], link);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_that_does_not_open_is_a_problem_of_its_brand() {
    let mall = mall().await;
    let server = mall.server().await;
    let status = |status| Fault::Status {
        status,
        retry_after_s: None,
    };
    let to = |location: &str| Fault::RedirectTo {
        location: location.to_owned(),
    };
    for (fault, why) in [
        (status(404), "does not have the checkout page"),
        (Fault::PasswordPage, "behind a password"),
        (to("https://other.example/pay"), "its host is not known"),
        (to(&format!("http://{DEAD}/pay")), "its address does not answer"),
        (Fault::RedirectLoop, "redirect leads to no page"),
    ] {
        let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
        mall.stores.set_faults(&mall.slug(0), [page(fault)]).unwrap();
        let told = check_out(&server, &cart).await;
        assert_eq!(told["checkouts"].as_array().unwrap().len(), 1, "{why}: {told}");
        assert_eq!(told["checkouts"][0]["brand_slug"], mall.brand(1));
        let read = server.data(Call::get(path(&cart, ""))).await;
        for told in [told, read] {
            let problem = &told["problems"][0];
            assert_eq!(
                (&problem["brand_slug"], &problem["code"]),
                (&json!(mall.brand(0)), &json!("store_unavailable"))
            );
            assert_eq!(problem["reason"], "checkout_closed");
            assert!(problem["detail"].as_str().unwrap().contains(why), "{problem}");
        }
        mall.stores.set_faults(&mall.slug(0), None).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_looked_at_once_and_a_store_that_says_nothing_of_it_is_believed() {
    let mall = mall().await;
    let server = mall.server().await;
    let looks = |cart: &Value| {
        let link = group(cart, &mall.brand(0))["checkout_url"].clone();
        let link: url::Url = link.as_str().unwrap().parse().unwrap();
        mall.stores.requests(&mall.slug(0)).unwrap().count_of(link.path())
    };
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    assert_eq!(looks(&cart), 0);
    for _ in 0..3 {
        assert_eq!(check_out(&server, &cart).await["problems"], json!([]));
        server.data(Call::get(path(&cart, ""))).await;
    }
    assert_eq!(looks(&cart), 1);
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    mall.stores.set_faults(&mall.slug(0), [page(Fault::Challenge)]).unwrap();
    let told = check_out(&server, &cart).await;
    assert_eq!(
        (&told["problems"], &told["checkouts"][0]["checkout_url"]),
        (&json!([]), &group(&cart, &mall.brand(0))["checkout_url"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_that_refuses_us_silences_no_price_of_its_store() {
    for refusal in [429, 430, 500] {
        let mall = mall().await;
        let server = mall.server().await;
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let refusal = Fault::Status {
            status: refusal,
            retry_after_s: Some(60),
        };
        mall.stores.set_faults(&mall.slug(0), [page(refusal)]).unwrap();
        let told = check_out(&server, &cart).await;
        assert_eq!(told["problems"], json!([]), "{told}");
        assert_eq!(told["checkouts"].as_array().unwrap().len(), 1);
        let price = format!("/v1/products/{}/price", mall.goods(0)[0].0);
        assert_eq!(server.data(Call::get(price)).await["verified"], true);
    }
}
