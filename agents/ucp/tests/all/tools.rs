//! Tests of the protocol over MCP.

use std::sync::Arc;

use axum::body::Body;
use http::{Method, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::{Shop, id, post, router, send};

/// Sends a message to an endpoint and returns the status and the response message.
async fn message(shop: &Arc<Shop>, path: &str, message: Value) -> (u16, Value) {
    let request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header("host", "market.example")
        .header("content-type", "application/json")
        .body(Body::from(message.to_string()));
    let response = router(shop).answer(request.unwrap()).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

async fn call(shop: &Arc<Shop>, tool: &str, mut arguments: Value) -> (u16, Value) {
    if arguments.get("meta").is_none() {
        arguments["meta"] = json!({ "ucp-agent": { "profile": "https://agent.example/profile.json" } });
    }
    let params = json!({ "name": tool, "arguments": arguments });
    let asked = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    message(shop, "/v1/ucp/mcp", asked).await
}

#[tokio::test]
async fn tools_of_the_catalogue_answer_what_rest_answers() {
    let shop = Arc::new(Shop::default());
    for (tool, path, asked) in [
        (
            "search_catalog",
            "/catalog/search",
            json!({ "query": "kurta", "pagination": { "limit": 2 } }),
        ),
        ("lookup_catalog", "/catalog/lookup", json!({ "ids": [id(1), "x y"] })),
        ("get_product", "/catalog/product", json!({ "id": id(3) })),
        // An outcome of the protocol is a result, even if it states that the product does not exist.
        ("get_product", "/catalog/product", json!({ "id": "nothing" })),
    ] {
        let rest = post(&shop, path, asked.clone()).await.1;
        let (status, told) = call(&shop, tool, json!({ "catalog": asked })).await;
        let result = &told["result"];
        assert_eq!(
            (status, &result["isError"], &result["structuredContent"]),
            (200, &json!(false), &rest),
            "{tool}: {told}"
        );
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, rest);
        assert_eq!(
            result["_meta"]["haat/untrusted"],
            json!(["/structuredContent", "/content/0"])
        );
    }
}

#[tokio::test]
async fn the_later_version_is_spoken_at_an_endpoint_of_its_own() {
    let shop = Arc::new(Shop::default());
    let profile = send(&shop, Method::GET, "/.well-known/ucp", None).await.2;
    let later = profile["ucp"]["supported_versions"]["2026-08-25"].as_str().unwrap();
    let path = later.strip_prefix("https://market.example").unwrap();
    let profile = send(&shop, Method::GET, path, None).await.2;
    insta::assert_json_snapshot!(profile["ucp"], { ".capabilities" => "[capabilities]" }, @r#"
    {
      "capabilities": "[capabilities]",
      "payment_handlers": {},
      "services": {
        "dev.ucp.shopping": [
          {
            "endpoint": "https://market.example/v1/ucp/2026-08-25/mcp",
            "schema": "https://ucp.dev/2026-08-25/services/shopping/mcp.openrpc.json",
            "spec": "https://ucp.dev/2026-08-25/specification/overview",
            "transport": "mcp",
            "version": "2026-08-25"
          }
        ]
      },
      "version": "2026-08-25"
    }
    "#);
    let endpoint = "/v1/ucp/2026-08-25/mcp";
    let params = json!({ "name": "get_product", "arguments": { "catalog": { "id": id(3) } } });
    let asked = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let (_, told) = message(&shop, endpoint, asked).await;
    insta::assert_json_snapshot!(told["result"]["structuredContent"]["ucp"], @r#"
    {
      "capabilities": {
        "dev.ucp.shopping.catalog.lookup": [
          {
            "version": "2026-08-25"
          }
        ]
      },
      "version": "2026-08-25"
    }
    "#);
}

#[tokio::test]
async fn a_fault_is_an_error_with_the_code_and_the_status_of_the_protocol() {
    for (refused, status, code) in [
        ((401, "missing_credentials", None), 401, -32_000),
        ((409, "idempotency_conflict", Some(6)), 409, -32_000),
        ((422, "validation", None), 400, -32_602),
        ((429, "rate_limit", Some(7)), 429, -32_000),
        ((500, "internal", None), 500, -32_603),
        ((503, "overloaded", Some(1)), 503, -32_000),
    ] {
        let shop = Arc::new(Shop {
            refuses: Some(refused),
            ..Shop::default()
        });
        let (told, answer) = call(&shop, "get_cart", json!({ "id": "c1" })).await;
        assert_eq!((told, &answer["error"]["code"]), (status, &json!(code)), "{answer}");
        assert_eq!(answer["error"]["data"]["retry_after"], json!(refused.2), "{answer}");
    }
    let shop = Arc::new(Shop::default());
    for (tool, arguments, code) in [
        ("get_cart", json!({}), -32_602),
        ("create_cart", json!({ "cart": [] }), -32_602),
        ("search_catalog", json!({ "catalog": { "query": 7 } }), -32_602),
        ("search_catalog", json!({}), -32_602),
        (
            "search_catalog",
            json!({ "meta": { "ucp-agent": { "profile": "ftp://agent.example" } }, "catalog": { "query": "kurta" } }),
            -32_001,
        ),
        (
            "search_catalog",
            json!({ "meta": { "ucp-agent": {} }, "catalog": { "query": "kurta" } }),
            -32_001,
        ),
    ] {
        let (status, answer) = call(&shop, tool, arguments).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (400, &json!(code)),
            "{tool}: {answer}"
        );
    }
    assert_eq!(*shop.asked.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn tools_are_listed_with_what_they_take() {
    let shop = Arc::new(Shop::default());
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let (_, listed) = message(&shop, "/v1/ucp/mcp", list).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let taken: Vec<_> = tools
        .iter()
        .map(|tool| format!("{}: {}", tool["name"], tool["inputSchema"]["required"]).replace('"', ""))
        .collect();
    insta::assert_json_snapshot!(taken, @r#"
    [
      "search_catalog: [catalog]",
      "lookup_catalog: [catalog]",
      "get_product: [catalog]",
      "create_cart: [cart]",
      "get_cart: [id]",
      "update_cart: [id,cart]",
      "cancel_cart: [id]",
      "create_checkout: [checkout]",
      "get_checkout: [id]",
      "update_checkout: [id,checkout]",
      "complete_checkout: [id]",
      "cancel_checkout: [id]"
    ]
    "#);
}

#[tokio::test]
async fn an_idempotency_key_that_is_none_is_refused_before_anything_is_done() {
    let shop = Arc::new(Shop::default());
    for key in [
        json!(7),
        json!(true),
        json!(["k"]),
        json!({}),
        json!("a\u{0}b"),
        json!("a\nb"),
        json!("schl\u{fc}ssel"),
    ] {
        let meta = json!({ "idempotency-key": key });
        let cart = json!({ "line_items": [{ "item": { "id": id(1) }, "quantity": 1 }] });
        let (status, told) = call(&shop, "create_cart", json!({ "meta": meta, "cart": cart })).await;
        assert_eq!(
            (status, &told["error"]["code"]),
            (400, &json!(-32_602)),
            "{key}: {told}"
        );
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("idempotency-key"), "{message}");
    }
    assert!(shop.asked.lock().unwrap().is_empty());
}
