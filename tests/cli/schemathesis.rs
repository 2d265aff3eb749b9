use std::process::Command;

use crate::support::{Haat, has_program};

/// Sends what the interface description allows and what it forbids to every operation, with a key, and holds each answer against
/// the description: no 5xx, no status, type, header or member that is not documented, nothing
/// invalid taken. Cases follow from the seed. One check is left out: that nothing valid is refused. A description cannot
/// say that a cursor is signed, that a text holds JSON, or that one of two parameters must be there.
#[test]
fn every_answer_is_as_the_interface_description_says() {
    if !has_program("schemathesis", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "300", "--stores", "6", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let key = haat
        .run(&["keys", "create", "schemathesis", "--plan", "granted"])
        .json();
    let key = format!("X-Service-Key: {}", key["key"].as_str().unwrap());
    let (_server, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    let document = format!("{}/openapi.json", served["address"].as_str().unwrap());
    // A wrong key, and a URI that is too long, are refused before parameters are looked at.
    let settings = "[checks]\nnegative_data_rejection.expected-statuses = [400, 401, 404, 405, 413, 422, 431]\n";
    std::fs::write(haat.path().join("schemathesis.toml"), settings).unwrap();
    let ran = Command::new("schemathesis")
        .current_dir(haat.path())
        .args(["run", &document, "--checks", "all", "--seed", "1", "--no-color"])
        .args(["-H", &key, "--exclude-checks", "positive_data_acceptance"])
        // A stream, whose answer has no end that a client could wait for.
        .args(["--exclude-operation-id", "open_mcp_stream"])
        .args(["--max-examples", "40", "--request-timeout", "10"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}");
}
