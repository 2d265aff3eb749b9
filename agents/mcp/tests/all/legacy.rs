use serde_json::{Value, json};

use crate::support::{Market, call, told};

#[tokio::test]
async fn a_client_shakes_hands_lists_and_calls_in_every_legacy_revision() {
    let market = Market::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let agreed = market.post(&[], initialize.to_string()).await;
        assert_eq!((agreed.status, agreed.header("mcp-session-id")), (200, ""));
        assert_eq!(agreed.json()["result"]["protocolVersion"], version);
        assert_eq!(agreed.json()["result"]["serverInfo"]["name"], "haat");
        let headers = [("mcp-protocol-version", version), ("mcp-session-id", "unknown")];
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let taken = market.post(&headers, initialized.to_string()).await;
        assert_eq!((taken.status, taken.text.as_str()), (202, ""));
        let list = json!({ "jsonrpc": "2.0", "id": "l", "method": "tools/list" });
        let listed = market.post(&headers, list.to_string()).await.json();
        assert_eq!(
            (&listed["id"], listed["result"]["tools"].as_array().unwrap().len()),
            (&json!("l"), 12)
        );
        assert_eq!(listed["result"].as_object().unwrap().len(), 1, "a list alone");
        let found = market
            .post(&headers, call(7, "search_products", &json!({ "q": "tea" })))
            .await
            .json();
        assert_eq!(found["id"], 7);
        assert_eq!(
            found["result"]["structuredContent"],
            json!({ "data": { "q": "tea", "limit": null } })
        );
        assert_eq!(told(&found["result"]), found["result"]["structuredContent"]);
    }
}

#[tokio::test]
async fn what_goes_wrong_in_a_tool_is_a_result_with_the_document_of_rest() {
    let market = Market::new();
    let missing = market.call("get_product", json!({ "ident": "none" })).await;
    assert_eq!(missing["isError"], true);
    assert_eq!(missing.get("structuredContent"), None);
    insta::assert_json_snapshot!(told(&missing), @r#"
    {
      "code": "product_not_found",
      "detail": "No such product",
      "request_id": "r-1",
      "status": 404,
      "title": "No such product",
      "type": "urn:haat:problem:product_not_found"
    }
    "#);
    let invalid = told(
        &market
            .call("search_products", json!({ "limit": 41, "q": "x".repeat(21) }))
            .await,
    );
    let faults = invalid["detail"].as_array().unwrap();
    assert_eq!(
        (&invalid["code"], faults.len()),
        (&json!("validation"), 2),
        "all at once: {invalid}"
    );
    let places: Vec<_> = faults.iter().map(|fault| fault["loc"].clone()).collect();
    assert_eq!(places, [json!(["arguments", "q"]), json!(["arguments", "limit"])]);
    let broken = told(&market.call("search_products", json!({ "q": "broken" })).await);
    assert_eq!((&broken["code"], &broken["status"]), (&json!("internal"), &json!(500)));
    let unknown = market.post(&[], call(1, "nothing", &json!({}))).await;
    assert_eq!(
        (unknown.status, &unknown.json()["error"]["code"]),
        (200, &json!(-32602))
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_answered_in_time() {
    let market = Market::new();
    let slow = market.call("search_products", json!({ "q": "slow" })).await;
    assert_eq!(
        (&slow["isError"], &told(&slow)["code"]),
        (&json!(true), &json!("overloaded"))
    );
}

#[tokio::test]
async fn an_event_stream_is_one_event_where_no_json_is_taken() {
    let market = Market::new();
    let headers = [("accept", "text/event-stream")];
    let answer = market
        .post(&headers, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .await;
    assert_eq!(
        answer.text,
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
    );
    let of = |name| answer.header(name);
    assert_eq!(
        (
            answer.status,
            of("content-type"),
            of("cache-control"),
            of("x-accel-buffering")
        ),
        (200, "text/event-stream", "no-store", "no")
    );
    let refused = market.post(&headers, "[").await;
    assert_eq!(
        (refused.status, refused.header("content-type")),
        (400, "application/json")
    );
    let both = [("accept", "application/json, text/event-stream")];
    let answer = market.post(&both, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_eq!(answer.header("content-type"), "application/json");
}

#[tokio::test]
async fn what_is_no_message_is_refused_with_the_id_it_has() {
    let market = Market::new();
    let refused = async |headers: &[(&str, &str)], body: &str| {
        let answer = market.post(headers, body).await;
        let error = answer.json();
        (
            answer.status,
            error["error"]["code"].as_i64().unwrap(),
            error["id"].clone(),
        )
    };
    assert_eq!(refused(&[], "{").await, (400, -32700, Value::Null));
    assert_eq!(refused(&[], "").await, (400, -32700, Value::Null));
    assert_eq!(refused(&[], "7").await, (400, -32600, Value::Null));
    assert_eq!(
        refused(&[], r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#).await,
        (400, -32600, Value::Null)
    );
    assert_eq!(
        refused(&[], r#"{"jsonrpc":"1","id":3,"method":"ping"}"#).await,
        (400, -32600, json!(3))
    );
    let ping = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
    assert_eq!(refused(&[("mcp-protocol-version", "1999-01-01")], ping).await.0, 400);
    let notified = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(
        refused(&[("mcp-protocol-version", "1999-01-01")], notified).await.0,
        400
    );
    let twice = [
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    assert_eq!(refused(&twice, ping).await.0, 400);
}
