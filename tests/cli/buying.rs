//! Test that runs the steps of docs/buying.md unchanged against `haat demo`.

use std::process::Command;

use serde_json::Value;

use crate::support::{Haat, has_program};

/// Returns the shell blocks of a document.
fn commands(document: &str) -> String {
    let (mut commands, mut within) = (String::new(), false);
    for line in document.lines() {
        match line {
            "```sh" => within = true,
            "```" => within = false,
            line if within => {
                commands.push_str(line);
                commands.push('\n');
            }
            _ => {}
        }
    }
    commands
}

/// Parses JSON documents that were printed one after another.
fn documents(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text)
        .into_iter()
        .map(Result::unwrap)
        .collect()
}

/// Asserts that other programs verify the tokens, and that the cart reports that the quoted price changed.
fn are_tokens_good(printed: &[Value], address: &Value) {
    // Other programs verify the tokens of the quote and the attribution.
    let price = &printed[0]["data"];
    let verified: Vec<_> = printed.iter().filter(|one| one["holds"].is_boolean()).collect();
    for one in &verified {
        assert_eq!((&one["holds"], &one["claims"]["iss"]), (&true.into(), address));
    }
    let [by_node, by_python, attribution] = verified[..] else {
        panic!("{verified:?}")
    };
    for quote in [by_node, by_python] {
        assert_eq!(
            quote["claims"]["variants"][0]["amount_minor"],
            price["variants"][0]["amount_minor"]
        );
    }
    assert_eq!(
        attribution["claims"]["quotes"],
        serde_json::json!([by_node["claims"]["jti"]])
    );
    let by_openssl = printed.iter().find(|one| one["openssl"].is_string()).unwrap();
    assert_eq!(by_openssl["openssl"], "Signature Verified Successfully");
    // The store's price has changed by now, and the cart reports the change.
    let carts = printed.iter().filter(|one| one["data"]["groups"].is_array());
    let lines = carts.flat_map(|cart| cart["data"]["groups"].as_array().unwrap());
    let lines = lines.flat_map(|group| group["lines"].as_array().unwrap());
    let quoted: Vec<_> = lines.filter(|line| line["product_id"] == price["product_id"]).collect();
    assert!(!quoted.is_empty());
    for line in quoted {
        assert_eq!(
            (&line["price_held"], &line["price_changed"]["now_minor"]),
            (&false.into(), &432_100.into()),
            "{line}"
        );
    }
}

#[test]
fn every_command_of_the_walk_from_coupons_to_checkout_is_answered() {
    let needed = ["jq", "curl", "node", "basenc"].map(|program| (program, "--version"));
    let needed = needed.into_iter().chain([("openssl", "version")]);
    let has_all = needed
        .into_iter()
        .all(|(program, asked)| has_program(program, &[asked]));
    if !has_all || !has_program("python3", &["-c", "import cryptography"]) {
        return;
    }
    let haat = Haat::new();
    let (_demo, demo) = haat.serve(&["demo", "--listen", "127.0.0.1:0", "--products", "200", "--stores", "4"]);
    let text = |member: &str| demo[member].as_str().unwrap().to_owned();
    let output = Command::new("bash")
        .args([
            "-eu",
            "-o",
            "pipefail",
            "-c",
            &commands(include_str!("../../docs/buying.md")),
        ])
        .env("HAAT", text("address"))
        .env("KEY", text("key"))
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{told}");
    let printed = documents(&printed);
    let coupons = printed.iter().find(|one| one["data"]["coupons"].is_array()).unwrap();
    let coupons = &coupons["data"];
    assert_eq!(
        (&coupons["verified"], &coupons["untested"]),
        (&true.into(), &Value::Array(vec![]))
    );
    let carts: Vec<_> = printed.iter().filter(|one| one["data"]["groups"].is_array()).collect();
    assert!(carts.len() >= 7, "{printed:?}");
    for cart in &carts {
        assert_eq!(cart["data"]["problems"], Value::Array(vec![]), "{cart}");
        for total in cart["data"]["totals"].as_array().unwrap() {
            let of_groups = |member: &str| {
                let groups = cart["data"]["groups"].as_array().unwrap().iter();
                let own = groups.filter(|group| group["currency"] == total["currency"]);
                own.map(|group| group[member].as_i64().unwrap()).sum::<i64>()
            };
            for member in ["subtotal_minor", "discount_minor", "total_minor"] {
                assert_eq!(total[member], of_groups(member), "{member} of {cart}");
            }
        }
    }
    let checkout = printed.iter().find(|one| one["data"]["checkouts"].is_array()).unwrap();
    assert!(!checkout["data"]["checkouts"].as_array().unwrap().is_empty());
    assert!(checkout["data"]["attribution"]["token"].is_string());
    are_tokens_good(&printed, &demo["address"]);
    // A wrong password is a response of the store, so it is no failure of the server.
    let accounts: Vec<_> = printed
        .iter()
        .filter(|one| one["code"].is_string() || one["data"]["status"].is_string())
        .collect();
    assert_eq!(accounts.len(), 2, "{printed:?}");
    for account in accounts {
        let code = account["code"].as_str().unwrap_or("answered");
        assert!(["answered", "store_rejected"].contains(&code), "{account}");
    }
    // The checkout page is the store's own page for people.
    let page = checkout["data"]["checkouts"][0]["checkout_url"].as_str().unwrap();
    let page = Command::new("curl").args(["-sSL", page]).output().unwrap();
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(
        page.contains("<html") && page.to_lowercase().contains("takes no payment"),
        "{page}"
    );
}
