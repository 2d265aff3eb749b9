//! Tests that tool results fit into a model's context. Results are limited by default, and smaller if the caller
//! requests less.

use serde_json::{Value, json};

use crate::mcp::{Market, market_of};
use crate::support::{Haat, get};

/// Maximum size in bytes of a result that hosts show completely (about 25,000 tokens).
const RESULT_BYTES_MAX: usize = 100_000;
/// Maximum size in bytes of the text for a model. A token of such texts has at least two bytes.
const TEXT_BYTES_MAX: usize = 50_000;
/// Maximum number of variants that the platform allows for a product.
const VARIANTS: usize = 2_048;

fn shirt() -> Value {
    let at = "2026-01-01T00:00:00+00:00";
    let variants = (0..VARIANTS).map(|index| {
        let (color, size) = (format!("Colour {}", index / 64), format!("Size {}", index % 64));
        json!({
            "id": 10_000 + index, "title": format!("{color} / {size}"), "option1": color, "option2": size,
            "sku": format!("SHIRT-{index}"), "available": true, "price": "499.00", "compare_at_price": null,
            "position": index + 1, "product_id": 101, "created_at": at, "updated_at": at,
        })
    });
    let variants: Vec<_> = variants.collect();
    json!({
        "id": 101, "title": "Linen Shirt", "handle": "linen-shirt", "vendor": "Loom", "product_type": "Shirts", "tags": ["linen"],
        "body_html": "<p>A shirt of linen.</p>", "variants": variants, "images": [],
        "options": [{ "name": "Color", "position": 1, "values": [] }, { "name": "Size", "position": 2, "values": [] }],
        "published_at": at, "created_at": at, "updated_at": at,
    })
}

/// Starts a market that sells only the shirt.
fn shirts() -> Market {
    let haat = Haat::new().with("HAAT_MCP__CART_TOOLS", "true");
    let folder = haat.path().join("recorded/loom");
    std::fs::create_dir_all(&folder).unwrap();
    let page = json!({ "products": [shirt()] }).to_string();
    std::fs::write(folder.join("products.json"), page).unwrap();
    let folder = haat.path().join("recorded");
    market_of(haat, &["--recorded", folder.to_str().unwrap(), "--currency", "INR"])
}

/// Starts a market as large as the demo's.
fn many() -> Market {
    market_of(
        Haat::new().with("HAAT_MCP__CART_TOOLS", "true"),
        &["--products", "2000", "--stores", "24"],
    )
}

#[test]
fn a_result_is_bounded_and_says_which_list_goes_on_where() {
    let market = shirts();
    let card = get(&format!("{}/v1/search?q=linen+shirt", market.base)).1["data"][0].clone();
    let ident = json!({ "ident": card["id"] });
    let whole = get(&format!("{}/v1/products/{}", market.base, card["id"].as_str().unwrap())).1["data"].clone();
    let wanted = whole["variants"].as_array().unwrap();
    assert_eq!(wanted.len(), VARIANTS);
    // All variants are read in several parts, as `provenance.cut` describes.
    let mut read: Vec<Value> = Vec::new();
    while read.len() < VARIANTS {
        let mut arguments = ident.clone();
        arguments["list_from"] = read.len().into();
        let result = market.call(None, "get_product", &arguments);
        assert!(
            result.to_string().len() <= RESULT_BYTES_MAX,
            "{}",
            result.to_string().len()
        );
        let document = &result["structuredContent"];
        let part = document["data"]["variants"].as_array().unwrap();
        let cut = document["provenance"]["cut"].as_array().unwrap();
        let told = cut.iter().find(|cut| cut["list"] == "data.variants").unwrap();
        let shown = json!({ "list": "data.variants", "from": read.len(), "shown": part.len(), "of": VARIANTS });
        assert_eq!(*told, shown);
        assert!(!part.is_empty());
        read.extend(part.iter().cloned());
    }
    assert_eq!(read, *wanted);
    for tool in ["get_product", "get_price", "list_offers"] {
        fits(&market, tool, &ident);
    }
}

#[track_caller]
fn fits(market: &Market, tool: &str, arguments: &Value) {
    let result = market.call(None, tool, arguments);
    assert_eq!(result["isError"], false, "{tool}: {result}");
    let size = result.to_string().len();
    assert!(size <= RESULT_BYTES_MAX, "{tool}: {size}");
    let blocks = result["content"].as_array().unwrap().iter();
    let read: usize = blocks.map(|block| block["text"].as_str().unwrap().len()).sum();
    assert!(read <= TEXT_BYTES_MAX, "{tool}: a model reads {read}");
}

#[test]
fn lists_of_a_market_and_the_tools_themselves_fit_too() {
    let market = many();
    for (tool, arguments) in [
        ("list_categories", json!({})),
        ("list_brands", json!({ "limit": 100 })),
        ("search_products", json!({ "limit": 40, "facet_counts": true })),
        ("browse", json!({ "category": "apparel-accessories", "limit": 60 })),
    ] {
        fits(&market, tool, &arguments);
    }
}

#[test]
fn a_caller_chooses_the_members_that_it_gets() {
    let market = many();
    let search =
        |arguments: Value| market.call(None, "search_products", &arguments)["structuredContent"]["data"].clone();
    let whole = search(json!({ "q": "cotton", "limit": 5 }));
    let chosen = search(json!({ "q": "cotton", "limit": 5, "fields": "id,price_min_minor" }));
    let wanted = whole
        .as_array()
        .unwrap()
        .iter()
        .map(|card| json!({ "id": card["id"], "price_min_minor": card["price_min_minor"] }));
    assert_eq!(chosen, wanted.collect::<Value>());
    let listed = search(json!({ "q": "cotton", "limit": 5, "fields": ["id", "price_min_minor"] }));
    assert_eq!(listed, chosen);
    let compact = search(json!({ "q": "cotton", "limit": 5, "view": "compact" }));
    for (card, whole) in compact.as_array().unwrap().iter().zip(whole.as_array().unwrap()) {
        assert!(
            card["image"].is_null() && card["id"] == whole["id"] && card["title"] == whole["title"],
            "{card}"
        );
    }
    let refused = market.call(
        None,
        "search_products",
        &json!({ "view": "small", "list_from": -1, "fields": 5 }),
    );
    let told: Value = serde_json::from_str(refused["content"][0]["text"].as_str().unwrap()).unwrap();
    let faults = told["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["loc"].clone());
    let wanted = ["fields", "view", "list_from"].map(|name| json!(["arguments", name]));
    assert_eq!(faults.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_field_that_no_entry_has_is_refused_and_every_other_one_can_be_chosen() {
    let market = many();
    let call = |tool: &str, arguments: &Value| market.call(None, tool, arguments)["structuredContent"].clone();
    let id = call("search_products", &json!({ "q": "cotton", "limit": 1 }))["data"][0]["id"].clone();
    for (tool, arguments) in [
        (
            "search_products",
            json!({ "q": "cotton", "fold": "color", "pincode": "560001" }),
        ),
        ("get_product", json!({ "ident": id, "pincode": "560001" })),
        ("get_price", json!({ "ident": id })),
        ("list_offers", json!({ "ident": id })),
        ("browse", json!({ "category": "apparel-accessories" })),
        ("suggest", json!({ "q": "cot" })),
        ("recommend", json!({ "product_id": id })),
        ("list_brands", json!({})),
        ("list_categories", json!({})),
    ] {
        let data = call(tool, &arguments)["data"].clone();
        let entries = data.get("items").unwrap_or(&data);
        let entry = entries.as_array().map_or(Some(entries), |entries| entries.first());
        // A product may have no other seller.
        let Some(entry) = entry.and_then(Value::as_object) else {
            continue;
        };
        let names: Vec<&str> = entry.keys().map(String::as_str).collect();
        let with = |fields: String| {
            let mut arguments = arguments.clone();
            arguments["fields"] = fields.into();
            arguments
        };
        let chosen = call(tool, &with(names.join(",")))["data"].clone();
        assert_eq!(chosen["items"].get(0), data["items"].get(0), "{tool} {names:?}");
        assert_eq!(chosen.get(0), data.get(0), "{tool} {names:?}");
        let refused = market.call(None, tool, &with(format!("{},nope,{}.nope", names[0], names[0])));
        let told: Value = serde_json::from_str(refused["content"][0]["text"].as_str().unwrap()).unwrap();
        let faults = told["detail"].as_array().unwrap();
        let faults = faults.iter().map(|fault| json!([fault["loc"], fault["input"]]));
        let at = json!(["arguments", "fields"]);
        let wanted = [json!([at, "nope"]), json!([at, format!("{}.nope", names[0])])];
        assert_eq!(faults.collect::<Vec<_>>(), wanted, "{tool}: {told}");
    }
}

#[test]
fn search_and_fetch_answer_as_hosts_of_connectors_expect() {
    let market = shirts();
    let found = market.call(None, "search", &json!({ "query": "linen shirt" }));
    let results = found["structuredContent"]["results"].as_array().unwrap();
    let first = &results[0];
    let address = format!("{}/products/{}", market.base, first["id"].as_str().unwrap());
    assert_eq!(first["url"], address);
    let fetched = market.call(None, "fetch", &json!({ "id": first["id"] }))["structuredContent"].clone();
    assert_eq!((&fetched["title"], &fetched["url"]), (&first["title"], &first["url"]));
    assert!(
        fetched["text"].is_string()
            && fetched["metadata"]["currency"].is_string()
            && fetched["metadata"]["variants_complete"] == true,
        "{fetched}"
    );
    let code = |result: &Value| -> Value {
        let told: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        json!([told["code"], told["detail"][0]["loc"]])
    };
    assert_eq!(
        code(&market.call(None, "search", &json!({}))),
        json!(["validation", ["arguments", "query"]])
    );
    assert_eq!(
        code(&market.call(None, "fetch", &json!({ "id": "x" }))),
        json!(["validation", ["arguments", "id"]])
    );
}

#[test]
fn lists_and_objects_that_a_client_writes_as_text_are_what_they_mean() {
    let market = shirts();
    let key = Some(market.key.as_str());
    let card = get(&format!("{}/v1/search?q=linen+shirt", market.base)).1["data"][0].clone();
    let product = market.call(
        key,
        "get_product",
        &json!({ "ident": card["id"], "include": "[\"offers\"]", "list_from": "0" }),
    );
    let product = &product["structuredContent"]["data"];
    assert!(
        product["offers"].is_array() && product["variants"].is_null(),
        "{product}"
    );
    let items = json!([{ "product_id": card["id"], "qty": 1 }]).to_string();
    let cart = market.call(key, "create_cart", &json!({ "items": items }))["structuredContent"]["data"].clone();
    let line = &cart["groups"][0]["lines"][0];
    let more = json!({ "cart_id": cart["cart_id"], "line_id": line["line_id"], "qty": "2" });
    let changed = market.call(key, "update_cart", &more);
    assert_eq!(
        changed["structuredContent"]["data"]["groups"][0]["lines"][0]["requested_qty"], 2,
        "{changed}"
    );
}
