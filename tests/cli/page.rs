use std::process::Command;

use crate::support::{Haat, get, has_program};

/// Chromium's flags for a page on this machine and nothing else.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=8000",
    "--dump-dom",
];

#[test]
fn the_page_shows_what_the_search_answers() {
    if !has_program("chromium", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let args = [
        "demo",
        "--products",
        "400",
        "--stores",
        "8",
        "--seed",
        "2",
        "--listen",
        "127.0.0.1:0",
    ];
    let (_demo, ready) = haat.serve(&args);
    let base = ready["address"].as_str().unwrap();
    let (_, first) = get(&format!("{base}/v1/search?limit=1"));
    let product = &first["data"][0];
    let title = product["title"].as_str().unwrap();
    let query: String = title.split(' ').collect::<Vec<_>>().join("+");
    let profile = haat.path().join("profile");
    let dom = |path: String| {
        let shown = Command::new("chromium")
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("{base}{path}"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&shown.stdout).into_owned()
    };
    let escaped = title.replace('&', "&amp;");
    let listed = dom(format!("/?q={query}"));
    assert!(listed.contains(&escaped), "{title:?} is not on the page:\n{listed}");
    let opened = dom(format!("/?product={}", product["id"].as_str().unwrap()));
    let dialog = opened.split("<dialog").nth(1).unwrap_or_default();
    assert!(dialog.contains(&escaped), "{title:?} is not in the dialog:\n{opened}");
}
