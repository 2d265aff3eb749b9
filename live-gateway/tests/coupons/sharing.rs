use std::time::Duration;

use data_model::CouponVerdict;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use live_gateway::coupons::CouponsConfig;
use live_gateway::{CouponCandidates, TriedCode};
use serde_json::json;

use crate::support::{Options, Street, coupons};

#[tokio::test(flavor = "multi_thread")]
async fn fifty_who_ask_at_the_same_time_share_one_testing() {
    let street = Street::open(1, Options::default()).await;
    let alone = Street::open(1, Options::default()).await;
    let expected = alone.find(0, 40).await;
    let asked: FuturesUnordered<_> = (0..50).map(|_| street.find(0, 40)).collect();
    let told: Vec<_> = asked.collect().await;
    for body in &told {
        assert_eq!(body["data"], expected["data"], "{body}");
    }
    assert_eq!(street.calls(0), alone.calls(0));
    assert_eq!(
        street.stores.carts(&street.slug(0)).unwrap(),
        alone.stores.carts(&alone.slug(0)).unwrap()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_are_told_again_until_they_are_too_old_by_what_they_are() {
    let street = Street::open(1, Options::default()).await;
    let first = street.find(0, 40).await;
    assert!(!coupons(&first).is_empty(), "{first}");
    let calls = street.calls(0);
    // Within two hours all outcomes are reused, with the time of the first test.
    street.clock.advance_ms(3_600 * 1_000);
    let again = street.find(0, 40).await;
    assert_eq!(
        (&again["data"], &again["as_of"], street.calls(0)),
        (&first["data"], &first["as_of"], calls)
    );
    // After six hours, codes that applied are tested again, but codes that do not exist at the store are not.
    street.clock.advance_ms(6 * 3_600 * 1_000);
    let later = street.find(0, 40).await;
    let retested = street.calls(0) - calls;
    assert!((1..=calls).contains(&retested), "{retested} of {calls}");
    assert_eq!(coupons(&later), coupons(&first));
    assert!(later["provenance"]["remembered"].as_u64().unwrap() > 20, "{later}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_found_out_is_known_to_another_and_after_a_restart() {
    let street = Street::open(1, Options::default()).await;
    let first = street.find(0, 40).await;
    let calls = street.calls(0);
    street.clock.advance_ms(1_000);
    let other = street.another(CouponsConfig::default());
    let told = other.find(0, 40).await;
    assert_eq!((&told["data"], street.calls(0)), (&first["data"], calls));
    assert_eq!(told["provenance"]["remembered"], 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_worked_on_a_cart_is_a_candidate_unless_it_may_be_one_persons() {
    let street = Street::open(1, Options::default()).await;
    let brand = street.brand(0).clone();
    let far = tokio::time::Instant::now() + Duration::from_secs(60);
    let tried = |code: &str, applicable| TriedCode {
        code: code.to_owned(),
        applicable,
        discount_minor: 100,
    };
    let first = |codes: Vec<String>| codes.into_iter().next();
    let before = street.finder.candidates(&brand, 100, far).await;
    assert!(before.iter().position(|code| code == "SUPER10").is_none_or(|at| at > 0));
    street.finder.tried(
        &brand,
        vec![tried("super10", true), tried("X7K2-ASHA", true), tried("MORE10", false)],
    );
    // The outcome is written in the background.
    let mut after = Vec::new();
    while first(after.clone()).as_deref() != Some("SUPER10") {
        after = street.finder.candidates(&brand, 100, far).await;
        tokio::task::yield_now().await;
    }
    assert!(!after.contains(&"X7K2-ASHA".to_owned()), "{after:?}");
    assert_ne!(after.get(1).map(String::as_str), Some("MORE10"));
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_that_a_store_does_not_have_are_suggested_for_no_cart() {
    let street = Street::open(1, Options::default()).await;
    let brand = street.brand(0).clone();
    let far = tokio::time::Instant::now() + Duration::from_secs(60);
    let before = street.finder.candidates(&brand, 40, far).await;
    let found = coupons(&street.find(0, 40).await);
    let other = street.another(CouponsConfig::default());
    for finder in [&street.finder, &other.finder] {
        let after = finder.candidates(&brand, 40, far).await;
        assert!(
            found.iter().all(|(code, _)| after[..found.len()].contains(code)),
            "{after:?}"
        );
        let again = after.iter().filter(|code| before.contains(code)).count();
        assert!(after.len() == 40 && again < 20, "{again} of {after:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_said_of_codes_is_kept_for_shoppers_with_origin_and_item_once() {
    let street = Street::open(1, Options::default()).await;
    let body = street.find(0, 40).await;
    let kept = street.ledger.tests();
    assert!(kept.iter().all(|(store, _)| *store == street.brand(0).store));
    let mut applied: Vec<_> = kept
        .iter()
        .filter_map(|(_, test)| match test.verdict {
            CouponVerdict::Applicable(effect) => Some(json!({
                "code": test.code, "source": test.source, "kind": effect.kind, "discount_minor": effect.discount_minor,
                "subtotal_minor": effect.subtotal_minor, "tested_at": test.tested_at,
                "product_id": test.product.to_string(), "variant_id": test.variant.to_string(),
            })),
            _ => None,
        })
        .collect();
    // A shipping code is tested a second time with a delivery address. The second verdict counts.
    applied.reverse();
    let data = &body["data"];
    assert!(!coupons(&body).is_empty(), "{body}");
    for coupon in data["coupons"].as_array().unwrap() {
        let test = applied.iter().find(|test| test["code"] == coupon["code"]).unwrap();
        for member in [
            "code",
            "source",
            "kind",
            "discount_minor",
            "subtotal_minor",
            "tested_at",
        ] {
            assert_eq!(test[member], coupon[member], "{member} of {coupon}");
        }
        for member in ["product_id", "variant_id"] {
            assert_eq!(test[member], data[member], "{member} of {coupon}");
        }
    }
    // A response from memory runs no tests.
    street.find(0, 40).await;
    assert_eq!(street.ledger.tests(), kept);
    // A code that a buyer entered is not shared with others.
    let private = TriedCode {
        code: "X7K2-ASHA".to_owned(),
        applicable: true,
        discount_minor: 100,
    };
    street.finder.tried(&street.brand(0).clone(), vec![private]);
    street.clock.advance_ms(7 * 3_600 * 1_000);
    street.find(0, 40).await;
    let later = street.ledger.tests();
    assert!(later.len() > kept.len() && later.iter().all(|(_, test)| test.code != "X7K2-ASHA"));
}
