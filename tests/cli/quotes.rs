//! Tests of signed quotes from an MCP tool in carts of MCP and UCP.

use serde_json::{Value, json};

use crate::mcp::{Market, market_of};
use crate::support::{Haat, get, post};

impl Market {
    /// Returns the response of a UCP operation.
    fn ucp(&self, path: &str, body: Option<&Value>) -> Value {
        let url = format!("{}/v1/ucp{path}", self.base);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let client = reqwest::Client::new();
            let request = match body {
                Some(body) => client
                    .post(url)
                    .body(body.to_string())
                    .header("content-type", "application/json"),
                None => client.get(url),
            };
            let answer = request.header("x-service-key", &self.key).send().await.unwrap();
            serde_json::from_str(&answer.text().await.unwrap()).unwrap()
        })
    }
}

#[test]
fn an_agent_takes_a_quote_to_a_cart_and_is_told_when_the_store_no_longer_holds_it() {
    let stores = ["--products", "60", "--stores", "2", "--seed", "5", "--control"];
    let market = market_of(Haat::new().with("HAAT_MCP__CART_TOOLS", "true"), &stores);
    let card = get(&format!("{}/v1/search?limit=1&in_stock=true", market.base)).1["data"][0].clone();
    let (_, detail) = get(&format!("{}/v1/products/{}", market.base, card["id"].as_str().unwrap()));
    let offers = detail["data"]["offers"].as_array().unwrap();
    let variant = offers.iter().find(|offer| offer["available"] == true).unwrap()["variant_id"].clone();
    let call = |tool: &str, arguments: Value| {
        market.call(Some(&market.key), tool, &arguments)["structuredContent"]["data"].clone()
    };

    let price = call(
        "get_price",
        json!({ "ident": card["id"], "quote": true, "variant_id": variant }),
    );
    let quoted = price["variants"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["variant_id"] == variant);
    let shown = &quoted.unwrap()["amount_minor"];
    let item = json!({ "product_id": card["id"], "qty": 1, "quote": price["quote"] });
    let cart = call("create_cart", json!({ "items": [item] }));
    let line = |cart: &Value| cart["groups"][0]["lines"][0].clone();
    assert_eq!(
        (&line(&cart)["variant_id"], &line(&cart)["price_held"]),
        (&variant, &json!(true)),
        "{cart}"
    );

    let id = format!("{}:{}", card["id"].as_str().unwrap(), variant.as_str().unwrap());
    let wanted =
        |member: &str, value: &Value| json!({ "line_items": [{ "item": { "id": id }, "quantity": 1, member: value }] });
    let of_ucp = market.ucp("/carts", Some(&wanted("quote", &price["quote"])));
    assert_eq!(of_ucp["line_items"][0]["price_held"], true, "{of_ucp}");
    let refused = market.ucp("/carts", Some(&wanted("quote", &json!("no.quote.this"))));
    assert!(refused["content"].as_str().unwrap().contains("quote: "), "{refused}");

    let url = detail["data"]["attributes"]["url"].as_str().unwrap();
    let (store, handle) = url.split_once("/products/").unwrap();
    let change = json!({ "kind": "reprice", "item": handle, "price": "4321.00" });
    assert_eq!(post(&format!("{store}/emulator/change"), &change).0, 200);
    let changed = json!({ "shown_minor": shown, "shown_currency": "INR", "now_minor": 432_100 });
    let again = call("create_cart", json!({ "items": [item] }));
    assert_eq!(
        (&line(&again)["price_held"], &line(&again)["price_changed"]),
        (&json!(false), &changed)
    );
    let of_ucp = market.ucp("/carts", Some(&wanted("quote", &price["quote"])));
    let told = of_ucp["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["code"] == "price_not_held");
    assert_eq!(
        (&of_ucp["line_items"][0]["price_changed"], &told.unwrap()["path"]),
        (&changed, &json!("$.line_items[0]"))
    );
    // The field has the name in the ACP draft.
    let held = market.ucp("/carts", Some(&wanted("suggested_price", &json!(432_100))));
    assert_eq!(held["line_items"][0]["price_held"], true, "{held}");
}
