//! Test of the MCP endpoint's app for chats in Chromium.

use std::path::PathBuf;
use std::process::Command;

use crate::mcp::market;
use crate::support::{Haat, has_program};

/// The steps are in `tests/peers/browser/app.mjs`.
#[test]
fn a_chat_draws_products_the_price_now_and_a_cart_that_ends_at_checkouts() {
    if !has_program("chromium", &["--version"]) || !has_program("node", &["--version"]) {
        return;
    }
    let market = market(Haat::new().with("HAAT_MCP__CART_TOOLS", "true"));
    let axe = std::env::var_os("TEST_BROWSER_PEERS").map(PathBuf::from);
    let axe = axe.map(|folder| folder.join("node_modules/axe-core/axe.min.js"));
    let visited = Command::new("node")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/browser/app.mjs"))
        .args([&market.base, &market.key])
        .env("PROFILE", market.haat.path().join("visitor"))
        .env("AXE", axe.filter(|file| file.is_file()).unwrap_or_default())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&visited.stdout);
    println!("{told}");
    assert!(visited.status.success(), "{}", String::from_utf8_lossy(&visited.stderr));
    let held = told.lines().filter(|line| line.starts_with("ok: ")).count();
    assert_eq!(held, 8, "{told}");
}
