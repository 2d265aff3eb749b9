//! Tests of the content of signed quotes, and of their effect in carts.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use emulator::{Fault, FaultRule};
use http::Method;
use live_gateway::{CartConfig, rotate_signing_key};
use serde_json::{Value, json};

use super::mall::{Call, Mall, Server, group, master_keys, path};

const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Requests a price with a quote and returns the entry.
async fn quoted(server: &Server, ident: &str, more: &str) -> Value {
    let asked = format!("/v1/products/{ident}/price?quote=true{more}");
    server.data(Call::get(asked)).await
}

fn text(entry: &Value) -> String {
    entry["quote"].as_str().unwrap().to_owned()
}

fn part(token: &str, nth: usize) -> Value {
    let part = URL_SAFE_NO_PAD.decode(token.split('.').nth(nth).unwrap()).unwrap();
    serde_json::from_slice(&part).unwrap()
}

/// Returns a request item for a product with its quote.
fn item(ident: &str, quote: &str) -> Value {
    json!({ "product_id": ident, "qty": 1, "quote": quote })
}

/// Returns the cart's verdict on the shown price of its only line, and the codes of the line's warnings.
fn verdict(cart: &Value, mall: &Mall) -> (Value, Value, Vec<Value>) {
    let group = group(cart, &mall.brand(0));
    let line = &group["lines"][0];
    let warnings = group["warnings"].as_array().unwrap().iter();
    let codes = warnings.map(|warning| warning["code"].clone());
    (
        line["price_held"].clone(),
        line["price_changed"].clone(),
        codes.collect(),
    )
}

/// Asserts that a cart is refused because of each of these items' quotes, and returns the messages.
async fn refusals(server: &Server, items: Vec<Value>) -> Vec<String> {
    let count = items.len();
    let (status, told) = server.send(Call::post("/v1/cart", json!({ "items": items }))).await;
    assert_eq!(status, 422, "{told}");
    let faults = told["detail"].as_array().unwrap();
    let places: Vec<_> = faults.iter().map(|fault| fault["loc"].clone()).collect();
    let each = (0..count).map(|nth| json!(["body", "items", nth, "quote"]));
    assert_eq!(places, each.collect::<Vec<_>>());
    let words = faults.iter().map(|fault| fault["msg"].as_str().unwrap().to_owned());
    words.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_says_what_the_store_said_and_nothing_of_who_asked() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let (ident, variant, _) = &mall.goods(0)[0];
    let entry = quoted(&server, ident, "").await;
    let quote = text(&entry);
    assert_eq!(
        (part(&quote, 0)["alg"].as_str(), part(&quote, 0)["typ"].as_str()),
        (Some("EdDSA"), Some("haat-quote+jwt"))
    );
    let mut claims = part(&quote, 1);
    let own = claims.as_object_mut().unwrap();
    let name = own.remove("jti").unwrap();
    assert_eq!(name.as_str().unwrap().len(), 32);
    let offers = entry["variants"].as_array().unwrap().iter().map(|one| {
        let [id, amount, list, available] =
            ["variant_id", "amount_minor", "compare_at_minor", "available"].map(|member| one[member].clone());
        json!({ "variant_id": id, "amount_minor": amount, "compare_at_minor": list, "available": available })
    });
    let offers: Vec<Value> = offers.collect();
    let noon_s = 1_795_262_400;
    let mut expected = json!({
        "iss": "http://127.0.0.1:8080", "iat": noon_s, "exp": noon_s + 3_600,
        "store": mall.stores.stores()[0].myshopify_domain, "variants": offers,
    });
    for member in ["product_id", "product_uid", "brand_slug", "as_of", "source", "currency"] {
        expected[member] = entry[member].clone();
    }
    assert_eq!(claims, expected);
    // Another caller gets the same response.
    let asked = format!("/v1/products/{ident}/price?quote=true");
    let other = server.data(Call::get(asked).by(None)).await;
    let mut of_other = part(&text(&other), 1);
    assert_ne!(of_other.as_object_mut().unwrap().remove("jti").unwrap(), name);
    assert_eq!(of_other, claims);
    let one = quoted(&server, ident, &format!("&variant_id={variant}")).await;
    let of_one = part(&text(&one), 1)["variants"].clone();
    assert_eq!(
        of_one
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["variant_id"])
            .collect::<Vec<_>>(),
        [&json!(variant.to_string())]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_verified_entry_has_a_quote_and_only_where_one_is_asked_for() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let ident = |store: usize| mall.goods(store)[0].0.clone();
    let plain = server.data(Call::get(format!("/v1/products/{}/price", ident(0)))).await;
    assert_eq!((&plain["verified"], plain.get("quote")), (&json!(true), None));
    let down = FaultRule::from(Fault::Status {
        status: 503,
        retry_after_s: None,
    });
    mall.stores.set_faults(&mall.slug(1), [down]).unwrap();
    let unknown = "00000000-0000-5000-8000-000000000000";
    let body = json!({ "idents": [ident(0), ident(1), unknown], "quote": true });
    let told = server.data(Call::post("/v1/prices", body)).await;
    let has = told
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["verified"].clone(), entry.get("quote").is_some()));
    assert_eq!(
        has.collect::<Vec<_>>(),
        [(json!(true), true), (json!(false), false), (json!(false), false)]
    );
    let none = format!("/v1/products/{}/price?quote=true&variant_id=1", ident(0));
    let (status, told) = server.send(Call::get(none)).await;
    assert_eq!(
        (status.as_u16(), &told["detail"][0]["loc"]),
        (422, &json!(["query", "variant_id"]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_says_if_the_price_of_its_quote_held_and_checkout_names_the_quote() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let (ident, variant, price) = mall.goods(0)[0].clone();
    let quote = text(&quoted(&server, &ident, "").await);
    let cart = server.cart(&[item(&ident, &quote), mall.item(1, 0, 1)]).await;
    let none: Vec<Value> = Vec::new();
    assert_eq!(verdict(&cart, &mall), (json!(true), Value::Null, none));
    let line = &group(&cart, &mall.brand(0))["lines"][0];
    assert_eq!(line["variant_id"], variant.to_string());
    mall.stores.reprice(&mall.slug(0), variant, "77777.00").unwrap();
    let told = server.data(Call::get(path(&cart, ""))).await;
    let changed = json!({ "shown_minor": price, "shown_currency": "INR", "now_minor": 7_777_700 });
    let (held, both, _) = verdict(&told, &mall);
    assert_eq!((held, both), (json!(false), changed));
    let asked = json!({ "cart_id": cart["cart_id"] });
    let checkout = server.data(Call::post("/v1/checkout", asked)).await;
    let named = |token: &Value| part(token.as_str().unwrap(), 1).get("quotes").cloned();
    let both = checkout["checkouts"].as_array().unwrap().iter();
    let of_stores: Vec<_> = both
        .map(|one| (one["brand_slug"].clone(), named(&one["attribution_token"])))
        .collect();
    let name = json!([part(&quote, 1)["jti"]]);
    assert_eq!(
        of_stores,
        [(json!(mall.brand(0)), Some(name.clone())), (json!(mall.brand(1)), None)],
        "a store is told of its own goods alone"
    );
    assert_eq!(named(&checkout["attribution"]["token"]), Some(name));
    // The same price is shown without a quote.
    let items = json!({ "items": [{ "product_id": ident, "variant_id": variant.to_string(), "qty": 1, "price_minor": 7_777_700 }] });
    let told = server
        .data(Call::new(Method::PUT, path(&cart, "/lines")).with(items))
        .await;
    assert_eq!(verdict(&told, &mall).0, json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_that_ended_is_compared_and_said_to_have_ended() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let (ident, variant, price) = mall.goods(0)[0].clone();
    let quote = text(&quoted(&server, &ident, "").await);
    mall.stores.reprice(&mall.slug(0), variant, "77777.00").unwrap();
    for (passed_ms, codes) in [(3_599_000, vec![]), (1_000, vec![json!("quote_expired")])] {
        mall.clock.advance_ms(passed_ms);
        let cart = server.cart(&[item(&ident, &quote)]).await;
        let changed = json!({ "shown_minor": price, "shown_currency": "INR", "now_minor": 7_777_700 });
        assert_eq!(verdict(&cart, &mall), (json!(false), changed, codes));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_with_any_character_changed_is_refused() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let ident = mall.goods(0)[0].0.clone();
    let quote = text(&quoted(&server, &ident, "").await);
    // The next letter of the alphabet differs only in the last bits. At the end of a part, some of these bits have no
    // meaning.
    let next = |letter: u8| match ALPHABET.iter().position(|known| *known == letter) {
        Some(at) => ALPHABET[(at + 1) % ALPHABET.len()],
        None => b'A',
    };
    let forged = (0..quote.len()).map(|at| {
        let mut bytes = quote.clone().into_bytes();
        bytes[at] = next(bytes[at]);
        item(&ident, std::str::from_utf8(&bytes).unwrap())
    });
    let forged: Vec<Value> = forged.collect();
    for items in forged.chunks(100) {
        refusals(&server, items.to_vec()).await;
    }
    let (said, _) = quote.rsplit_once('.').unwrap();
    for other in [
        said.to_owned(),
        format!("{said}."),
        format!("{quote}="),
        format!("{quote}.{quote}"),
        "é".to_owned(),
    ] {
        refusals(&server, vec![item(&ident, &other)]).await;
    }
    server.cart(&[item(&ident, &quote)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_of_another_key_purpose_product_variant_or_price_is_refused() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let goods = mall.goods(0);
    let (ident, variant, price) = goods[0].clone();
    let other = goods[1].clone();
    let entry = quoted(&server, &ident, &format!("&variant_id={variant}")).await;
    let quote = text(&entry);
    // A server with a different key sells the same product of the same store.
    let elsewhere = Mall::open(1).await;
    let foreign = text(&quoted(&elsewhere.server().await, &ident, "").await);
    let cart = server.cart(&[item(&ident, &quote)]).await;
    let asked = json!({ "cart_id": cart["cart_id"] });
    let checkout = server.data(Call::post("/v1/checkout", asked)).await;
    let attribution = checkout["attribution"]["token"].as_str().unwrap();
    let mut of_another_variant = item(&ident, &quote);
    of_another_variant["variant_id"] = json!("1");
    let refused = [
        item(&ident, &foreign),
        item(&ident, attribution),
        item(&other.0, &quote),
        of_another_variant,
    ];
    insta::assert_snapshot!(refusals(&server, refused.to_vec()).await.join("\n"), @r"
    Value error, the quote is not signed by this server
    Value error, the quote is not signed by this server
    Value error, the quote is for another product
    Value error, the quote is for another variant
    ");
    for (stated, status) in [(price, 200), (price + 1, 422)] {
        let mut both = item(&ident, &quote);
        both["price_minor"] = json!(stated);
        let (told, answer) = server.send(Call::post("/v1/cart", json!({ "items": [both] }))).await;
        assert_eq!(told.as_u16(), status, "{answer}");
    }
    // The uid is another name of the same product.
    let uid = entry["product_uid"].as_str().unwrap();
    server.cart(&[item(uid, &quote)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_of_a_key_that_no_longer_signs_is_taken() {
    let mall = Mall::open(1).await;
    let ident = mall.goods(0)[0].0.clone();
    let quote = text(&quoted(&mall.server().await, &ident, "").await);
    let now = data_model::Clock::now(mall.clock.as_ref());
    let keys = rotate_signing_key(&mall.state().await, &master_keys(), &CartConfig::default(), now).await;
    mall.clock.advance_ms(3_600_000);
    let server = mall.server().await;
    let new = text(&quoted(&server, &ident, "").await);
    assert_eq!(part(&new, 0)["kid"], json!(keys.unwrap()[0].id));
    for quote in [quote, new] {
        let cart = server.cart(&[item(&ident, &quote)]).await;
        assert_eq!(verdict(&cart, &mall).0, json!(true));
    }
}
