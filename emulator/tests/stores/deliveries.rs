//! Tests of delivery: addresses, delivery costs, and discounts on delivery.

use emulator::{CombinesWith, DiscountRule, DiscountValue};
use serde_json::json;

use super::baskets::{codes, create, discount, line, mutate, read, shop, total};
use super::*;

fn address(is_selected: bool) -> Value {
    json!({ "selected": is_selected, "validationStrategy": "STRICT", "address": { "deliveryAddress": {
        "firstName": "Asha", "lastName": "Rao", "address1": "1 MG Road", "city": "Bengaluru", "provinceCode": "KA",
        "countryCode": "IN", "zip": "560001" } } })
}

async fn addressed(store: &StoreAddress, cart: &Value, call: &str, given: Value) -> Value {
    mutate(
        store,
        &format!("cartDeliveryAddresses{call}(cartId: $cart, addresses: $addresses)"),
        "$cart: ID!, $addresses: [CartSelectableAddressInput!]!",
        json!({ "cart": cart["id"], "addresses": [given] }),
    )
    .await
}

async fn choose(store: &StoreAddress, cart: &Value, handle: &Value) -> Value {
    let group = &cart["deliveryGroups"]["nodes"][0]["id"];
    mutate(
        store,
        "cartSelectedDeliveryOptionsUpdate(cartId: $cart, selectedDeliveryOptions: $options)",
        "$cart: ID!, $options: [CartSelectedDeliveryOptionInput!]!",
        json!({ "cart": cart["id"], "options": [{ "deliveryGroupId": group, "deliveryOptionHandle": handle }] }),
    )
    .await
}

#[tokio::test]
async fn delivery_is_offered_to_an_address_that_is_selected() {
    let (_running, store, _, variant) = shop().await;
    let made = create(&store, json!({ "lines": [line(variant, 2)] })).await;
    assert_eq!(made["cart"]["deliveryGroups"]["nodes"], json!([]));
    let unselected = addressed(&store, &made["cart"], "Add", address(false)).await;
    assert_eq!(unselected["cart"]["deliveryGroups"]["nodes"], json!([]));
    let selected = addressed(&store, &made["cart"], "Add", address(true)).await;
    let cart = &selected["cart"];
    let group = &cart["deliveryGroups"]["nodes"][0];
    let options = group["deliveryOptions"].as_array().unwrap();
    // The cheapest option is selected by default.
    assert_eq!((options.len(), &group["selectedDeliveryOption"]), (2, &options[0]));

    choose(&store, cart, &options[1]["handle"]).await;
    let paid = read(&store, &cart["id"]).await;
    let chosen = &paid["deliveryGroups"]["nodes"][0]["selectedDeliveryOption"];
    assert_eq!(chosen["title"], "Express");
    let cost: f64 = chosen["estimatedCost"]["amount"].as_str().unwrap().parse().unwrap();
    assert_eq!(total(&paid).parse::<f64>().unwrap(), 25.0 + cost);

    let wrong = choose(&store, cart, &json!("no-such-handle")).await;
    assert_eq!(
        (&wrong["cart"], codes(&wrong["userErrors"])),
        (&Value::Null, vec!["INVALID_DELIVERY_OPTION".to_owned()])
    );
}

#[tokio::test]
async fn a_code_for_the_delivery_applies_at_once_and_takes_off_what_the_delivery_costs_when_it_is_known() {
    let (running, store, _, variant) = shop().await;
    let rule = DiscountRule {
        combines_with: CombinesWith {
            order: true,
            product: true,
            shipping: true,
        },
        ..DiscountRule::code("SHIP", DiscountValue::Shipping)
    };
    running.add_discount(&store.slug, rule).unwrap();
    let made = create(&store, json!({ "lines": [line(variant, 2)] })).await;
    let entered = discount(&store, &made["cart"], &["SHIP"]).await;
    assert_eq!(entered["cart"]["discountCodes"][0]["applicable"], true);
    assert_eq!(
        (entered["cart"]["discountAllocations"].clone(), total(&entered["cart"])),
        (json!([]), "25.0")
    );
    let selected = addressed(&store, &made["cart"], "Add", address(true)).await;
    let cart = &selected["cart"];
    let allocation = &cart["discountAllocations"][0];
    assert_eq!(
        (total(cart), &allocation["targetType"]),
        ("25.0", &json!("SHIPPING_LINE"))
    );
    assert_eq!(
        allocation["discountedAmount"],
        cart["deliveryGroups"]["nodes"][0]["selectedDeliveryOption"]["estimatedCost"]
    );
}

#[tokio::test]
async fn goods_that_cannot_go_to_the_selected_country_lose_their_pieces() {
    let (_running, store, _, variant) = shop().await;
    let made = create(&store, json!({ "lines": [line(variant, 2)] })).await;
    let brazil = json!({ "selected": true, "address": { "deliveryAddress": { "countryCode": "BR" } } });
    let abroad = addressed(&store, &made["cart"], "Replace", brazil).await;
    assert_eq!(abroad["cart"]["deliveryGroups"]["nodes"], json!([]));
    assert_eq!(
        (codes(&abroad["warnings"]), &abroad["cart"]["totalQuantity"]),
        (vec!["MERCHANDISE_OUT_OF_STOCK".to_owned()], &json!(0))
    );
    // As recorded, removed units do not return when the address is changed back.
    let back = addressed(&store, &made["cart"], "Replace", address(true)).await;
    assert_eq!(back["cart"]["totalQuantity"], 0);
}
