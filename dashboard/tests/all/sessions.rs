use axum::body::Body;
use http::header;
use serde_json::json;

use crate::support::{Browser, Site};

/// Requests that need a session.
const GUARDED: [(&str, &str); 11] = [
    ("GET", "/dashboard/api/sessions"),
    ("DELETE", "/dashboard/api/sessions/ses_000000000000"),
    ("POST", "/dashboard/api/sign-out-everywhere"),
    ("GET", "/dashboard/api/keys"),
    ("POST", "/dashboard/api/keys"),
    ("PATCH", "/dashboard/api/keys/key_000000000000"),
    ("DELETE", "/dashboard/api/keys/key_000000000000"),
    ("POST", "/dashboard/api/keys/key_000000000000/rotate"),
    ("GET", "/dashboard/api/usage"),
    ("GET", "/dashboard/api/quota"),
    ("GET", "/dashboard/api/audit"),
];

/// Returns every request that the page makes.
fn asked() -> impl Iterator<Item = (&'static str, &'static str)> {
    let open = [
        ("GET", "/dashboard/api/session"),
        ("POST", "/dashboard/api/sign-out"),
        ("POST", "/dashboard/api/link"),
    ];
    open.into_iter().chain(GUARDED)
}

#[tokio::test]
async fn without_a_session_nothing_is_told_or_done() {
    let site = Site::new().await;
    let mut browser = Browser::new(&site);
    for (method, path) in GUARDED {
        let none = browser.with_body(method, path, &json!({ "name": "a" })).await;
        none.refused(401, "missing_credentials");
        assert!(none.headers.contains_key(header::WWW_AUTHENTICATE), "{path}");
    }
    let told = browser.get("/dashboard/api/session").await.data();
    assert_eq!((&told["signed_in"], &told["provider"]), (&json!(false), &json!(null)));
    assert!(told.get("account").is_none(), "{told}");
}

#[tokio::test]
async fn a_forged_cookie_opens_nothing() {
    let site = Site::new().await;
    let real = site.signed_in("asha").await.cookies["__Host-haat_session"].clone();
    let never = state::SessionToken::generate().unwrap();
    let forged = [
        never.text().to_owned(),
        format!("{real}x"),
        real.replacen(&real[20..21], if &real[20..21] == "a" { "b" } else { "a" }, 1),
        real.to_uppercase(),
        "é".to_owned(),
        "x".repeat(5_000),
        String::new(),
        "ses_000000000000".to_owned(),
    ];
    for value in forged {
        for (method, path) in GUARDED {
            let mut browser = Browser::new(&site);
            browser.cookies.insert("__Host-haat_session".to_owned(), value.clone());
            let answer = browser.with_body(method, path, &json!({ "name": "a" })).await;
            assert_eq!(answer.status, 401, "{value} {method} {path}: {}", answer.text());
        }
    }
    // An attacker may have set one of two cookies with the same name.
    let mut browser = Browser::new(&site);
    let doubled = format!("__Host-haat_session={real}; __Host-haat_session={}", never.text());
    let request = browser.page("GET", "/dashboard/api/keys").header("cookie", doubled);
    let answer = browser.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn a_page_of_another_site_does_nothing_in_a_sessions_name() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    let foreign: [&[(&str, &str)]; 6] = [
        &[],
        &[("x-haat-dashboard", "1"), ("origin", "https://evil.example")],
        &[("x-haat-dashboard", "1"), ("sec-fetch-site", "cross-site")],
        &[
            ("x-haat-dashboard", "1"),
            ("sec-fetch-site", "same-site"),
            ("origin", "https://a.market.example"),
        ],
        &[("sec-fetch-site", "same-origin"), ("origin", "https://market.example")],
        &[("x-haat-dashboard", "1"), ("sec-fetch-site", "none")],
    ];
    for (method, path) in asked() {
        for headers in foreign {
            let mut request = browser.plain(method, path).header("content-type", "application/json");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let answer = browser
                .send(request.body(Body::from(r#"{"name": "Theirs"}"#)).unwrap())
                .await;
            answer.refused(403, "forbidden");
        }
    }
    let keys = browser.get("/dashboard/api/keys").await.data();
    assert_eq!(
        (
            keys,
            browser
                .get("/dashboard/api/sessions")
                .await
                .data()
                .as_array()
                .unwrap()
                .len()
        ),
        (json!([]), 1)
    );
}

#[tokio::test]
async fn a_session_ends_without_use_and_after_its_hours_in_any_case() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    for _ in 0..100 {
        site.clock.advance_ms(100 * 60_000);
        assert_eq!(browser.get("/dashboard/api/keys").await.status, 200);
    }
    // 168 hours are 10,080 minutes.
    site.clock.advance_ms(80 * 60_000);
    browser.get("/dashboard/api/keys").await.refused(401, "invalid_session");
    let mut idle = site.signed_in("asha").await;
    site.clock.advance_ms(120 * 60_000);
    idle.get("/dashboard/api/keys").await.refused(401, "invalid_session");
}

#[tokio::test]
async fn sign_out_ends_the_session_on_the_server_and_removes_its_cookie() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    let kept = browser.cookies.clone();
    let out = browser.post("/dashboard/api/sign-out", &json!({})).await;
    assert_eq!(out.headers["clear-site-data"], "\"storage\"");
    assert_eq!(out.data(), json!({ "signed_in": false }));
    assert!(browser.cookies.is_empty());
    browser.cookies = kept;
    browser.get("/dashboard/api/keys").await.refused(401, "invalid_session");
    // A second sign-out succeeds.
    assert_eq!(browser.post("/dashboard/api/sign-out", &json!({})).await.status, 200);
}

#[tokio::test]
async fn sign_out_everywhere_ends_every_session_of_the_account_and_of_no_other() {
    let site = Site::new().await;
    let [mut one, mut other] = [site.signed_in("asha").await, site.signed_in("asha").await];
    let mut stranger = site.signed_in("ravi").await;
    let listed = one.get("/dashboard/api/sessions").await.data();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .filter(|session| session["here"] == true)
            .count(),
        1
    );
    let out = one.post("/dashboard/api/sign-out-everywhere", &json!({})).await;
    assert_eq!(out.data()["sessions"], 2);
    other.get("/dashboard/api/keys").await.refused(401, "invalid_session");
    assert_eq!(stranger.get("/dashboard/api/keys").await.status, 200);
}

#[tokio::test]
async fn somebody_elses_session_looks_absent() {
    let site = Site::new().await;
    let mut mine = site.signed_in("asha").await;
    let mut second = site.signed_in("asha").await;
    let mut theirs = site.signed_in("ravi").await;
    let id = theirs.get("/dashboard/api/sessions").await.data()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for id in [id.as_str(), "ses_000000000000", "nothing", "%20", "%FF"] {
        let answer = mine.delete(&format!("/dashboard/api/sessions/{id}")).await;
        answer.refused(404, "session_not_found");
    }
    assert_eq!(theirs.get("/dashboard/api/keys").await.status, 200);
    let listed = mine.get("/dashboard/api/sessions").await.data();
    let other = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|session| session["here"] == false)
        .unwrap();
    let ended = mine
        .delete(&format!("/dashboard/api/sessions/{}", other["id"].as_str().unwrap()))
        .await;
    assert_eq!(ended.status, 200);
    second.get("/dashboard/api/keys").await.refused(401, "invalid_session");
}

#[tokio::test]
async fn forged_cookies_of_one_network_are_refused_unseen_after_some() {
    let site = Site::new().await;
    let mut asha = site.signed_in("asha").await;
    let mut forger = Browser::new(&site);
    forger.from = "192.0.2.1".parse().ok();
    let forged = || state::SessionToken::generate().unwrap().text().to_owned();
    for _ in 0..60 {
        forger.cookies.insert(api::SESSION_COOKIE.to_owned(), forged());
        let told = forger.get("/dashboard/api/session").await;
        assert_eq!(told.data()["signed_in"], false);
    }
    for path in ["/dashboard/api/session", "/dashboard/api/keys"] {
        let refused = forger.get(path).await;
        refused.refused(429, "rate_limit");
        assert_eq!(refused.header("retry-after"), "60");
    }
    asha.from = "198.51.100.1".parse().ok();
    assert_eq!(asha.get("/dashboard/api/keys").await.status, 200);
    site.clock.advance_ms(60_000);
    assert_eq!(forger.get("/dashboard/api/session").await.status, 200);
}
