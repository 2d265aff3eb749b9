//! Probes: who asks them without a client of its own, and what they say of a server that is about to stop.

use std::process::Command;

use crate::support::{Haat, get};

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
    // Nothing is released yet: it is alive, and not ready.
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
    // Where none is named, it is the query server that the configuration describes.
    let store = stores["stores"][0]["domain"].as_str().unwrap();
    let configured = Haat::new().with("HAAT_QUERY_SERVER__OPS_LISTEN", store);
    assert!(
        configured
            .run(&["health"])
            .stderr
            .contains(&format!("http://{store}/healthz"))
    );
}

#[test]
fn a_server_that_is_told_to_stop_sends_proxies_away_and_answers_meanwhile() {
    let haat = Haat::new()
        .with("HAAT_QUERY_SERVER__LEAVE_MS", "600000")
        .with("HAAT_QUERY_SERVER__OPS_LISTEN", "127.0.0.1:0");
    let _stores = haat.with_stores(&["--products", "20", "--stores", "1"]);
    haat.run(&["crawl", "--release"]).json();
    let (server, told) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let at = |key: &str, path: &str| format!("{}{path}", told[key].as_str().unwrap());
    assert_eq!(get(&at("ops_address", "/readyz")).0, 200);
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let begun = std::time::Instant::now();
    while get(&at("ops_address", "/readyz")).0 != 503 {
        assert!(begun.elapsed().as_secs() < 60, "it does not say that it leaves");
    }
    assert_eq!(get(&at("address", "/readyz")).0, 503);
    assert_eq!(get(&at("ops_address", "/healthz")).0, 200);
    assert_eq!(get(&at("address", "/v1/stats")).1["data"]["products"], 20);
}
