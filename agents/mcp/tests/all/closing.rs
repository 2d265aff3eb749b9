//! Tests that a client that closes its connection cancels its request.

use std::time::Duration;

use api::ServerConfig;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::support::{Market, call};

/// Wait that is longer than every operation here and shorter than the endpoint's own timeout.
const PATIENCE: Duration = Duration::from_secs(8);

const MODERN: &str = "io.modelcontextprotocol/protocolVersion";

/// Returns a call in the revision without sessions that blocks until its client disconnects.
fn modern() -> String {
    let params = json!({
        "name": "search_products", "arguments": { "q": "held" },
        "_meta": { MODERN: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
}

#[tokio::test]
async fn a_connection_that_closes_during_a_slow_call_ends_the_work() {
    let market = Market::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (edge, stop) = (market.edge.clone(), market.stop.clone());
    let config = ServerConfig::default();
    let serving = tokio::spawn(async move { api::serve(listener, edge, &config, stop).await });
    let held = call(1, "search_products", &json!({ "q": "held" }));
    let streamed = "Accept: text/event-stream\r\n";
    let of_modern = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: search_products\r\n";
    for (headers, body) in [
        ("", held.clone()),
        (streamed, held.clone()),
        (of_modern, modern()),
        // This case is last, because its two items end one after the other.
        ("", format!("[{held},{held}]")),
    ] {
        let mut client = TcpStream::connect(at).await.unwrap();
        let request = format!(
            "POST /v1/mcp HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        client.write_all(request.as_bytes()).await.unwrap();
        let begun = timeout(PATIENCE, market.work.begun.notified()).await;
        assert!(begun.is_ok(), "the call is not carried out: {request}");
        drop(client);
        let ended = timeout(PATIENCE, market.work.ended.notified()).await;
        assert!(ended.is_ok(), "the work goes on though nobody waits for it: {request}");
    }
    market.stop.cancel();
    serving.await.unwrap().unwrap();
}
