//! Tests of probes: `haat health`, for callers without an HTTP client, and the state of a server that is about to stop.

use std::process::Command;

use crate::support::{Haat, ServerProcess, get};

#[test]
fn health_tells_by_its_exit_code_whether_a_probe_is_answered() {
    let haat = Haat::new();
    let (_stores, stores) = haat.with_stores(&["--products", "20", "--stores", "1"]);
    let (server, told) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let address = told["address"].as_str().unwrap().to_owned();
    let asked = haat.run(&["health", &format!("{address}/healthz")]);
    assert_eq!(
        asked.json(),
        serde_json::json!({ "url": format!("{address}/healthz"), "status": 200 })
    );
    // There is no release yet, so the server is alive but not ready.
    let asked = haat.run(&["health", &format!("{address}/readyz")]);
    assert_eq!(
        (asked.code, asked.stderr.contains("answers 503")),
        (1, true),
        "{asked:?}"
    );
    drop(server);
    let asked = haat.run(&["health", &format!("{address}/healthz")]);
    assert_eq!(
        (asked.code, asked.stderr.contains("does not answer")),
        (1, true),
        "{asked:?}"
    );
    assert_eq!(haat.run(&["health", "no address"]).code, 2);
    // Without an address, the configured query server is probed.
    let store = stores["stores"][0]["domain"].as_str().unwrap();
    let configured = Haat::new().with("HAAT_QUERY_SERVER__OPS_LISTEN", store);
    assert!(
        configured
            .run(&["health"])
            .stderr
            .contains(&format!("http://{store}/healthz"))
    );
}

/// Tells a server with a delayed stop to stop, and returns once its probe reports that.
fn told_to_stop(server: &ServerProcess, ready: &str) {
    assert_eq!(get(ready).0, 200);
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let begun = std::time::Instant::now();
    let left = || get(ready).0 == 503;
    while !left() {
        assert!(begun.elapsed().as_secs() < 60, "it does not say that it leaves");
    }
}

/// Returns a home whose servers stop after the end of the test.
fn leaving_late(home: &str) -> Haat {
    Haat::new()
        .at(home)
        .with("HAAT_QUERY_SERVER__LEAVE_MS", "600000")
        .with("HAAT_QUERY_SERVER__OPS_LISTEN", "127.0.0.1:0")
}

#[test]
fn a_server_that_is_told_to_stop_sends_proxies_away_and_answers_meanwhile() {
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "20", "--stores", "1"]);
    haat.run(&["crawl", "--release"]).json();
    let home = haat.path().to_str().unwrap();
    let graph = leaving_late(home).with("HAAT_QUERY_SERVER__INTERNAL_LISTEN", "127.0.0.1:0");
    let (graph, told) = graph.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let at = |told: &serde_json::Value, key: &str, path: &str| format!("{}{path}", told[key].as_str().unwrap());
    let stats = get(&at(&told, "address", "/v1/stats"));
    let found = get(&at(&told, "address", "/v1/search?q=&limit=1"));
    let product = found.1["data"][0]["id"].as_str().unwrap().to_owned();
    let live = leaving_late(home).with(
        "HAAT_LIVE_GATEWAY__CATALOGUE",
        told["internal_address"].as_str().unwrap(),
    );
    let (live, told_live) = live.serve(&["live-gateway", "--listen", "127.0.0.1:0"]);
    // The gateway stops first, because it needs the query server's products.
    let price = format!("/v1/products/{product}/price");
    for (server, told, asked) in [(&live, &told_live, price.as_str()), (&graph, &told, "/v1/stats")] {
        told_to_stop(server, &at(told, "ops_address", "/readyz"));
        assert_eq!(get(&at(told, "address", "/readyz")).0, 503);
        assert_eq!(get(&at(told, "ops_address", "/healthz")).0, 200);
        assert_eq!(get(&at(told, "address", asked)).0, 200, "{asked}");
    }
    assert_eq!(get(&at(&told, "address", "/v1/stats")).1["data"], stats.1["data"]);
}
