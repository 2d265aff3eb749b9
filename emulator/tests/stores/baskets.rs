//! Tests of carts over GraphQL, and the helpers that they share.

use std::time::Duration;

use emulator::{DiscountRule, DiscountValue};
use serde_json::json;

use super::*;

const CART: &str = "id checkoutUrl totalQuantity note attributes { key value }
    buyerIdentity { email phone countryCode customer { id } }
    cost { subtotalAmount { amount currencyCode } totalAmount { amount } }
    discountCodes { code applicable }
    discountAllocations { __typename discountedAmount { amount } targetType ... on CartCodeDiscountAllocation { code }
        ... on CartAutomaticDiscountAllocation { title }
        discountApplication { allocationMethod targetSelection value {
            ... on PricingPercentageValue { percentage } ... on MoneyV2 { amount } } } }
    delivery { addresses { id selected } }
    deliveryGroups(first: 5) { nodes { id selectedDeliveryOption { handle title estimatedCost { amount } }
        deliveryOptions { handle title estimatedCost { amount } } cartLines(first: 5) { nodes { id } } } }
    lines(first: 50) { nodes { id quantity attributes { key value } merchandise { ... on ProductVariant { id } }
        cost { amountPerQuantity { amount } subtotalAmount { amount } totalAmount { amount } }
        discountAllocations { discountedAmount { amount } ... on CartCodeDiscountAllocation { code } } } }";

pub(crate) async fn mutate(store: &StoreAddress, call: &str, declared: &str, variables: Value) -> Value {
    let asked = format!(
        "mutation ({declared}) {{ {call} {{ cart {{ {CART} }} userErrors {{ code field message }}
            warnings {{ code message target }} }} }}"
    );
    let answer = query(store, &asked, variables).await;
    assert_eq!(answer.status, 200);
    let answer = answer.json();
    assert!(answer.get("errors").is_none(), "{answer}");
    answer["data"].as_object().unwrap().values().next().unwrap().clone()
}

pub(crate) async fn create(store: &StoreAddress, input: Value) -> Value {
    mutate(
        store,
        "cartCreate(input: $input)",
        "$input: CartInput",
        json!({ "input": input }),
    )
    .await
}

pub(crate) async fn discount(store: &StoreAddress, cart: &Value, codes: &[&str]) -> Value {
    mutate(
        store,
        "cartDiscountCodesUpdate(cartId: $cart, discountCodes: $codes)",
        "$cart: ID!, $codes: [String!]!",
        json!({ "cart": cart["id"], "codes": codes }),
    )
    .await
}

pub(crate) async fn add(store: &StoreAddress, cart: &Value, lines: Value) -> Value {
    mutate(
        store,
        "cartLinesAdd(cartId: $cart, lines: $lines)",
        "$cart: ID!, $lines: [CartLineInput!]!",
        json!({ "cart": cart["id"], "lines": lines }),
    )
    .await
}

pub(crate) async fn read(store: &StoreAddress, id: &Value) -> Value {
    let asked = format!("query ($id: ID!) {{ cart(id: $id) {{ {CART} }} }}");
    query(store, &asked, json!({ "id": id })).await.json()["data"]["cart"].clone()
}

/// Starts a store with one 20 % code, and returns a variant at 12.50 with 5 units in stock, and its product.
pub(crate) async fn shop() -> (RunningStores, StoreAddress, u64, u64) {
    let (running, store) = store(40).await;
    let products = crawl(&store, 250).await;
    let product = products[0]["id"].as_u64().unwrap();
    let variant = products[0]["variants"][0]["id"].as_u64().unwrap();
    running.reprice(&store.slug, variant, "12.50").unwrap();
    running.set_stock(&store.slug, variant, 5).unwrap();
    let rule = DiscountRule::code("TAKE20", DiscountValue::Percentage { percent: 20 });
    running.set_discounts(&store.slug, [rule]).unwrap();
    (running, store, product, variant)
}

pub(crate) fn line(variant: u64, quantity: u64) -> Value {
    json!({ "merchandiseId": format!("gid://shopify/ProductVariant/{variant}"), "quantity": quantity })
}

/// Returns the codes of a list of errors or warnings.
pub(crate) fn codes(list: &Value) -> Vec<String> {
    let listed = list.as_array().unwrap().iter();
    listed.map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn total(cart: &Value) -> &str {
    cart["cost"]["totalAmount"]["amount"].as_str().unwrap()
}

#[tokio::test]
async fn a_cart_is_made_filled_and_discounted() {
    let (running, store, _, variant) = shop().await;
    let made = create(&store, json!({ "lines": [line(variant, 2)], "note": "Ring twice" })).await;
    assert_eq!((codes(&made["userErrors"]), codes(&made["warnings"])), (vec![], vec![]));
    let cart = &made["cart"];
    assert_eq!((total(cart), cart["totalQuantity"].as_u64()), ("25.0", Some(2)));
    let id = cart["id"].as_str().unwrap();
    assert!(id.starts_with("gid://shopify/Cart/") && id.contains("?key="));

    let taken = discount(&store, cart, &["take20", "TAKE20", " NOT-A-REAL-CODE "]).await;
    assert_eq!(codes(&taken["userErrors"]), [""; 0]);
    assert_eq!(codes(&taken["warnings"]), ["DISCOUNT_NOT_FOUND"]);
    assert_eq!(
        taken["cart"]["discountCodes"],
        json!([{ "code": "take20", "applicable": true }, { "code": " NOT-A-REAL-CODE ", "applicable": false }])
    );
    assert_eq!(taken["cart"]["cost"]["subtotalAmount"]["amount"], "25.0");
    assert_eq!(total(&taken["cart"]), "20.0");
    insta::assert_snapshot!(taken["cart"]["discountAllocations"], @r#"
    [{"__typename":"CartCodeDiscountAllocation","code":"TAKE20","discountApplication":{"allocationMethod":"ACROSS","targetSelection":"ALL","value":{"percentage":20.0}},"discountedAmount":{"amount":"5.0"},"targetType":"LINE_ITEM"}]
    "#);

    // Every later change repeats the warning, and a new list of codes replaces the old one.
    let added = add(&store, cart, json!([line(variant, 1)])).await;
    assert_eq!(codes(&added["warnings"]), ["DISCOUNT_NOT_FOUND"]);
    assert_eq!(
        (
            total(&added["cart"]),
            added["cart"]["lines"]["nodes"].as_array().unwrap().len()
        ),
        ("30.0", 1)
    );
    let cleared = discount(&store, cart, &[]).await;
    assert_eq!((total(&cleared["cart"]), codes(&cleared["warnings"])), ("37.5", vec![]));
    assert_eq!(read(&store, &cart["id"]).await, cleared["cart"]);
    let calls = running.calls(&store.slug).unwrap();
    assert_eq!(
        (calls["cartCreate"], calls["cartDiscountCodesUpdate"], calls["cart"]),
        (1, 2, 1)
    );
}

#[tokio::test]
async fn over_asking_is_capped_and_a_sold_out_line_stays_with_no_pieces() {
    let (running, store, _, variant) = shop().await;
    let made = create(&store, json!({ "lines": [line(variant, 9)] })).await;
    assert_eq!(codes(&made["warnings"]), ["MERCHANDISE_NOT_ENOUGH_STOCK"]);
    assert_eq!(
        made["warnings"][0]["message"],
        "Only 5 items were added to your cart due to availability."
    );
    assert_eq!(made["warnings"][0]["target"], made["cart"]["lines"]["nodes"][0]["id"]);
    assert_eq!(made["cart"]["totalQuantity"], 5);

    running.set_stock(&store.slug, variant, 0).unwrap();
    assert_eq!(read(&store, &made["cart"]["id"]).await["totalQuantity"], 5);
    for _ in 0..2 {
        let noted = mutate(
            &store,
            "cartNoteUpdate(cartId: $cart, note: $note)",
            "$cart: ID!, $note: String!",
            json!({ "cart": made["cart"]["id"], "note": "x" }),
        )
        .await;
        assert_eq!(codes(&noted["warnings"]), ["MERCHANDISE_OUT_OF_STOCK"]);
        assert_eq!(noted["cart"]["lines"]["nodes"][0]["quantity"], 0);
        assert_eq!(total(&noted["cart"]), "0.0");
    }
}

#[tokio::test]
async fn what_is_refused_is_told_with_200_and_leaves_the_cart_as_it_was() {
    let (_running, store, _, variant) = shop().await;
    let made = create(&store, json!({ "lines": [line(variant, 1)] })).await;
    let cart = &made["cart"];
    let id = cart["id"].as_str().unwrap();
    let mut told = Vec::new();
    let mut tell = |what: &str, payload: &Value| {
        told.push(format!(
            "{what}: {} {}",
            payload["cart"]["totalQuantity"], payload["userErrors"]
        ));
    };
    tell("variant", &add(&store, cart, json!([line(0, 1)])).await);
    tell(
        "negative",
        &add(
            &store,
            cart,
            json!([{ "merchandiseId": line(variant, 1)["merchandiseId"], "quantity": -1 }]),
        )
        .await,
    );
    let missing = json!({ "id": id.replace("?key=", "?key=0") });
    tell("other key", &add(&store, &missing, json!([line(variant, 3)])).await);
    let buyer = json!({ "cart": id, "buyer": { "email": "nobody", "countryCode": "IN" } });
    let declared = "$cart: ID!, $buyer: CartBuyerIdentityInput!";
    tell(
        "email",
        &mutate(
            &store,
            "cartBuyerIdentityUpdate(cartId: $cart, buyerIdentity: $buyer)",
            declared,
            buyer,
        )
        .await,
    );
    let long = json!({ "cart": id, "note": "n".repeat(5_001) });
    let call = "cartNoteUpdate(cartId: $cart, note: $note)";
    tell("note", &mutate(&store, call, "$cart: ID!, $note: String!", long).await);
    tell("created", &create(&store, json!({ "lines": [line(7, 1)] })).await);
    let pairs: Vec<Value> = (0..2)
        .map(|nth| json!({ "key": format!("k{nth}"), "value": "v".repeat(9_000) }))
        .collect();
    let large = json!({ "cart": id, "attributes": pairs });
    let declared = "$cart: ID!, $attributes: [AttributeInput!]!";
    tell(
        "attributes",
        &mutate(
            &store,
            "cartAttributesUpdate(cartId: $cart, attributes: $attributes)",
            declared,
            large,
        )
        .await,
    );
    insta::assert_snapshot!(told.join("\n"), @r#"
    variant: null [{"code":"INVALID","field":["lines","0","merchandiseId"],"message":"The merchandise with id gid://shopify/ProductVariant/0 does not exist."}]
    negative: null [{"code":"INVALID","field":["lines","0","quantity"],"message":"The quantity must be greater than or equal to 0."}]
    other key: 3 [{"code":"INVALID","field":["cartId"],"message":"The specified cart does not exist."}]
    email: 1 [{"code":"INVALID","field":["buyerIdentity","email"],"message":"Email is invalid"}]
    note: null [{"code":"NOTE_TOO_LONG","field":["note"],"message":"The note exceeds the maximum number of 5000 characters."}]
    created: null [{"code":"INVALID","field":["input","lines","0","merchandiseId"],"message":"The merchandise with id gid://shopify/ProductVariant/7 does not exist."}]
    attributes: null [{"code":"INVALID","field":["attributes"],"message":"The attributes are too many or too long."}]
    "#);
    assert_eq!(read(&store, &cart["id"]).await, *cart);
}

#[tokio::test]
async fn carts_are_private_run_out_and_are_bounded() {
    let running = Emulator::start(EmulatorConfig {
        carts_max: 3,
        ..EmulatorConfig::new(Source::Generated {
            products: 20,
            stores: 1,
            seed: 42,
        })
    })
    .await
    .unwrap();
    let store = running.stores().remove(0);
    let made = create(&store, json!({ "buyerIdentity": { "email": "asha@example.com" } })).await;
    let id = made["cart"]["id"].as_str().unwrap().to_owned();
    let keyless = read(&store, &json!(id.split('?').next().unwrap())).await;
    assert_eq!(
        (
            keyless["buyerIdentity"]["email"].clone(),
            keyless["id"].as_str().unwrap()
        ),
        (Value::Null, id.split('?').next().unwrap())
    );
    assert_eq!(read(&store, &json!(format!("{id}0"))).await, Value::Null);
    running.advance_clock(Duration::from_secs(29 * 86_400));
    assert_eq!(
        read(&store, &json!(id)).await["buyerIdentity"]["email"],
        "asha@example.com"
    );
    running.advance_clock(Duration::from_secs(2 * 86_400));
    assert_eq!(read(&store, &json!(id)).await, Value::Null);

    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(create(&store, json!({})).await["cart"]["id"].clone());
    }
    assert_eq!(running.carts(&store.slug).unwrap(), 3);
    assert_eq!(
        (read(&store, &ids[1]).await, read(&store, &ids[4]).await["id"].clone()),
        (Value::Null, ids[4].clone())
    );
}

#[tokio::test]
async fn a_cart_has_five_hundred_lines_at_most() {
    let (running, store, _, variant) = shop().await;
    running.set_stock(&store.slug, variant, 10_000).unwrap();
    let lines = |from: usize, count: usize| -> Value {
        let lines = (from..from + count).map(|nth| {
            let mut line = line(variant, 1);
            line["attributes"] = json!([{ "key": "nth", "value": nth.to_string() }]);
            line
        });
        lines.collect::<Vec<_>>().into()
    };
    let made = create(&store, json!({ "lines": lines(0, 250) })).await;
    let full = add(&store, &made["cart"], lines(250, 250)).await;
    assert_eq!(full["cart"]["totalQuantity"], 500);
    let over = add(&store, &made["cart"], lines(500, 1)).await;
    assert_eq!(
        (codes(&over["userErrors"]), &over["cart"]),
        (vec!["CART_TOO_LARGE".to_owned()], &Value::Null)
    );
    // More units of an existing line create no new line.
    assert_eq!(
        add(&store, &made["cart"], lines(7, 1)).await["cart"]["totalQuantity"],
        501
    );
}

#[tokio::test]
async fn the_checkout_page_shows_what_would_be_bought_and_takes_nothing() {
    let (_running, store, _, variant) = shop().await;
    let made = create(
        &store,
        json!({ "lines": [line(variant, 2)], "discountCodes": ["TAKE20"] }),
    )
    .await;
    let url = made["cart"]["checkoutUrl"].as_str().unwrap();
    let path = url.strip_prefix(&store.base_url).unwrap();
    let page = get(&store, path).await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, "text/html; charset=utf-8")
    );
    let text = page.text();
    for part in [
        "Rs. 25",
        "Discount TAKE20",
        "&minus;Rs. 5",
        "<strong>Rs. 20 INR</strong>",
        "takes no payment",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(get(&store, path.split('?').next().unwrap()).await.status, 404);
    // The cart's own key does not open the checkout page and is not in the page.
    let key = made["cart"]["id"].as_str().unwrap().split("key=").nth(1).unwrap();
    assert!(!text.contains(key) && !url.contains(key));
}

#[tokio::test]
async fn a_mutation_whose_answer_is_lost_was_done() {
    use emulator::{Fault, FaultRule};
    let (running, store, _, variant) = shop().await;
    let made = create(&store, json!({ "lines": [line(variant, 1)] })).await;
    let send = || {
        let asked = "mutation ($cart: ID!, $lines: [CartLineInput!]!) { cartLinesAdd(cartId: $cart, lines: $lines) { cart { id } } }";
        let body = json!({ "query": asked, "variables": { "cart": made["cart"]["id"], "lines": [line(variant, 1)] } });
        client()
            .post(format!("{}{GRAPHQL}", store.base_url))
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
    };
    let on_add = |fault: Fault| FaultRule::from(fault).on_operation("cartLinesAdd");
    running
        .set_faults(&store.slug, [on_add(Fault::AnswerLost { hold_ms: 0 })])
        .unwrap();
    assert!(send().await.is_err());
    assert_eq!(read(&store, &made["cart"]["id"]).await["totalQuantity"], 2);

    running
        .set_faults(&store.slug, [on_add(Fault::AnswerLost { hold_ms: 3_600_000 })])
        .unwrap();
    let never = tokio::spawn(send());
    while running.calls(&store.slug).unwrap()["cartLinesAdd"] < 2 {
        tokio::task::yield_now().await;
    }
    assert!(!never.is_finished());
    never.abort();
    assert_eq!(read(&store, &made["cart"]["id"]).await["totalQuantity"], 3);

    // A reset before the response and a refusal change nothing.
    running.set_faults(&store.slug, [on_add(Fault::Reset)]).unwrap();
    assert!(send().await.is_err());
    running
        .set_faults(
            &store.slug,
            [on_add(Fault::Status {
                status: 503,
                retry_after_s: None,
            })],
        )
        .unwrap();
    assert_eq!(send().await.unwrap().status(), 503);
    running.set_fault(&store.slug, None).unwrap();
    assert_eq!(read(&store, &made["cart"]["id"]).await["totalQuantity"], 3);
    assert_eq!(running.calls(&store.slug).unwrap()["cartLinesAdd"], 2);
}

#[tokio::test]
async fn a_cart_takes_no_more_text_than_half_a_megabyte() {
    let (_running, store, _, variant) = shop().await;
    let pairs = |count: usize| -> Value {
        let pairs = (0..count).map(|nth| json!({ "key": format!("k{nth}"), "value": "v".repeat(8_000) }));
        pairs.collect::<Vec<_>>().into()
    };
    let made = create(&store, json!({ "lines": [line(variant, 1)], "attributes": pairs(60) })).await;
    assert_eq!(made["cart"]["attributes"].as_array().unwrap().len(), 60);
    let over = create(&store, json!({ "attributes": pairs(70) })).await;
    assert_eq!(
        (codes(&over["userErrors"]), &over["cart"]),
        (vec!["CART_TOO_LARGE".to_owned()], &Value::Null)
    );
}
