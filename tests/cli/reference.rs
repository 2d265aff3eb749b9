//! Test of the API reference of running servers in Chromium.

use std::process::Command;

use crate::openapi::descriptions;
use crate::support::{Haat, has_program};

/// Runs the steps of `tests/peers/browser/reference.mjs` on the page. `TEST_SHOTS=DIR` saves screenshots.
fn visited(haat: &Haat, arguments: &[&str]) -> String {
    let visited = Command::new("node")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/peers/browser/reference.mjs"
        ))
        .args(arguments)
        .env("PROFILE", haat.path().join("visitor"))
        .env("SHOTS", std::env::var_os("TEST_SHOTS").unwrap_or_default())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&visited.stdout).into_owned();
    println!("{told}");
    assert!(
        visited.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&visited.stderr)
    );
    told
}

fn has_browser() -> bool {
    has_program("chromium", &["--version"]) && has_program("node", &["--version"])
}

#[test]
fn the_reference_lists_every_operation_and_its_console_tries_them_with_a_key() {
    if !has_browser() {
        return;
    }
    let haat = Haat::new();
    let args = [
        "demo",
        "--products",
        "60",
        "--stores",
        "3",
        "--seed",
        "2",
        "--listen",
        "127.0.0.1:0",
    ];
    let (_demo, ready) = haat.serve(&args);
    let told = visited(
        &haat,
        &[ready["address"].as_str().unwrap(), ready["key"].as_str().unwrap()],
    );
    assert_eq!(
        told.lines().filter(|line| line.starts_with("ok: ")).count(),
        6,
        "{told}"
    );
}

#[test]
fn both_servers_have_a_reference_of_their_own_operations() {
    if !has_browser() {
        return;
    }
    let (_running, descriptions) = descriptions();
    for server in ["query-server", "live-gateway"] {
        let told = visited(&Haat::new(), &[&descriptions[server].0]);
        assert_eq!(
            told.lines().filter(|line| line.starts_with("ok: ")).count(),
            2,
            "{told}"
        );
    }
}
