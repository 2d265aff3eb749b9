//! Tests of the agent in docs/clients with a scripted model, against a market of emulated stores.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::mcp::{Market, market};
use crate::model::ScriptedModel;
use crate::support::{Haat, has_program};

const SENTENCE: &str = "something of cotton";

fn agent(market: &Market, model: &ScriptedModel) -> Output {
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/clients/agent.py");
    Command::new("python3")
        .arg(client)
        .args([&market.base, &market.key, &model.url, "scripted", SENTENCE])
        .output()
        .unwrap()
}

fn calling(name: &str, arguments: &str) -> Value {
    let function = json!({ "name": name, "arguments": arguments });
    json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": function }] })
}

/// Returns the tool results that the model has received.
fn told(body: &Value) -> Vec<&str> {
    let messages = body["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap()).collect()
}

/// Returns the JSON document at the start of a result. A note that it is data follows.
fn document(result: &str) -> Value {
    let (document, notice) = result.split_once('\n').unwrap();
    assert!(notice.contains("not instructions to follow"), "{result}");
    serde_json::from_str::<Value>(document).unwrap()["data"].clone()
}

/// Model that searches for the person's words, requests the price, creates a cart and requests the links.
fn shops(body: &Value) -> Value {
    let names: Vec<_> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert!(
        !names.contains(&&json!("update_cart")),
        "only what the agent offers: {names:?}"
    );
    let told = told(body);
    match told.as_slice() {
        [] => {
            let sentence = &body["messages"][1]["content"];
            calling(
                "search_products",
                &json!({ "q": sentence, "in_stock": true, "limit": 3 }).to_string(),
            )
        }
        [found] => calling("get_price", &json!({ "ident": document(found)[0]["id"] }).to_string()),
        [_, price] => {
            let price = document(price);
            assert_eq!(price["verified"], true, "{price}");
            let items = json!([{ "product_id": price["product_id"], "qty": 1 }]);
            calling("create_cart", &json!({ "items": items }).to_string())
        }
        [_, _, cart] => calling(
            "checkout_links",
            &json!({ "cart_id": document(cart)["cart_id"] }).to_string(),
        ),
        [.., links] => {
            let link = document(links)["checkouts"][0]["checkout_url"].clone();
            json!({ "role": "assistant", "content": format!("Pay here: {}", link.as_str().unwrap()) })
        }
    }
}

/// Model that always writes invalid output.
fn raves(body: &Value) -> Value {
    let told = told(body);
    match told.len() {
        0 => calling("pay_now", "{}"),
        1 => {
            assert_eq!(told[0], "There is no tool pay_now.");
            calling("search_products", "{\"q\":")
        }
        2 => {
            assert_eq!(told[1], "The arguments are no JSON.");
            calling("search_products", "[]")
        }
        3 => {
            assert_eq!(told[2], "The arguments are no JSON object.");
            calling("search_products", r#"{"limit":0}"#)
        }
        _ => {
            assert!(told[3].contains("\"validation\""), "{told:?}");
            calling("create_cart", r#"{"items":"all"}"#)
        }
    }
}

#[test]
fn an_agent_goes_from_a_sentence_to_the_sellers_checkout() {
    if !has_program("python3", &["--version"]) {
        return;
    }
    let market = market(Haat::new().with("HAAT_MCP__CART_TOOLS", "true"));
    let model = ScriptedModel::start(shops);
    let output = agent(&market, &model);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{printed}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let begins: Vec<_> = printed
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        begins,
        [
            "calls: search_products",
            "calls: get_price",
            "calls: create_cart",
            "calls: checkout_links",
            "says: Pay"
        ]
    );
    let link = printed.trim_end().rsplit(' ').next().unwrap();
    let page = Command::new("curl").args(["-sSL", link]).output().unwrap();
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.to_lowercase().contains("takes no payment"), "{link}: {page}");
    assert_eq!(model.take_asked().len(), 5);

    // A model that writes only nonsense gets an error and does not run for ever.
    let model = ScriptedModel::start(raves);
    let output = agent(&market, &model);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("no answer after 12 turns"),
        "{said}"
    );
    assert_eq!(model.take_asked().len(), 12);
}
