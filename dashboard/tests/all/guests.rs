use dashboard::{DashboardConfig, GuestsConfig};
use data_model::{Clock, Timestamp};
use serde_json::{Value, json};
use state::{CartRow, Lease};

use crate::support::{Browser, Site, config};

pub(crate) async fn guest(site: &Site) -> Browser<'_> {
    let mut browser = Browser::new(site);
    let told = browser.post("/dashboard/api/guest", &json!({})).await;
    assert_eq!(told.data(), json!({ "session": true }));
    browser
}

/// Stores a cart for the browser's user, like the live gateway.
pub(crate) async fn put(browser: &Browser<'_>, id: &str) -> String {
    let token = browser.cookies["__Host-haat_session"].parse::<state::SessionToken>();
    let (state, now) = (&browser.site.state, browser.site.clock.now());
    let session = state.find_session(&token.unwrap().hash(), now).await.unwrap().unwrap();
    let caller = api::CallerId::account(session.account.as_str());
    let cart = CartRow {
        sealed: vec![1],
        created_at: now,
        expires_at: now.plus_millis(86_400_000),
    };
    let lease = Lease::new(Timestamp::from_micros(0)).unwrap();
    assert!(state.create_cart(id, caller.as_str(), &cart, &lease).await.unwrap());
    caller.as_str().to_owned()
}

pub(crate) async fn carts(browser: &mut Browser<'_>) -> Vec<Value> {
    let told = browser.get("/dashboard/api/carts").await.data();
    told.as_array()
        .unwrap()
        .iter()
        .map(|cart| cart["cart_id"].clone())
        .collect()
}

#[tokio::test]
async fn a_guest_has_a_session_once_and_nothing_of_the_dashboard() {
    let site = Site::new().await;
    let mut browser = guest(&site).await;
    let cookie = browser.cookies.clone();
    let again = browser.post("/dashboard/api/guest", &json!({})).await;
    assert_eq!((again.data(), again.cookies()), (json!({ "session": true }), vec![]));
    assert_eq!(browser.cookies, cookie);
    assert_eq!(browser.get("/dashboard/api/session").await.data()["signed_in"], false);
    for path in ["keys", "sessions", "usage", "quota", "audit"] {
        let told = browser.get(&format!("/dashboard/api/{path}")).await;
        told.refused(401, "invalid_session");
    }
    let made = browser.post("/dashboard/api/keys", &json!({ "name": "Mine" })).await;
    made.refused(401, "invalid_session");
}

#[tokio::test]
async fn signing_in_takes_the_carts_of_the_guest_along_to_every_browser_and_nobody_elses() {
    let site = Site::new().await;
    let (mut browser, mut stranger) = (guest(&site).await, guest(&site).await);
    let (one, other) = ("0".repeat(32), "1".repeat(32));
    let before = put(&browser, &one).await;
    put(&stranger, &other).await;
    assert_eq!(carts(&mut browser).await, [json!(one)]);
    assert_eq!(carts(&mut Browser::new(&site)).await, Vec::<Value>::new());
    let (link, account) = site.link("asha").await;
    let told = browser
        .post("/dashboard/api/link", &json!({ "token": link.text() }))
        .await;
    assert_eq!(told.data(), json!({ "signed_in": true }));
    assert_eq!(carts(&mut browser).await, [json!(one)]);
    assert_eq!(carts(&mut site.signed_in("asha").await).await, [json!(one)]);
    assert_eq!(carts(&mut stranger).await, [json!(other)]);
    let now = site.clock.now();
    let owner = api::CallerId::account(account.as_str());
    assert!(site.state.cart(&one, owner.as_str(), now).await.unwrap().is_some());
    assert!(site.state.cart(&one, &before, now).await.unwrap().is_none());
}

#[tokio::test]
async fn there_are_so_many_guests_at_most_and_each_for_so_many_hours() {
    let guests = GuestsConfig {
        hours: 1,
        count_max: 2,
        ..GuestsConfig::default()
    };
    let site = Site::with(DashboardConfig { guests, ..config() }).await;
    let mut first = guest(&site).await;
    guest(&site).await;
    let mut third = Browser::new(&site);
    let told = third.post("/dashboard/api/guest", &json!({})).await;
    told.refused(503, "overloaded");
    site.clock.advance_ms(3_600_000);
    assert_eq!(third.post("/dashboard/api/guest", &json!({})).await.status, 200);
    // The first browser's old session has ended, so its request creates a new guest.
    let told = first.post("/dashboard/api/guest", &json!({})).await;
    assert_eq!((told.status.as_u16(), told.cookies().len()), (200, 1));
}

#[tokio::test]
async fn one_network_begins_so_many_guests_a_minute_and_others_notice_nothing() {
    let site = Site::new().await;
    let begin = async |address: &str| {
        let request = Browser::new(&site).page("POST", "/dashboard/api/guest");
        let request = request.body(axum::body::Body::empty()).unwrap();
        let peer = Some(address.parse().unwrap());
        site.router.answer_from(peer, request).await.status().as_u16()
    };
    for _ in 0..10 {
        assert_eq!(begin("203.0.113.7").await, 200);
    }
    assert_eq!(begin("203.0.113.7").await, 429);
    assert_eq!(begin("203.0.113.8").await, 200);
    site.clock.advance_ms(60_000);
    assert_eq!(begin("203.0.113.7").await, 200);
}
