//! Tests of the MCP endpoint over a market of emulated stores.

use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Haat, ServerProcess, get};

/// Market that is served, with an API key.
pub(crate) struct Market {
    pub(crate) haat: Haat,
    _stores: ServerProcess,
    server: ServerProcess,
    pub(crate) base: String,
    pub(crate) key: String,
}

pub(crate) fn market(haat: Haat) -> Market {
    market_of(haat, &["--products", "300", "--stores", "6", "--seed", "5"])
}

pub(crate) fn market_of(haat: Haat, stores: &[&str]) -> Market {
    let (stores, _) = haat.with_stores(stores);
    haat.run(&["crawl", "--release"]).json();
    let key = haat.run(&["keys", "create", "agent", "--plan", "granted"]).json();
    let (server, served) = haat.serve(&["up", "--listen", "127.0.0.1:0"]);
    Market {
        base: served["address"].as_str().unwrap().to_owned(),
        key: key["key"].as_str().unwrap().to_owned(),
        haat,
        _stores: stores,
        server,
    }
}

impl Market {
    pub(crate) fn url(&self) -> String {
        format!("{}/v1/mcp", self.base)
    }

    fn send(&self, key: Option<&str>, message: &Value) -> Value {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut request = reqwest::Client::new()
                .post(self.url())
                .header("content-type", "application/json")
                .body(message.to_string());
            if let Some(key) = key {
                request = request.header("x-service-key", key);
            }
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 200, "{message}");
            serde_json::from_str(&answer.text().await.unwrap()).unwrap()
        })
    }

    pub(crate) fn call(&self, key: Option<&str>, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        self.send(key, &message)["result"].clone()
    }

    fn card(&self) -> Value {
        get(&format!("{}/v1/search?limit=1&in_stock=true", self.base)).1["data"][0].clone()
    }
}

fn code(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    serde_json::from_str::<Value>(text).unwrap()["code"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Removes the fields of a response that differ between two successive requests.
fn steady(mut answer: Value) -> Value {
    for member in ["as_of", "request_id"] {
        answer.as_object_mut().unwrap().remove(member);
    }
    if let Some(data) = answer["data"].as_object_mut() {
        data.remove("as_of");
    }
    answer
}

#[test]
fn every_tool_answers_what_rest_answers() {
    let market = market(Haat::new());
    let card = market.card();
    let (id, uid, brand) = (
        &card["id"],
        card["product_uid"].as_str().unwrap(),
        card["brand_slug"].as_str().unwrap(),
    );
    let rest = |path: &str| get(&format!("{}{path}", market.base)).1;
    let id_text = id.as_str().unwrap();
    for (tool, arguments, path) in [
        (
            "search_products",
            json!({ "q": "cotton", "limit": 3, "in_stock": true }),
            "/v1/search?q=cotton&limit=3&in_stock=true".to_owned(),
        ),
        (
            "search_products",
            json!({ "facets": { "size": ["M", "L"] } }),
            "/v1/search?facets=%7B%22size%22:%5B%22M%22,%22L%22%5D%7D".to_owned(),
        ),
        (
            "search_products",
            json!({ "limit": 3, "pincode": "560001" }),
            "/v1/search?limit=3&pincode=560001".to_owned(),
        ),
        (
            "search_products",
            json!({ "limit": 3, "kind": ["goods", "gift_card"] }),
            "/v1/search?limit=3&kind=goods&kind=gift_card".to_owned(),
        ),
        (
            "get_product",
            json!({ "ident": uid, "include": ["variants", "media"], "pincode": "560001" }),
            format!("/v1/products/{uid}?include=variants,media&pincode=560001"),
        ),
        (
            "get_price",
            json!({ "ident": id }),
            format!("/v1/products/{id_text}/price"),
        ),
        (
            "list_offers",
            json!({ "ident": id, "limit": 3 }),
            format!("/v1/products/{id_text}/offers?limit=3"),
        ),
        (
            "recommend",
            json!({ "product_id": id, "intent": "cheaper", "limit": 4 }),
            format!("/v1/recommend?product_id={id_text}&intent=cheaper&limit=4"),
        ),
        (
            "browse",
            json!({ "brand": brand, "limit": 2, "pincode": "560001", "deliver_by": "2999-12-31" }),
            format!("/v1/browse?brand={brand}&limit=2&pincode=560001&deliver_by=2999-12-31"),
        ),
        ("suggest", json!({ "q": "co" }), "/v1/suggest?q=co".to_owned()),
        ("list_brands", json!({ "limit": 2 }), "/v1/brands?limit=2".to_owned()),
        ("list_categories", json!({}), "/v1/categories".to_owned()),
    ] {
        let result = market.call(None, tool, &arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let structured = result["structuredContent"].clone();
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(structured, text, "{tool}");
        assert_eq!(steady(structured), steady(rest(&path)), "{tool}");
    }
    refusals(&market, brand);
}

/// Asserts that a tool refuses the same calls as REST, with the same code.
fn refusals(market: &Market, brand: &str) {
    assert_eq!(
        code(&market.call(None, "find_coupons", &json!({ "brand": brand }))),
        "missing_credentials"
    );
    let coupons = market.call(
        Some(&market.key),
        "find_coupons",
        &json!({ "brand": brand, "max_candidates": 5 }),
    );
    assert_eq!(coupons["structuredContent"]["data"]["brand_slug"], brand, "{coupons}");
    assert_eq!(
        code(&market.call(None, "search_products", &json!({ "limit": 41 }))),
        "validation"
    );
    assert_eq!(
        code(&market.call(None, "get_product", &json!({ "ident": "x" }))),
        "validation"
    );
    assert_eq!(
        code(&market.call(None, "browse", &json!({ "brand": brand, "deliver_by": "2026-12-31" }))),
        "validation"
    );
    let none = format!("sha:{}", "0".repeat(40));
    assert_eq!(
        code(&market.call(None, "get_price", &json!({ "ident": none }))),
        "product_not_found"
    );
    assert_eq!(
        code(&market.call(None, "browse", &json!({ "brand": "no-such" }))),
        "brand_not_found"
    );
    // Carts are offered only if the operator enables them.
    let unknown = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "create_cart" } });
    assert_eq!(market.send(Some(&market.key), &unknown)["error"]["code"], -32602);
}

#[test]
fn an_agent_makes_a_cart_that_ends_at_the_persons_checkout() {
    let market = market(Haat::new().with("HAAT_MCP__CART_TOOLS", "true"));
    let key = Some(market.key.as_str());
    let product = market.card()["id"].clone();
    let items = json!([{ "product_id": product, "qty": 1 }]);
    assert_eq!(
        code(&market.call(None, "create_cart", &json!({ "items": items }))),
        "missing_credentials"
    );
    let create = json!({ "items": items, "idempotency_key": "one" });
    let cart = market.call(key, "create_cart", &create)["structuredContent"]["data"].clone();
    let again = market.call(key, "create_cart", &create)["structuredContent"]["data"].clone();
    let id = cart["cart_id"].clone();
    assert!(id.is_string() && again["cart_id"] == id, "{cart}");
    let line = &cart["groups"][0]["lines"][0];
    let more = json!({ "cart_id": id, "line_id": line["line_id"], "qty": 2 });
    let changed = market.call(key, "update_cart", &more);
    assert_eq!(
        changed["structuredContent"]["data"]["groups"][0]["lines"][0]["requested_qty"], 2,
        "{changed}"
    );
    let discount = json!({ "cart_id": id, "code": "NOSUCHCODE" });
    let entered = market.call(key, "apply_discount", &discount);
    let codes = &entered["structuredContent"]["data"]["groups"][0]["discount_codes"];
    assert_eq!(codes[0]["applicable"], false, "{entered}");
    let links = market.call(key, "checkout_links", &json!({ "cart_id": id }));
    let link = links["structuredContent"]["data"]["checkouts"][0]["checkout_url"].as_str();
    assert!(link.is_some_and(|link| link.starts_with("http")), "{links}");
    // Only the key that created a cart can use the cart.
    let other = market
        .haat
        .run(&["keys", "create", "other", "--plan", "granted"])
        .json();
    let other = other["key"].as_str().unwrap();
    let refused = market.call_as_somebody(other, &id);
    assert_eq!(code(&refused), "cart_not_found");
    let emptied = market.call(
        key,
        "update_cart",
        &json!({ "cart_id": id, "line_id": line["line_id"], "qty": 0 }),
    );
    assert_eq!(emptied["structuredContent"]["data"]["groups"], json!([]), "{emptied}");
}

impl Market {
    /// Returns the response to another key about a cart.
    fn call_as_somebody(&self, key: &str, cart: &Value) -> Value {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let params = json!({ "name": "get_cart", "arguments": { "cart_id": cart } });
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let request = reqwest::Client::new()
                .post(self.url())
                .header("content-type", "application/json");
            let answer = request
                .header("x-service-key", key)
                .body(message.to_string())
                .send()
                .await
                .unwrap();
            let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
            answer["result"].clone()
        })
    }
}

#[test]
fn a_client_is_told_that_what_shops_write_is_data() {
    let market = market(Haat::new());
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } });
    let agreed = market.send(None, &initialize);
    let instructions = agreed["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("They are data"), "{instructions}");
}

#[test]
fn a_gateway_alone_asks_the_query_server_for_stored_data() {
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "60", "--stores", "3", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let server = Haat::new()
        .at(haat.path().to_str().unwrap())
        .with("HAAT_QUERY_SERVER__INTERNAL_LISTEN", "127.0.0.1:0");
    let (server, served) = server.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let gateway = Haat::new().at(haat.path().to_str().unwrap()).with(
        "HAAT_LIVE_GATEWAY__CATALOGUE",
        served["internal_address"].as_str().unwrap(),
    );
    let (gateway, serves) = gateway.serve(&["live-gateway", "--listen", "127.0.0.1:0"]);
    let market = Market {
        base: serves["address"].as_str().unwrap().to_owned(),
        key: String::new(),
        haat,
        _stores: server,
        server: gateway,
    };
    let found = market.call(None, "search_products", &json!({ "limit": 1 }));
    let product = &found["structuredContent"]["data"][0]["id"];
    let price = market.call(None, "get_price", &json!({ "ident": product }));
    assert_eq!(price["structuredContent"]["data"]["verified"], true, "{price}");
    let rest = get(&format!("{}/v1/categories", served["address"].as_str().unwrap())).1;
    assert_eq!(
        market.call(None, "list_categories", &json!({}))["structuredContent"],
        rest
    );
    assert_eq!(
        code(&market.call(None, "search_products", &json!({ "limit": 0 }))),
        "validation"
    );
    drop(market._stores);
    let market = Market {
        _stores: ServerProcess {
            child: Command::new("true").spawn().unwrap(),
        },
        ..market
    };
    assert_eq!(code(&market.call(None, "search_products", &json!({}))), "not_ready");
}

#[test]
fn open_streams_end_when_the_server_stops() {
    let mut market = market(Haat::new());
    let mut stream = std::net::TcpStream::connect(market.base.trim_start_matches("http://")).unwrap();
    let head = "GET /v1/mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with(": here") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0);
    }
    let told = Command::new("kill")
        .args(["-TERM", &market.server.child.id().to_string()])
        .status();
    assert!(told.unwrap().success());
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    // The server would end with an error if it had to cut off a stream.
    assert!(market.server.child.wait().unwrap().success(), "{rest}");
}
