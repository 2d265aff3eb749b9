use axum::body::Body;
use serde_json::json;
use state::AuditQuery;

use crate::support::{Browser, Site};

#[tokio::test]
async fn a_link_signs_in_once_and_its_session_is_a_cookie_of_this_host_alone() {
    let site = Site::new().await;
    let (link, _) = site.link("asha").await;
    let mut browser = Browser::new(&site);
    let told = browser
        .post("/dashboard/api/link", &json!({ "token": link.text() }))
        .await;
    assert_eq!(told.data(), json!({ "signed_in": true }));
    assert_eq!(told.header("cache-control"), "no-store");
    let cookie = told.cookies().remove(0);
    let (pair, rules) = cookie.split_once("; ").unwrap();
    assert!(pair.starts_with("__Host-haat_session=haat_sess_"), "{pair}");
    insta::assert_snapshot!(rules, @"Path=/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax");
    let here = browser.get("/dashboard/api/session").await.data();
    assert_eq!(here["account"]["name"], "asha");
    assert_eq!(here["session"]["method"], "link");

    let mut other = Browser::new(&site);
    let again = other
        .post("/dashboard/api/link", &json!({ "token": link.text() }))
        .await;
    again.refused(403, "forbidden");
    assert_eq!(again.json()["why"], "used");
    assert!(other.cookies.is_empty());
}

#[tokio::test]
async fn to_open_a_link_does_not_use_it() {
    let site = Site::new().await;
    let (link, _) = site.link("asha").await;
    let mut scanner = Browser::new(&site);
    for path in ["/dashboard/link", "/dashboard/api/link"] {
        for method in ["GET", "HEAD"] {
            let request = scanner.page(method, path).body(Body::empty()).unwrap();
            scanner.send(request).await;
        }
    }
    let mut browser = Browser::new(&site);
    let told = browser
        .post("/dashboard/api/link", &json!({ "token": link.text() }))
        .await;
    assert_eq!(told.status, 200, "{told:?}");
}

#[tokio::test]
async fn a_link_that_is_late_or_was_never_made_does_not_work_and_is_not_repeated() {
    let site = Site::new().await;
    let (link, account) = site.link("asha").await;
    site.clock.advance_ms(900_000);
    let mut browser = Browser::new(&site);
    let late = browser
        .post("/dashboard/api/link", &json!({ "token": link.text() }))
        .await;
    late.refused(403, "forbidden");
    assert_eq!(late.json()["why"], "late");
    let never = state::LinkToken::generate().unwrap();
    let unknown = browser
        .post("/dashboard/api/link", &json!({ "token": never.text() }))
        .await;
    unknown.refused(403, "forbidden");
    for body in [
        json!({}),
        json!({ "token": null }),
        json!({ "token": 7 }),
        json!({ "token": "haat_link_" }),
        json!({ "token": "x".repeat(10_000) }),
        json!({ "token": state::SessionToken::generate().unwrap().text() }),
    ] {
        let wrong = browser.post("/dashboard/api/link", &body).await;
        wrong.refused(422, "validation");
        assert!(
            !wrong.text().contains("haat_") && !wrong.text().contains("xxx"),
            "{}",
            wrong.text()
        );
    }
    let query = AuditQuery {
        account: Some(account),
        ..AuditQuery::default()
    };
    let newest = site.state.audit(&query, 1).await.unwrap().remove(0);
    assert_eq!(
        (newest.action.as_str(), &newest.detail["why"]),
        ("session.refused", &json!("late"))
    );
}

#[tokio::test]
async fn who_signs_in_gets_a_new_session_and_the_browsers_older_one_ends() {
    let site = Site::new().await;
    let mut browser = site.signed_in("mallory").await;
    let planted = browser.cookies.clone();
    let (link, _) = site.link("asha").await;
    browser
        .post("/dashboard/api/link", &json!({ "token": link.text() }))
        .await;
    assert_ne!(browser.cookies, planted);
    assert_eq!(
        browser.get("/dashboard/api/session").await.data()["account"]["name"],
        "asha"
    );
    let mut attacker = Browser::new(&site);
    attacker.cookies = planted;
    attacker
        .get("/dashboard/api/keys")
        .await
        .refused(401, "invalid_session");
}

#[tokio::test]
async fn wrong_links_of_one_network_are_refused_unseen_after_a_few() {
    let site = Site::new().await;
    let (link, _) = site.link("asha").await;
    let mut browser = Browser::new(&site);
    browser.from = "192.0.2.1".parse().ok();
    for _ in 0..10 {
        let never = state::LinkToken::generate().unwrap();
        let wrong = browser
            .post("/dashboard/api/link", &json!({ "token": never.text() }))
            .await;
        wrong.refused(403, "forbidden");
    }
    let body = json!({ "token": link.text() });
    site.clock.advance_ms(20_000);
    let refused = browser.post("/dashboard/api/link", &body).await;
    refused.refused(429, "rate_limit");
    assert_eq!(refused.header("retry-after"), "40");
    // The link was not used yet, so it works in another browser.
    let mut other = Browser::new(&site);
    other.from = "198.51.100.1".parse().ok();
    assert_eq!(other.post("/dashboard/api/link", &body).await.status, 200);
    site.clock.advance_ms(40_000);
    browser
        .post("/dashboard/api/link", &body)
        .await
        .refused(403, "forbidden");
}
