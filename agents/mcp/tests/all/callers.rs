use axum::body::Body;
use axum::extract::Request;
use serde_json::json;

use crate::support::{Market, call, told};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn a_tool_that_needs_a_key_is_refused_to_nobody_and_knows_whose_key_it_is() {
    let market = Market::new();
    let refused = market.call("find_coupons", json!({})).await;
    assert_eq!(
        (&refused["isError"], &told(&refused)["code"]),
        (&json!(true), &json!("missing_credentials"))
    );
    for header in [
        ("x-service-key", "haat_live_good"),
        ("authorization", "Bearer haat_live_good"),
    ] {
        let known = market.post(&[header], call(1, "find_coupons", &json!({}))).await.json();
        assert_eq!(known["result"]["structuredContent"]["data"]["whose"], "account:a1");
    }
}

#[tokio::test]
async fn a_wrong_key_is_refused_before_anything_is_read() {
    let market = Market::new();
    let refused = market.post(&[("x-service-key", "haat_live_bad")], PING).await;
    assert_eq!((refused.status, &refused.json()["code"]), (401, &json!("invalid_key")));
    assert!(refused.header("www-authenticate").starts_with("Bearer"));
}

#[tokio::test]
async fn pages_of_other_origins_and_other_names_are_turned_away() {
    let market = Market::new();
    let status = async |headers: &[(&str, &str)]| market.post(headers, PING).await.status;
    assert_eq!(status(&[("origin", "https://evil.example")]).await, 403);
    assert_eq!(status(&[("origin", "null")]).await, 403);
    assert_eq!(
        status(&[("host", "evil.example"), ("origin", "http://evil.example")]).await,
        403
    );
    assert_eq!(status(&[("host", "evil.example")]).await, 403);
    assert_eq!(
        status(&[("host", "localhost:1"), ("origin", "http://localhost:1")]).await,
        200
    );
    assert_eq!(
        status(&[("host", "market.example"), ("origin", "https://market.example")]).await,
        200
    );
    assert_eq!(status(&[("origin", "https://shop.example")]).await, 200);
}

#[tokio::test]
async fn the_body_is_json_of_a_bounded_size_and_the_method_one_of_two() {
    let market = Market::new();
    let send = |method: &str, media_type: &str, body: String| {
        let request = Request::builder()
            .method(method)
            .uri("/v1/mcp")
            .header("content-type", media_type);
        market.send(request.body(Body::from(body)).unwrap())
    };
    assert_eq!(send("POST", "text/plain", PING.to_owned()).await.status, 415);
    assert_eq!(
        send("POST", "application/json; charset=utf-8", PING.to_owned())
            .await
            .status,
        200
    );
    let large = format!("[{}1]", "1,".repeat(200_000));
    assert_eq!(send("POST", "application/json", large).await.status, 413);
    for method in ["DELETE", "PUT", "PATCH"] {
        let refused = send(method, "application/json", String::new()).await;
        assert_eq!(
            (refused.status, &refused.json()["code"]),
            (405, &json!("method_not_allowed")),
            "{method}"
        );
        assert!(refused.header("allow").contains("POST"), "{refused:?}");
    }
}

#[tokio::test]
async fn the_manifest_names_this_server() {
    let market = Market::new();
    let request = Request::builder().uri("/server.json").body(Body::empty()).unwrap();
    let manifest = market.send(request).await.json();
    assert_eq!(manifest["remotes"][0]["url"], "https://market.example/v1/mcp");
}

#[tokio::test]
async fn what_is_a_number_as_well_as_a_text_may_be_given_as_either() {
    let market = Market::new();
    let asked = async |arguments: serde_json::Value| market.call("browse", arguments).await;
    for arguments in [
        json!({ "category": 2271, "pincode": 560_001 }),
        json!({ "category": "2271", "pincode": "560001" }),
    ] {
        let answer = asked(arguments).await;
        assert_eq!(
            told(&answer)["data"]["asked"],
            "category=2271&pincode=560001",
            "{answer}"
        );
    }
    for arguments in [
        json!({ "category": 2271.5 }),
        json!({ "category": [2271] }),
        json!({ "sort": 1 }),
    ] {
        assert_eq!(asked(arguments).await["isError"], true);
    }
}
