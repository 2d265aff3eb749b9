use std::process::Command;

use crate::support::{Haat, has_program};

/// Creates a key without limits.
fn key(haat: &Haat) -> String {
    let key = haat.run(&["keys", "create", "schemathesis", "--plan", "granted"]);
    format!("X-Service-Key: {}", key.json()["key"].as_str().unwrap())
}

/// Sends valid and invalid requests to every operation of a server, with a key, and checks each response against the
/// OpenAPI description. There must be no 5xx and no undocumented status, type, header or key, and invalid requests must
/// be refused. Test cases depend on the seed. Valid requests need not be accepted, because a description cannot express
/// that a cursor is signed, that a text contains JSON, or that one of two parameters is required.
fn holds(haat: &Haat, address: &str, key: &str, further: &[&str]) {
    let document = format!("{address}/openapi.json");
    // A wrong key and a too long URI are refused before parameters are checked. Required parameters come only from the
    // description. If they were also inferred from responses, one error (`deliver_by` needs `pincode`) would make
    // `pincode` always required.
    let settings = "[checks]\nnegative_data_rejection.expected-statuses = [400, 401, 404, 405, 413, 414, 422, 431]\n\
                    [phases.fuzzing]\nerror-feedback.enabled = false\n";
    std::fs::write(haat.path().join("schemathesis.toml"), settings).unwrap();
    let ran = Command::new("schemathesis")
        .current_dir(haat.path())
        .args(["run", &document, "--checks", "all", "--seed", "2", "--no-color"])
        .args(["-H", key, "--exclude-checks", "positive_data_acceptance"])
        // A stream's response has no end that a client could wait for.
        .args(["--exclude-operation-id", "open_mcp_stream"])
        .args([
            "--max-examples",
            "40",
            "--request-timeout",
            "90",
            "--max-response-time",
            "90",
        ])
        .args(further)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}");
}

#[test]
fn every_answer_is_as_the_interface_description_says() {
    if !has_program("schemathesis", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "300", "--stores", "6", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let key = key(&haat);
    let (_server, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    holds(&haat, served["address"].as_str().unwrap(), &key, &[]);
}

#[test]
fn every_answer_of_a_gateway_alone_is_as_its_description_says() {
    if !has_program("schemathesis", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let home = haat.path().to_str().unwrap();
    let _stores = haat.with_stores(&["--products", "120", "--stores", "4", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let key = key(&haat);
    let server = Haat::new()
        .at(home)
        .with("HAAT_QUERY_SERVER__INTERNAL_LISTEN", "127.0.0.1:0");
    let (_server, served) = server.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let catalogue = served["internal_address"].as_str().unwrap();
    let gateway = Haat::new().at(home).with("HAAT_LIVE_GATEWAY__CATALOGUE", catalogue);
    let (_gateway, serves) = gateway.serve(&["live-gateway", "--listen", "127.0.0.1:0"]);
    let address = serves["address"].as_str().unwrap();
    // These paths are for agents. The cart and price operations are the same as in the combined server.
    let agents = r"^/(v1/(mcp|ucp)|\.well-known/ucp|llms\.txt)";
    holds(&haat, address, &key, &["--include-path-regex", agents]);
}
