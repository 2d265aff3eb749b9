use serde_json::{Value, json};

use crate::support::{Answer, Market};

const VERSION: &str = "2026-07-28";

/// Sends a request in the form of the modern revision.
async fn ask(market: &Market, method: &str, mut params: Value) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = vec![("mcp-protocol-version", VERSION), ("mcp-method", method)];
    let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
    if let Some(name) = &name {
        headers.push(("mcp-name", name));
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    market.post(&headers, body.to_string()).await
}

#[tokio::test]
async fn a_client_discovers_lists_and_calls_without_a_session() {
    let market = Market::new();
    let discovered = ask(&market, "server/discover", json!({})).await.json();
    let told = &discovered["result"];
    assert_eq!(told["supportedVersions"], json!([VERSION]));
    assert_eq!(
        told["capabilities"],
        json!({ "tools": {}, "prompts": {}, "resources": {} })
    );
    let listed = ask(&market, "tools/list", json!({})).await.json()["result"].clone();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 12);
    assert_eq!(listed, ask(&market, "tools/list", json!({})).await.json()["result"]);
    for list in ["prompts/list", "resources/list", "resources/templates/list"] {
        let result = ask(&market, list, json!({})).await.json()["result"].clone();
        assert!(
            result["ttlMs"].as_u64().is_some() && result["cacheScope"] == "public",
            "{result}"
        );
    }
    let called = ask(
        &market,
        "tools/call",
        json!({ "name": "search_products", "arguments": { "q": "tea" } }),
    )
    .await;
    let result = called.json()["result"].clone();
    assert_eq!(result["structuredContent"]["data"]["q"], "tea");
    for result in [told, &listed, &result] {
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "haat");
    }
}

#[tokio::test]
async fn a_method_that_is_gone_is_not_found_and_a_batch_is_no_message() {
    let market = Market::new();
    let gone = ask(&market, "ping", json!({})).await;
    assert_eq!((gone.status, &gone.json()["error"]["code"]), (404, &json!(-32601)));
    let headers = [("mcp-protocol-version", VERSION)];
    let batch = market
        .post(&headers, r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#)
        .await;
    assert_eq!((batch.status, &batch.json()["error"]["code"]), (400, &json!(-32600)));
    let unknown = [("mcp-protocol-version", "v999")];
    let refused = market
        .post(&unknown, r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#)
        .await;
    let wanted = json!({ "supported": [VERSION], "requested": "v999" });
    assert_eq!((refused.status, &refused.json()["error"]["data"]), (400, &wanted));
}

#[tokio::test]
async fn the_app_is_named_by_tools_listed_and_read_in_every_revision() {
    let market = Market::new();
    let legacy = async |method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        market.post(&[], body.to_string()).await
    };
    let listed = legacy("resources/list", json!({})).await.json()["result"]["resources"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    let uri = &listed[0]["uri"];
    let tools = legacy("tools/list", json!({})).await.json()["result"]["tools"].clone();
    let drawn = |tool: &&Value| tool["_meta"]["ui"]["resourceUri"] == *uri;
    assert_eq!(tools.as_array().unwrap().iter().filter(drawn).count(), 5, "{tools}");
    for read in [
        legacy("resources/read", json!({ "uri": uri })).await,
        ask(&market, "resources/read", json!({ "uri": uri })).await,
    ] {
        let content = read.json()["result"]["contents"][0].clone();
        assert_eq!([&content["uri"], &content["mimeType"]], [uri, &listed[0]["mimeType"]]);
        assert_eq!(content["mimeType"], "text/html;profile=mcp-app");
        assert_eq!(json!(content["text"].as_str().unwrap().len()), listed[0]["size"]);
        let csp = content["_meta"]["ui"]["csp"].as_object().unwrap();
        assert!(
            csp.len() == 4 && csp.values().all(|origins| *origins == json!([])),
            "{csp:?}"
        );
    }
    let unknown = json!({ "uri": "ui://haat/other" });
    for (answer, code) in [
        (legacy("resources/read", unknown.clone()).await, -32_002),
        (ask(&market, "resources/read", unknown.clone()).await, -32_602),
    ] {
        let error = answer.json()["error"].clone();
        assert_eq!((&error["code"], &error["data"]), (&json!(code), &unknown));
    }
}
