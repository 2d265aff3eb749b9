use std::process::Command;

use serde_json::Value;

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

/// What Chromium makes of an address, its scripts having run.
fn shown(haat: &Haat, address: &str) -> String {
    let shown = Command::new("chromium")
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", haat.path().join("profile").display()))
        .arg(address)
        .output()
        .unwrap();
    String::from_utf8_lossy(&shown.stdout).into_owned()
}

/// The part of a page from the element with this id on.
#[track_caller]
fn part<'a>(dom: &'a str, id: &str) -> &'a str {
    let at = dom
        .find(&format!("id=\"{id}\""))
        .unwrap_or_else(|| panic!("no {id}: {dom}"));
    dom.get(at..).unwrap()
}

#[track_caller]
fn shows(dom: &str, text: &str) {
    let escaped = text.replace('&', "&amp;");
    assert!(dom.contains(&escaped), "{text:?} is not shown:\n{dom}");
}

fn titles(cards: &Value) -> Vec<&str> {
    cards
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["title"].as_str().unwrap())
        .collect()
}

#[test]
fn the_page_shows_what_the_server_answers() {
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
    let id = product["id"].as_str().unwrap();
    let last_word = title.split(' ').next_back().unwrap();

    // A search: its products, and its facets with their counts.
    let query: String = title.split(' ').collect::<Vec<_>>().join("+");
    let listed = shown(&haat, &format!("{base}/?q={query}"));
    shows(part(&listed, "grid"), title);
    let (_, counted) = get(&format!("{base}/v1/search?q={query}&facet_counts=true&limit=40"));
    let facets = counted["provenance"]["facets"].as_array().unwrap();
    let facet = facets
        .iter()
        .find(|facet| facet["name"] == "color" && facet["values"].as_array().unwrap().len() > 1)
        .unwrap();
    let value = &facet["values"][0];
    let group = part(&listed, "facets");
    let row = group
        .split("<label")
        .find(|row| row.contains(value["label"].as_str().unwrap()))
        .unwrap();
    shows(row, &format!("</span>{}</span>", value["count"]));

    // A walk through a brand: its facets, and more than one page of it.
    let brand = product["brand_slug"].as_str().unwrap();
    let (_, walk) = get(&format!("{base}/v1/browse?brand={brand}&limit=36"));
    let walked = shown(&haat, &format!("{base}/?brand={brand}"));
    for title in titles(&walk["data"]["items"]) {
        shows(part(&walked, "grid"), title);
    }

    // What is typed is suggested for.
    let (_, suggested) = get(&format!("{base}/v1/suggest?q={last_word}&limit=6"));
    let opened = shown(&haat, &format!("{base}/?q={last_word}#q"));
    let list = part(&opened, "suggestions").split("suggestions-said").next().unwrap();
    let products = titles(&suggested["data"]["products"]);
    assert!(!products.is_empty());
    for title in products {
        shows(list, title);
    }
    assert!(
        opened.contains("aria-expanded=\"true\" aria-controls=\"suggestions\""),
        "{opened}"
    );

    // A product: itself, and what is like it.
    let (_, related) = get(&format!("{base}/v1/recommend?product_id={id}&limit=12"));
    let opened = shown(&haat, &format!("{base}/?product={id}"));
    let dialog = opened.split("<dialog").nth(1).unwrap_or_default();
    shows(dialog, title);
    let rows = part(dialog, "product-more");
    let related = titles(&related["data"]);
    assert!(!related.is_empty());
    for title in related {
        shows(rows, title);
    }
}
