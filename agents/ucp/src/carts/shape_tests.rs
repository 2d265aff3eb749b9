use serde_json::{Value, json};

use super::*;

fn cart(change: impl FnOnce(&mut Value)) -> Cart {
    let mut cart = json!({
        "cart_id": "c1", "expires_at": "2026-12-23T00:00:00Z", "problems": [],
        "groups": [{
            "brand": "Asha", "currency": "INR", "verified": true, "subtotal_minor": 99_800, "discount_minor": 9_980,
            "delivery_minor": 5_000, "other_minor": 0, "total_minor": 94_820,
            "checkout_url": "https://asha.example/cart/c/tok?key=k", "warnings": [],
            "lines": [{
                "line_id": "l1", "product_id": "0190b6a2", "variant_id": "7", "title": "Kurta", "variant_title": "M",
                "image": null, "qty": 2, "requested_qty": 2, "available": true, "unit_price_minor": 49_900, "line_total_minor": 99_800,
                "discount_minor": 0,
            }],
        }],
    });
    change(&mut cart);
    serde_json::from_value(cart).unwrap()
}

fn told(cart: &Cart, answer: Answer) -> Value {
    serde_json::to_value(written(cart, Version::V2026_04_08, answer).unwrap()).unwrap()
}

#[test]
fn totals_are_the_sum_of_their_parts_and_discounts_are_below_zero() {
    let answer = told(&cart(|_| {}), Answer::Cart);
    assert_eq!(
        answer["totals"],
        json!([
            { "type": "subtotal", "amount": 99_800 }, { "type": "discount", "amount": -9_980 },
            { "type": "fulfillment", "amount": 5_000, "display_text": "Delivery" }, { "type": "total", "amount": 94_820 },
        ])
    );
    let parts = answer["totals"].as_array().unwrap();
    let amount = |entry: &Value| entry["amount"].as_i64().unwrap();
    let (total, rest) = parts.split_last().unwrap();
    assert_eq!(rest.iter().map(amount).sum::<i64>(), amount(total));
    assert_eq!(answer["line_items"][0]["item"]["id"], "0190b6a2:7");
    assert_eq!((&answer["status"], &answer["links"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_checkout_is_a_persons_to_end_until_it_is_canceled() {
    let token = Answer::Checkout {
        url: Some("https://asha.example/checkouts/1".to_owned()),
        token: Some("a.b.c".to_owned()),
    };
    let checkout = told(&cart(|_| {}), token);
    assert_eq!(
        (
            &checkout["status"],
            &checkout["continue_url"],
            &checkout["attribution"]["haat_attribution"]
        ),
        (
            &json!("requires_escalation"),
            &json!("https://asha.example/checkouts/1"),
            &json!("a.b.c")
        )
    );
    assert_eq!(checkout["ucp"]["payment_handlers"], json!({}));
    assert_eq!(checkout["messages"][0]["severity"], "requires_buyer_input");
    assert_eq!(
        checkout["links"],
        json!([{ "type": "seller", "url": "https://asha.example/", "title": "Asha" }])
    );
    let canceled = told(&cart(|_| {}), Answer::Canceled);
    assert_eq!(
        (&canceled["status"], &canceled["continue_url"]),
        (&json!("canceled"), &Value::Null)
    );
}

#[test]
fn what_a_store_has_less_of_is_said_and_what_it_has_none_of_is_no_line() {
    let short = cart(|cart| cart["groups"][0]["lines"][0]["requested_qty"] = json!(5));
    let short = told(&short, Answer::Cart);
    assert_eq!(
        (&short["messages"][0]["code"], &short["messages"][0]["path"]),
        (&json!("quantity_adjusted"), &json!("$.line_items[0]"))
    );
    let none = cart(|cart| cart["groups"][0]["lines"][0]["qty"] = json!(0));
    let none = told(&none, Answer::Cart);
    assert_eq!(
        (&none["line_items"], &none["messages"][0]["code"]),
        (&json!([]), &json!("out_of_stock"))
    );
    let gone =
        json!({ "code": "product_not_found", "detail": "It is gone.", "brand_slug": "asha", "product_id": null });
    let gone = cart(|cart| cart["problems"] = json!([gone]));
    assert_eq!(told(&gone, Answer::Cart)["messages"][0]["code"], "item_unavailable");
}

#[test]
fn what_sells_out_later_is_said_and_a_checkout_without_anything_to_pay_is_incomplete() {
    let sold_out = cart(|cart| cart["groups"][0]["lines"][0]["available"] = json!(false));
    let answer = told(&sold_out, Answer::Cart);
    assert_eq!(
        answer["messages"],
        json!([{
            "type": "error", "code": "out_of_stock", "content": "Kurta has sold out since it was added.",
            "severity": "recoverable", "path": "$.line_items[0]",
        }])
    );
    let checkout = told(&sold_out, Answer::NOW);
    assert_eq!(
        (&checkout["status"], &checkout["messages"]),
        (&json!("incomplete"), &answer["messages"])
    );
    let other = cart(|cart| {
        let mut line = cart["groups"][0]["lines"][0].clone();
        line["line_id"] = json!("l2");
        line["available"] = json!(false);
        cart["groups"][0]["lines"].as_array_mut().unwrap().push(line);
    });
    let checkout = told(&other, Answer::NOW);
    let codes: Vec<_> = checkout["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["code"])
        .collect();
    assert_eq!(
        (&checkout["status"], codes),
        (
            &json!("requires_escalation"),
            vec![&json!("out_of_stock"), &json!("payment_at_seller")]
        )
    );
}

#[test]
fn a_checkout_that_cannot_be_opened_is_incomplete_and_hands_nobody_over() {
    let closed = json!({ "code": "store_unavailable", "reason": "checkout_closed", "detail": "It is closed." });
    let closed = told(&cart(|cart| cart["problems"] = json!([closed])), Answer::NOW);
    assert_eq!(closed["status"], "incomplete");
    assert_eq!(
        closed["messages"],
        json!([{ "type": "error", "code": "store_unavailable", "content": "It is closed.", "severity": "recoverable" }])
    );
}

#[test]
fn a_cart_of_no_seller_or_of_several_is_none_of_the_protocols() {
    let empty = cart(|cart| cart["groups"] = json!([]));
    assert_eq!(written(&empty, Version::V2026_04_08, Answer::Cart), None);
    let two = cart(|cart| {
        let group = cart["groups"][0].clone();
        cart["groups"] = json!([group, group]);
    });
    assert_eq!(written(&two, Version::V2026_04_08, Answer::Cart), None);
}
