use serde_json::json;
use state::{State, StateTarget};

use crate::support::{Browser, Site, config};

/// The state database is closed, as if it hung or was not available.
#[tokio::test]
async fn while_the_state_is_gone_the_page_stands_and_what_needs_it_is_503() {
    let state = State::open(&StateTarget::Memory).await.unwrap();
    let site = Site::on(state, config(), api::OpenRouter::default());
    let mut browser = site.signed_in("asha").await;
    site.state.close().await;
    assert_eq!(browser.get("/dashboard/").await.status, 200);
    for (method, path) in [
        ("GET", "session"),
        ("GET", "keys"),
        ("POST", "keys"),
        ("PATCH", "keys/key_000000000000"),
        ("DELETE", "keys/key_000000000000"),
        ("GET", "usage"),
        ("GET", "quota"),
        ("GET", "audit"),
        ("GET", "sessions"),
        ("POST", "sign-out"),
        ("POST", "sign-out-everywhere"),
        ("POST", "link"),
    ] {
        let token = state::LinkToken::generate().unwrap();
        let body = json!({ "name": "a", "token": token.text() });
        let answer = browser
            .with_body(method, &format!("/dashboard/api/{path}"), &body)
            .await;
        answer.refused(503, "not_ready");
        assert_eq!(answer.header("retry-after"), "1", "{path}");
    }
    // A visitor without a session gets a response that does not need the state database.
    Browser::new(&site)
        .get("/dashboard/api/keys")
        .await
        .refused(401, "missing_credentials");
}

#[tokio::test]
async fn a_body_that_is_none_is_refused_before_anything_is_done() {
    let site = Site::new().await;
    let mut browser = site.signed_in("asha").await;
    for (media_type, body, status) in [
        ("application/json", "{", 422),
        ("application/json", "[]", 422),
        ("application/json", "", 422),
        ("text/plain", r#"{"name": "a"}"#, 415),
        ("application/x-www-form-urlencoded", "name=a", 415),
    ] {
        let request = browser
            .page("POST", "/dashboard/api/keys")
            .header("content-type", media_type);
        let answer = browser.send(request.body(body.into()).unwrap()).await;
        assert_eq!(answer.status, status, "{media_type} {body}");
    }
    let large = json!({ "name": "a", "more": "x".repeat(300_000) });
    let answer = browser.post("/dashboard/api/keys", &large).await;
    answer.refused(413, "payload_too_large");
    assert_eq!(browser.get("/dashboard/api/keys").await.data(), json!([]));
}
