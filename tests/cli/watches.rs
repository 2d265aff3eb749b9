//! A watch that an agent makes, from a change at the store to its receiver.

use std::io::{BufReader, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::mcp::market_of;
use crate::support::{Haat, get, post, request_body};

#[test]
fn a_price_that_falls_at_the_store_reaches_the_receiver_with_a_signed_quote() {
    let stores = ["--products", "60", "--stores", "2", "--seed", "5", "--control"];
    let market = market_of(Haat::new(), &stores);
    let card = get(&format!("{}/v1/search?limit=1&in_stock=true", market.base)).1["data"][0].clone();
    let ident = card["id"].as_str().unwrap();
    let (_, detail) = get(&format!("{}/v1/products/{ident}", market.base));
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", receiver.local_addr().unwrap());
    let wanted = json!({ "product_id": ident, "price_below": 200, "webhook": { "url": url } });
    let made = market.call(Some(&market.key), "watch_product", &wanted);
    let watch = &made["structuredContent"]["data"];
    assert!(
        watch["secret"]
            .as_str()
            .is_some_and(|secret| secret.starts_with("whsec_")),
        "{made}"
    );

    let address = detail["data"]["attributes"]["url"].as_str().unwrap();
    let (store, handle) = address.split_once("/products/").unwrap();
    let change = json!({ "kind": "reprice", "item": handle, "price": "1.00" });
    assert_eq!(post(&format!("{store}/emulator/change"), &change).0, 200);
    // Somebody asks what it costs now: that is an answer of the store, which watches are judged by.
    let (_, price) = get(&format!("{}/v1/products/{ident}/price", market.base));
    assert_eq!(price["data"]["price_min_minor"], 100, "{price}");

    let (mut stream, _) = receiver.accept().unwrap();
    let body = request_body(&mut BufReader::new(stream.try_clone().unwrap()), "/hook").unwrap();
    stream
        .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        .unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap();
    let data = &message["data"];
    assert_eq!(
        (
            &message["type"],
            &data["watch_id"],
            &data["reasons"],
            &data["now"]["price_minor"]
        ),
        (
            &json!("watch.fired"),
            &watch["id"],
            &json!(["price_below"]),
            &json!(100)
        ),
        "{message}"
    );
    assert_eq!(
        data["quote"].as_str().map(|quote| quote.split('.').count()),
        Some(3),
        "{message}"
    );
}
