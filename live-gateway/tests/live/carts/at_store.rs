//! Changes that a buyer makes at the store's own page. The next change here keeps and reports them.

use emulator::CartFunction;
use http::Method;
use serde_json::{Value, json};
use storefront::documents;

use super::late::ZIPS;
use super::mall::{Call, Mall, assert_sums, group, path};
use super::stores::prepare;

const MONTH: std::time::Duration = std::time::Duration::from_secs(40 * 86_400);

/// WantedCart state of a cart.
#[derive(Debug, Clone)]
struct WantedCart {
    /// Quantities of the first products of the store.
    pieces: [u64; 3],
    codes: Vec<&'static str>,
}

/// Names of the changes here.
const CHANGES: [&str; 8] = [
    "another product",
    "the same product",
    "a quantity",
    "a code",
    "no code",
    "an address",
    "a checkout",
    "a better code",
];

/// Returns a change of a cart, and the wanted state after it.
fn change(mall: &Mall, cart: &Value, name: &str, mut wanted: WantedCart) -> (Call, WantedCart) {
    let more = |nth: usize| Call::post(path(cart, "/lines"), json!({ "items": [mall.item(0, nth, 1)] }));
    let call = match name {
        "another product" => {
            wanted.pieces[2] += 1;
            more(2)
        }
        "the same product" => {
            wanted.pieces[0] += 1;
            more(0)
        }
        "a quantity" => {
            wanted.pieces[1] = 4;
            let line = line(mall, cart, 1)["line_id"].as_str().unwrap().to_owned();
            Call::new(Method::PATCH, path(cart, &format!("/lines/{line}"))).with(json!({ "qty": 4 }))
        }
        "a code" => {
            wanted.codes.push("X");
            Call::post(path(cart, "/discount"), json!({ "code": "X" }))
        }
        "no code" => {
            wanted.codes.retain(|code| *code != "TEN");
            Call::new(Method::DELETE, path(cart, "/discount/TEN"))
        }
        "an address" => Call::post(path(cart, "/address"), json!({ "zip": ZIPS[0] })),
        "a better code" => Call::post(path(cart, "/optimize"), json!({})),
        _ => Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })),
    };
    (call, wanted)
}

/// Returns the line of the nth product; null if there is none.
fn line(mall: &Mall, cart: &Value, nth: usize) -> Value {
    let variant = mall.goods(0)[nth].1.to_string();
    let lines = group(cart, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let line = lines.into_iter().find(|line| line["variant_id"] == variant.as_str());
    line.unwrap_or_default()
}

fn warnings(mall: &Mall, cart: &Value) -> Vec<String> {
    let warnings = group(cart, &mall.brand(0))["warnings"].as_array().unwrap().clone();
    let code = |warning: &Value| warning["code"].as_str().unwrap().to_owned();
    warnings.iter().map(code).collect()
}

fn assert_is(mall: &Mall, cart: &Value, wanted: &WantedCart, told: &str) {
    assert_sums(cart);
    for (nth, pieces) in wanted.pieces.iter().enumerate() {
        let line = line(mall, cart, nth);
        let pieces = (*pieces > 0).then_some(pieces);
        assert_eq!(
            (line["qty"].as_u64().as_ref(), line["requested_qty"].as_u64().as_ref()),
            (pieces, pieces),
            "{told}: {cart:#}"
        );
    }
    let codes = group(cart, &mall.brand(0))["discount_codes"]
        .as_array()
        .unwrap()
        .clone();
    let codes: Vec<_> = codes.iter().map(|code| code["code"].as_str().unwrap()).collect();
    assert_eq!(codes, wanted.codes, "{told}: {cart:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_buyer_changes_at_the_store_is_kept_by_whatever_is_changed_next() {
    let mall = Mall::open(1).await;
    prepare(&mall);
    let server = mall.server().await;
    let first = mall.goods(0)[0].1.to_string();
    let quantity = |quantity: u64| ("change", json!({ "id": first, "quantity": quantity }));
    let codes = |codes: &str| ("update", json!({ "discount": codes }));
    for ((page, body), pieces, codes) in [
        (quantity(5), 5, vec!["TEN"]),
        (quantity(1), 1, vec!["TEN"]),
        (quantity(0), 0, vec!["TEN"]),
        (codes("TEN,NOPE"), 3, vec!["TEN", "NOPE"]),
        (codes("NOPE"), 3, vec!["NOPE"]),
    ] {
        for name in CHANGES {
            let told = format!("{body}, then {name}");
            let cart = server.cart(&[mall.item(0, 0, 3), mall.item(0, 1, 1)]).await;
            let code = Call::post(path(&cart, "/discount"), json!({ "code": "TEN" }));
            let cart = server.data(code).await;
            mall.at_store(&cart, 0, page, &body).await;
            let wanted = WantedCart {
                pieces: [pieces, 1, 0],
                codes: codes.clone(),
            };
            let (call, wanted) = change(&mall, &cart, name, wanted);
            let answer = server.data(call).await;
            let answer = answer.get("cart").unwrap_or(&answer);
            if pieces == 0 {
                assert_eq!(answer["problems"][0]["code"], "product_not_found", "{told}: {answer:#}");
            } else if answer["groups"].is_array() {
                let codes = warnings(&mall, answer);
                assert!(codes.contains(&"changed_at_store".to_owned()), "{told}: {answer:#}");
            }
            for is_over in [false, true] {
                if is_over {
                    // The store forgets its cart.
                    mall.stores.advance_clock(MONTH);
                }
                let read = server.data(Call::get(path(&cart, ""))).await;
                assert_is(&mall, &read, &wanted, &told);
                assert!(
                    !warnings(&mall, &read).contains(&"changed_at_store".to_owned()),
                    "told once"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_store_itself_adds_merges_or_splits_is_no_change_of_the_buyer() {
    let mall = Mall::open(1).await;
    prepare(&mall);
    let server = mall.server().await;
    let goods: Vec<u64> = mall.goods(0).iter().map(|(_, variant, _)| *variant).collect();
    let gift = |free: usize| CartFunction::Gift {
        with: goods[0],
        free: goods[free],
    };
    for function in [
        CartFunction::Split { variant: goods[0] },
        gift(0),
        gift(2),
        CartFunction::Merge {
            variants: goods[..2].to_vec(),
            into: goods[2],
        },
    ] {
        // The function begins to act before the cart is made, or after that.
        for is_late in [false, true] {
            let set = |function: Option<CartFunction>| mall.stores.set_cart_function(&mall.slug(0), function).unwrap();
            set(Some(function.clone()).filter(|_| !is_late));
            let cart = server.cart(&[mall.item(0, 0, 2), mall.item(0, 1, 1)]).await;
            set(Some(function.clone()));
            let items = json!({ "items": [mall.item(0, 3, 1)] });
            for call in [
                Call::post(path(&cart, "/lines"), items.clone()),
                Call::post(path(&cart, "/discount"), json!({ "code": "TEN" })),
                Call::post(path(&cart, "/lines"), items.clone()),
            ] {
                let told = server.data(call).await;
                assert!(
                    !warnings(&mall, &told).contains(&"changed_at_store".to_owned()),
                    "{function:?}: {told:#}"
                );
                let lines = group(&told, &mall.brand(0))["lines"].as_array().unwrap().clone();
                let merged = |line: &Value| {
                    let merged = line["merged"].as_array().unwrap().clone();
                    merged.iter().map(|item| item["qty"].as_u64().unwrap()).sum::<u64>()
                };
                let asked = lines
                    .iter()
                    .map(|line| line["requested_qty"].as_u64().unwrap() + merged(line));
                let fourth = line(&mall, &told, 3)["requested_qty"].as_u64().unwrap();
                assert_eq!(asked.sum::<u64>() - fourth, 3, "{function:?}: {told:#}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quantity_that_a_buyer_changes_in_one_of_several_lines_is_kept() {
    let mall = Mall::open(1).await;
    prepare(&mall);
    let server = mall.server().await;
    let variant = mall.goods(0)[0].1;
    let split = CartFunction::Split { variant };
    mall.stores.set_cart_function(&mall.slug(0), Some(split)).unwrap();
    let cart = server.cart(&[mall.item(0, 0, 2)]).await;
    let body = json!({ "id": variant.to_string(), "quantity": 3 });
    mall.at_store(&cart, 0, "change", &body).await;
    let more = json!({ "items": [mall.item(0, 0, 1)] });
    let told = server.data(Call::post(path(&cart, "/lines"), more)).await;
    let lines = group(&told, &mall.brand(0))["lines"].as_array().unwrap().clone();
    let sum = |name: &str| lines.iter().map(|line| line[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("qty"), sum("requested_qty")), (5, 5), "{told:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_a_buyer_added_at_the_store_can_be_changed_here_at_once() {
    let mall = Mall::open(1).await;
    prepare(&mall);
    let server = mall.server().await;
    for quantity in [5, 0] {
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let items = json!({ "items": [{ "id": mall.goods(0)[1].1, "quantity": 2 }] });
        mall.at_store(&cart, 0, "add", &items).await;
        let read = server.data(Call::get(path(&cart, ""))).await;
        let added = line(&mall, &read, 1);
        assert_eq!((&added["qty"], &added["added_by_store"]), (&json!(2), &json!(true)));
        let at = path(&cart, &format!("/lines/{}", added["line_id"].as_str().unwrap()));
        let call = match quantity {
            0 => Call::new(Method::DELETE, at),
            _ => Call::new(Method::PATCH, at).with(json!({ "qty": quantity })),
        };
        let told = server.data(call).await;
        let now = line(&mall, &told, 1)["qty"].as_u64().unwrap_or_default();
        assert_eq!((now, &told["problems"]), (quantity, &json!([])), "{told:#}");
        assert_eq!(line(&mall, &told, 0)["qty"], 1, "{told:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_or_a_delivery_option_that_a_buyer_sets_at_the_store_is_reported_and_stays_there() {
    let mall = Mall::open(1).await;
    prepare(&mall);
    let server = mall.server().await;
    let more = |cart: &Value| Call::post(path(cart, "/lines"), json!({ "items": [mall.item(0, 0, 1)] }));
    let at_store = "changed_at_store".to_owned();
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let cart = server
        .data(Call::post(path(&cart, "/address"), json!({ "zip": ZIPS[0] })))
        .await;
    let address = json!({ "countryCode": "IN", "zip": ZIPS[1], "city": "Mysuru" });
    let address = json!([{ "address": { "deliveryAddress": address }, "selected": true }]);
    let seen = mall
        .set_at_store(&cart, 0, documents::CART_ADDRESSES, "addresses", address)
        .await;
    let told = server.data(more(&cart)).await;
    assert!(warnings(&mall, &told).contains(&at_store), "{told:#}");
    let again = server.data(more(&cart)).await;
    assert!(!warnings(&mall, &again).contains(&at_store), "told once: {again:#}");

    let delivery = &seen["deliveryGroups"]["nodes"][0];
    let selected = &delivery["selectedDeliveryOption"]["handle"];
    let options = delivery["deliveryOptions"].as_array().unwrap();
    let other = options.iter().find(|option| option["handle"] != *selected).unwrap();
    let choice = json!([{ "deliveryGroupId": delivery["id"], "deliveryOptionHandle": other["handle"] }]);
    let document = documents::CART_DELIVERY_OPTIONS;
    mall.set_at_store(&cart, 0, document, "selectedDeliveryOptions", choice)
        .await;
    let told = server.data(more(&cart)).await;
    assert!(warnings(&mall, &told).contains(&at_store), "{told:#}");
    for told in [told, server.data(more(&cart)).await] {
        let options = group(&told, &mall.brand(0))["delivery_options"]
            .as_array()
            .unwrap()
            .clone();
        let selected = options.iter().find(|option| option["selected"] == true).unwrap();
        assert_eq!(selected["handle"], other["handle"], "{told:#}");
    }
}
