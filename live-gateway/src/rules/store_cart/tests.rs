use proptest::prelude::*;
use serde_json::{Value, json};
use storefront::{GraphqlAnswer, GraphqlErrorKind};

use super::*;

fn answer(data: &Value) -> GraphqlAnswer {
    GraphqlAnswer {
        data: Some(serde_json::value::to_raw_value(data).unwrap()),
        errors: Vec::new(),
        version: None,
        is_open: false,
    }
}

fn money(minor: i64) -> Value {
    let (whole, rest) = (minor / 100, minor % 100);
    let text = format!("{whole}.{rest:02}");
    // The platform removes trailing zeros but keeps one decimal.
    let text = text.strip_suffix('0').unwrap_or(&text);
    json!({ "amount": text, "currencyCode": "INR" })
}

fn allocation(target: &str, code: Option<&str>, minor: i64) -> Value {
    let mut told = json!({ "targetType": target, "discountedAmount": money(minor) });
    match code {
        Some(code) => told["code"] = json!(code),
        None => told["title"] = json!("Diwali"),
    }
    told
}

fn line(variant: u64, quantity: u32, price: i64, off: &[Value], total: i64) -> Value {
    json!({
        "id": format!("gid://shopify/CartLine/l{variant}?cart=tok"),
        "quantity": quantity,
        "merchandise": {
            "id": format!("gid://shopify/ProductVariant/{variant}"), "title": "Default Title",
            "availableForSale": true, "image": null,
            "product": { "id": "gid://shopify/Product/7", "title": "Kurta", "featuredImage": { "url": "https://cdn.example/a.jpg" } },
        },
        "cost": {
            "amountPerQuantity": money(price), "subtotalAmount": money(price * i64::from(quantity)), "totalAmount": money(total),
        },
        "discountAllocations": off,
    })
}

fn cart(lines: &[Value], codes: &Value, of_cart: &[Value], delivery: Option<i64>, total: i64) -> Value {
    let option = |minor| json!({ "handle": "h1", "code": null, "title": "Standard", "description": "", "estimatedCost": money(minor) });
    let groups: Vec<Value> = delivery
        .map(|minor| json!({ "id": "gid://g/1", "deliveryOptions": [option(minor)], "selectedDeliveryOption": option(minor) }))
        .into_iter()
        .collect();
    json!({
        "id": "gid://shopify/Cart/tok?key=secret", "checkoutUrl": "https://a.example/cart/c/tok?key=other",
        "attributes": [], "cost": { "subtotalAmount": money(0), "totalAmount": money(total) },
        "discountCodes": codes, "discountAllocations": of_cart, "delivery": { "addresses": [] },
        "deliveryGroups": { "nodes": groups }, "lines": { "nodes": lines },
    })
}

#[test]
fn discounts_of_lines_order_and_shipping_are_told_apart_and_summed_by_code() {
    let lines = [
        line(1, 2, 10_000, &[allocation("LINE_ITEM", Some("TEN"), 2_000)], 18_000),
        line(2, 1, 5_000, &[], 5_000),
    ];
    let of_cart = [
        allocation("LINE_ITEM", Some("FLAT"), 3_000),
        allocation("LINE_ITEM", None, 500),
        allocation("SHIPPING_LINE", Some("SHIP"), 4_000),
    ];
    let codes = json!([
        { "code": " ten ", "applicable": true }, { "code": "FLAT", "applicable": true },
        { "code": "SHIP", "applicable": true }, { "code": "NOPE", "applicable": false },
    ]);
    let told = cart(&lines, &codes, &of_cart, Some(4_000), 19_500);
    let payload = json!({ "cartDiscountCodesUpdate": { "cart": told, "userErrors": [], "warnings": [
        { "code": "DISCOUNT_NOT_FOUND", "message": "Enter a\nvalid code", "target": "gid://shopify/Cart/tok" },
        { "code": "MERCHANDISE_NOT_ENOUGH_STOCK", "message": "Only 2", "target": "gid://shopify/CartLine/l1?cart=tok" },
    ] } });
    let read = read_mutation(&answer(&payload), "cartDiscountCodesUpdate").unwrap();
    let cart = read.cart.unwrap();
    let codes: Vec<_> = cart
        .codes
        .iter()
        .map(|one| (one.code.as_str(), one.applicable, one.discount_minor))
        .collect();
    assert_eq!(
        codes,
        [
            (" ten ", true, 2_000),
            ("FLAT", true, 3_000),
            ("SHIP", true, 4_000),
            ("NOPE", false, 0)
        ]
    );
    let discounts = Discounts {
        line_minor: 2_000,
        order_minor: 3_500,
        shipping_minor: 4_000,
    };
    assert_eq!((cart.subtotal_minor, cart.discounts), (25_000, discounts));
    assert_eq!(
        (cart.delivery_minor, cart.other_minor, cart.total_minor),
        (4_000, 0, 19_500)
    );
    assert_eq!(
        (cart.automatic[0].title.as_str(), cart.automatic[0].discount_minor),
        ("Diwali", 500)
    );
    let warnings: Vec<_> = cart
        .warnings
        .iter()
        .map(|one| (one.message.as_str(), one.variant))
        .collect();
    assert_eq!(warnings, [("Enter a valid code", None), ("Only 2", Some(VariantId(1)))]);
}

#[test]
fn a_cart_whose_discounts_are_larger_than_its_goods_is_rejected() {
    let lines = [line(1, 1, 10_000, &[], 10_000)];
    let codes = json!([{ "code": "FLAT", "applicable": true }]);
    for (minor, is_possible) in [(10_000, true), (10_001, false), (999_999_900, false)] {
        let told = cart(
            &lines,
            &codes,
            &[allocation("LINE_ITEM", Some("FLAT"), minor)],
            None,
            9_000,
        );
        let read = read_cart(&answer(&json!({ "cart": told })));
        assert_eq!(read.is_ok(), is_possible, "{minor}: {read:?}");
    }
}

#[test]
fn an_echo_of_an_order_discount_on_a_line_counts_once() {
    let echo = [allocation("LINE_ITEM", Some("FLAT"), 3_000)];
    let lines = [line(1, 1, 10_000, &echo, 10_000)];
    let codes = json!([{ "code": "FLAT", "applicable": true }]);
    let told = cart(&lines, &codes, &echo, None, 7_000);
    let read = read_cart(&answer(&json!({ "cart": told }))).unwrap().unwrap();
    assert_eq!(
        (
            read.discounts.total_minor(),
            read.codes[0].discount_minor,
            read.other_minor
        ),
        (3_000, 3_000, 0)
    );
}

#[test]
fn a_discount_of_a_line_is_told_beside_its_share_of_an_order_discount() {
    let off = [
        allocation("LINE_ITEM", Some("TEN"), 1_000),
        allocation("LINE_ITEM", Some("FLAT"), 3_000),
    ];
    let lines = [line(1, 1, 10_000, &off, 9_000)];
    let codes = json!([{ "code": "TEN", "applicable": true }, { "code": "FLAT", "applicable": true }]);
    let told = cart(&lines, &codes, &off[1..], None, 6_000);
    let read = read_cart(&answer(&json!({ "cart": told }))).unwrap().unwrap();
    let codes: Vec<i64> = read.codes.iter().map(|code| code.discount_minor).collect();
    assert_eq!(
        (codes, read.discounts.total_minor(), read.other_minor),
        (vec![1_000, 3_000], 4_000, 0)
    );
}

#[test]
fn delivery_counts_once_the_total_counts_it() {
    let lines = [line(1, 1, 10_000, &[], 10_000)];
    for (total, counted) in [(10_000, 0), (14_000, 4_000)] {
        let told = cart(&lines, &json!([]), &[], Some(4_000), total);
        let read = read_cart(&answer(&json!({ "cart": told }))).unwrap().unwrap();
        assert_eq!((read.delivery_minor, read.other_minor), (counted, 0));
    }
}

#[test]
fn what_is_no_cart_is_not_believed() {
    let whole = || cart(&[line(1, 1, 10_000, &[], 10_000)], &json!([]), &[], None, 10_000);
    let broken = |change: fn(&mut Value)| {
        let mut cart = whole();
        change(&mut cart);
        read_cart(&answer(&json!({ "cart": cart })))
    };
    for change in [
        (|cart| cart["cost"]["totalAmount"]["amount"] = json!("-1.0")) as fn(&mut Value),
        |cart| cart["cost"]["totalAmount"]["amount"] = json!("1e9"),
        |cart| cart["cost"]["totalAmount"]["amount"] = json!("999999999999999.0"),
        |cart| cart["cost"]["totalAmount"]["currencyCode"] = json!("EUR"),
        |cart| cart["lines"]["nodes"][0]["quantity"] = json!(-1),
        |cart| cart["lines"]["nodes"][0]["quantity"] = json!(u32::MAX),
        |cart| cart["lines"]["nodes"][0]["quantity"] = json!(1_000_001),
        |cart| cart["lines"]["nodes"][0]["cost"]["totalAmount"]["amount"] = json!("101.0"),
        |cart| cart["lines"]["nodes"][0]["merchandise"]["id"] = json!("gid://shopify/Product/1"),
        |cart| cart["checkoutUrl"] = json!("javascript:alert(1)"),
        |cart| cart["id"] = json!(null),
    ] {
        assert!(matches!(broken(change), Err(CartFault::Unreadable(_))));
    }
    assert!(broken(|_| ()).unwrap().is_some());
    assert_eq!(read_cart(&answer(&json!({ "cart": null }))), Ok(None));
    let refused = GraphqlAnswer {
        data: None,
        errors: Vec::new(),
        version: None,
        is_open: false,
    };
    assert_eq!(read_cart(&refused), Err(CartFault::Refused(GraphqlErrorKind::Failure)));
}

#[test]
fn nothing_that_opens_a_cart_is_shown() {
    let told = cart(&[line(1, 1, 10_000, &[], 10_000)], &json!([]), &[], Some(500), 10_000);
    let read = read_cart(&answer(&json!({ "cart": told }))).unwrap().unwrap();
    let shown = format!("{read:?}");
    assert!(
        !shown.contains("secret") && !shown.contains("tok") && !shown.contains("key="),
        "{shown}"
    );
}

proptest! {
    #[test]
    fn a_total_is_the_sum_of_its_parts_whatever_a_store_says(
        lines in proptest::collection::vec((1_u32..9, 1_i64..100_000, 0_i64..100), 0..6),
        order in 0_i64..10_000, shipping in 0_i64..5_000, delivery in proptest::option::of(0_i64..9_000), total in 0_i64..10_000_000,
    ) {
        let mut goods = 0;
        let lines: Vec<Value> = lines.iter().enumerate().map(|(at, (quantity, price, percent))| {
            let subtotal = price * i64::from(*quantity);
            let off = subtotal * percent / 100;
            goods += subtotal - off;
            line(at as u64 + 1, *quantity, *price, &[allocation("LINE_ITEM", Some("LINE"), off)], subtotal - off)
        }).collect();
        let of_cart = [allocation("LINE_ITEM", Some("ORDER"), order), allocation("SHIPPING_LINE", Some("SHIP"), shipping)];
        let told = cart(&lines, &json!([]), &of_cart, delivery, total);
        let read = read_cart(&answer(&json!({ "cart": told })));
        prop_assert_eq!(read.is_err(), order > goods);
        let Ok(read) = read else { return Ok(()) };
        let read = read.unwrap();
        let sum = read.subtotal_minor + read.delivery_minor + read.other_minor - read.discounts.total_minor();
        prop_assert_eq!(sum, total);
        prop_assert_eq!(read.subtotal_minor, read.lines.iter().map(|line| line.subtotal_minor).sum::<i64>());
    }
}
