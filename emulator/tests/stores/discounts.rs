//! Tests of a store's discounts: adding and removing them, their announcements, and carts that agree with the true
//! reductions.

use emulator::{BasketLine, DiscountRule, DiscountValue};
use serde_json::json;

use super::baskets::{codes, create, discount, line, shop};
use super::*;

#[tokio::test]
async fn discounts_can_be_added_and_removed_over_http_where_the_store_lets_one() {
    let running = Emulator::start(EmulatorConfig {
        control: true,
        ..EmulatorConfig::new(Source::Generated {
            products: 20,
            stores: 1,
            seed: 42,
        })
    })
    .await
    .unwrap();
    let store = running.stores().remove(0);
    let change = async |body: Value| post(&store, "/emulator/change", &[], &body).await.status;
    let rule = json!({ "code": "NOW30", "takes": { "kind": "percentage", "percent": 30 }, "told": "announcement" });
    assert_eq!(change(json!({ "kind": "add-discount", "rule": rule })).await, 200);
    let rules = running.discounts(&store.slug).unwrap();
    assert_eq!(
        rules
            .iter()
            .filter(|rule| rule.code.as_deref() == Some("NOW30"))
            .count(),
        1
    );
    assert_eq!(
        change(
            json!({ "kind": "add-discount", "rule": { "code": "X", "takes": { "kind": "percentage", "percent": 0 } } })
        )
        .await,
        422
    );
    assert_eq!(change(json!({ "kind": "remove-discount", "name": "now30" })).await, 200);
    assert_eq!(change(json!({ "kind": "remove-discount", "name": "now30" })).await, 404);
}

#[tokio::test]
async fn generated_stores_have_discounts_and_tell_of_some_on_their_front_page() {
    let running = market(400, 40).await;
    let (mut announced, mut written) = (0, 0);
    for store in running.stores() {
        let rules = running.discounts(&store.slug).unwrap();
        assert!(rules.len() >= 3, "{rules:?}");
        let front = get(&store, "/").await.text();
        let asked = "{ shop { shippingPolicy { body } } }";
        let policy = query(&store, asked, json!({})).await.json()["data"]["shop"]["shippingPolicy"]["body"].to_string();
        for rule in rules {
            let Some(code) = &rule.code else { continue };
            let is_announced = front.contains(code.as_str());
            match rule.told {
                emulator::DiscountPlacement::Announcement => announced += usize::from(is_announced),
                emulator::DiscountPlacement::Policy => written += usize::from(policy.contains(code.as_str())),
                emulator::DiscountPlacement::Nowhere => assert!(!is_announced, "{code}"),
            }
        }
    }
    assert!(announced > 20 && written > 5, "{announced} {written}");
}

#[tokio::test]
async fn what_the_store_says_to_a_basket_is_the_truth() {
    let running = market(600, 12).await;
    for store in running.stores() {
        let products = crawl(&store, 30).await;
        let picked = products
            .iter()
            .filter_map(|product| product["variants"][0]["id"].as_u64());
        let basket: Vec<BasketLine> = picked
            .take(3)
            .zip(1..)
            .map(|(variant, quantity)| BasketLine { variant, quantity })
            .collect();
        let entered: Vec<String> = running
            .discounts(&store.slug)
            .unwrap()
            .into_iter()
            .filter_map(|it| it.code)
            .collect();
        let lines: Vec<Value> = basket.iter().map(|one| line(one.variant, one.quantity)).collect();
        let made = create(&store, json!({ "lines": lines })).await;
        for code in &entered {
            let truth = running.truth(&store.slug, &basket, [code.as_str()]).unwrap();
            let told = discount(&store, &made["cart"], &[code]).await;
            assert_eq!(
                told["cart"]["discountCodes"][0]["applicable"], truth.codes[0].applicable,
                "{code}"
            );
            let is_amount = |minor: u64, text: &Value| {
                let places = if store.currency == "JPY" {
                    0
                } else if store.currency == "KWD" {
                    3
                } else {
                    2
                };
                let written = text.as_str().unwrap().parse::<f64>().unwrap();
                (written * 10_f64.powi(places)).round() as u64 == minor
            };
            assert!(
                is_amount(truth.total_minor, &told["cart"]["cost"]["totalAmount"]["amount"]),
                "{code} {truth:?}"
            );
            assert!(is_amount(
                truth.subtotal_minor,
                &told["cart"]["cost"]["subtotalAmount"]["amount"]
            ));
        }
        let expected = running
            .truth(&store.slug, &basket, entered.iter().map(String::as_str))
            .unwrap();
        let all: Vec<&str> = entered.iter().map(String::as_str).collect();
        let told = discount(&store, &made["cart"], &all).await;
        let mut warned = codes(&told["warnings"]);
        warned.retain(|code| code.starts_with("DISCOUNT"));
        warned.sort();
        assert_eq!(warned, warnings_of(&expected));
    }
}

/// Returns the warnings that the verdicts cause.
fn warnings_of(truth: &emulator::BasketTruth) -> Vec<String> {
    let refusals = truth.codes.iter().filter_map(|verdict| verdict.refusal);
    let told = refusals.map(|refusal| format!("DISCOUNT_{}", serde_json::to_value(refusal).unwrap().as_str().unwrap()));
    let mut told: Vec<String> = told.collect();
    told.sort();
    told
}

#[tokio::test]
async fn verdicts_are_what_single_codes_do_best_first() {
    let (running, store, _, variant) = shop().await;
    for (code, percent) in [("TAKE5", 5), ("TAKE50", 50)] {
        let rule = DiscountRule::code(code, DiscountValue::Percentage { percent });
        running.add_discount(&store.slug, rule).unwrap();
    }
    let closed = DiscountRule {
        customers_only: true,
        ..DiscountRule::code("VIP", DiscountValue::Percentage { percent: 90 })
    };
    running.add_discount(&store.slug, closed).unwrap();
    let two = BasketLine { variant, quantity: 2 };
    let verdicts = running.verdicts(&store.slug, &[two]).unwrap();
    let told: Vec<(&str, bool, u64)> = verdicts
        .iter()
        .map(|verdict| (verdict.code.as_str(), verdict.applicable, verdict.discount_minor))
        .collect();
    let expected = [
        ("TAKE50", true, 1250),
        ("TAKE20", true, 500),
        ("TAKE5", true, 125),
        ("VIP", false, 0),
    ];
    assert_eq!(told, expected);
}
