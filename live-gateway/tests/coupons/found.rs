use std::collections::HashMap;
use std::time::{Duration, Instant};

use emulator::{CartFunction, CombinesWith, DiscountRule, DiscountValue};
use futures::StreamExt;
use live_gateway::CouponCandidates;
use serde_json::json;

use crate::support::{Options, Street, coupons, variant};

/// Number of codes found at 200 stores, compared with the codes that work there.
#[derive(Debug, Default)]
struct Tally {
    candidates: usize,
    /// Number of codes that apply to the item, of any kind.
    works: usize,
    /// Number of working codes that are among the candidates.
    among: usize,
    found: usize,
    calls: Vec<u64>,
    first_ms: Vec<u128>,
    again_ms: Vec<u128>,
}

impl Tally {
    async fn take(&mut self, street: &Street, store: usize) {
        let far = tokio::time::Instant::now() + Duration::from_secs(60);
        let candidates = street.finder.candidates(street.brand(store), 100, far).await;
        let begun = Instant::now();
        let body = street.find(store, 100).await;
        self.first_ms.push(begun.elapsed().as_millis());
        assert_eq!(body["data"]["verified"], true, "{body}");
        let truth = street.truth(store, variant(&body));
        let expected: HashMap<&String, &i64> = truth.iter().filter(|(code, _)| candidates.contains(code)).collect();
        let found = coupons(&body);
        for (code, minor) in &found {
            let known = truth
                .get(code)
                .unwrap_or_else(|| panic!("{code} does not apply: {body}"));
            // The discount of a shipping code shows only if there is an address.
            let kind = body["data"]["coupons"]
                .as_array()
                .unwrap()
                .iter()
                .find(|one| one["code"] == *code)
                .unwrap();
            if kind["kind"] != "shipping" {
                assert_eq!(minor, known, "{code}: {body}");
            }
        }
        self.candidates += candidates.len();
        self.works += truth.len();
        self.among += expected.len();
        self.found += found.iter().filter(|(code, _)| expected.contains_key(code)).count();
        let calls = street.calls(store);
        self.calls.push(calls);
        // The clock advances, so that a reused response differs from a new test.
        street.clock.advance_ms(1_000);
        let begun = Instant::now();
        let again = street.find(store, 100).await;
        self.again_ms.push(begun.elapsed().as_millis());
        assert_eq!((coupons(&again), street.calls(store)), (found, calls));
        assert_eq!(again["provenance"]["remembered"], again["data"]["tested"], "{again}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_200_stores_every_code_among_the_candidates_that_applies_is_found_and_no_other() {
    let street = Street::open(200, Options::default()).await;
    let mut tally = Tally::default();
    for store in 0..200 {
        if street.shop(store).samples.is_empty() {
            continue;
        }
        tally.take(&street, store).await;
    }
    for sorted in [&mut tally.first_ms, &mut tally.again_ms] {
        sorted.sort_unstable();
    }
    tally.calls.sort_unstable();
    let stores = tally.calls.len();
    println!(
        "{stores} stores, {} candidates: {} codes apply, {} of them among the candidates, {} found; calls to a store: \
         median {}, most {}, {} in all; median of a first answer {} ms, of a remembered one {} ms",
        tally.candidates,
        tally.works,
        tally.among,
        tally.found,
        tally.calls[stores / 2],
        tally.calls[stores - 1],
        tally.calls.iter().sum::<u64>(),
        tally.first_ms[stores / 2],
        tally.again_ms[stores / 2],
    );
    assert!(stores > 150 && tally.among > stores, "{tally:?}");
    assert_eq!(tally.found, tally.among);
    assert!(tally.calls[stores - 1] <= 15, "{:?}", tally.calls);
}

fn percent(code: &str, percent: u32) -> DiscountRule {
    DiscountRule::code(code, DiscountValue::Percentage { percent })
}

fn amount(code: &str, amount_minor: u64) -> DiscountRule {
    DiscountRule::code(
        code,
        DiscountValue::Amount {
            amount_minor,
            each_item: false,
        },
    )
}

const ALL: CombinesWith = CombinesWith {
    order: true,
    product: true,
    shipping: true,
};

#[tokio::test(flavor = "multi_thread")]
async fn codes_are_ranked_by_what_they_take_off_each_as_it_is_alone() {
    // Some codes can be combined and some cannot. One is for shipping, one requires more than an item's price, and one
    // has expired.
    let rules = || {
        vec![
            percent("SAVE10", 10),
            percent("WELCOME15", 15),
            DiscountRule {
                combines_with: ALL,
                ..percent("EXTRA5", 5)
            },
            DiscountRule {
                combines_with: ALL,
                ..amount("FLAT50", 5_000)
            },
            DiscountRule::code("FREESHIP", DiscountValue::Shipping),
            DiscountRule {
                minimum_subtotal_minor: Some(u64::MAX / 4),
                ..percent("SAVE20", 20)
            },
            DiscountRule {
                ends_at: Some("2026-01-01T00:00:00Z".parse().unwrap()),
                ..percent("WELCOME20", 20)
            },
            DiscountRule {
                usage_limit: Some(5),
                used: 5,
                ..percent("FIRST10", 10)
            },
            DiscountRule {
                customers_only: true,
                ..percent("VIP10", 10)
            },
            percent("NOBODYGUESSES77", 7),
        ]
    };
    let street = Street::ruled(1, |_| Some(rules()), Options::default()).await;
    let body = street.find(0, 100).await;
    let truth = street.truth(0, variant(&body));
    let mut found = coupons(&body);
    for (code, minor) in &found {
        if code != "FREESHIP" {
            assert_eq!(truth[code], *minor, "{code}");
        }
    }
    let ranked: Vec<i64> = found.iter().map(|(_, minor)| *minor).collect();
    assert!(ranked.is_sorted_by(|one, other| one >= other), "{ranked:?}");
    found.sort();
    let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["EXTRA5", "FLAT50", "FREESHIP", "SAVE10", "WELCOME15"]);
    for entry in body["data"]["coupons"].as_array().unwrap() {
        let take = |name: &str| entry[name].as_i64().unwrap();
        if entry["kind"] != "shipping" {
            assert_eq!(
                take("subtotal_minor") - take("discount_minor"),
                take("total_minor"),
                "{entry}"
            );
        }
        assert_eq!(
            (&entry["applicable"], &entry["source"]),
            (&json!(true), &json!("common"))
        );
        assert_eq!(entry["tested_at"], kit::NOON);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_are_what_the_stores_say() {
    let rules = || {
        vec![
            percent("SAVE10", 10),
            amount("FLAT50", 5_000),
            DiscountRule::code("FREESHIP", DiscountValue::Shipping),
        ]
    };
    let street = Street::ruled(12, |_| Some(rules()), Options::default()).await;
    let mut kinds: HashMap<String, HashMap<String, usize>> = HashMap::new();
    for store in (0..12).filter(|store| !street.shop(*store).samples.is_empty()) {
        let body = street.find(store, 100).await;
        for entry in body["data"]["coupons"].as_array().unwrap() {
            let (code, kind) = (entry["code"].as_str().unwrap(), entry["kind"].as_str().unwrap());
            *kinds
                .entry(code.to_owned())
                .or_default()
                .entry(kind.to_owned())
                .or_default() += 1;
        }
    }
    let claimed = |code: &str| {
        let mut told: Vec<_> = kinds[code].keys().cloned().collect();
        told.sort();
        told
    };
    assert_eq!(claimed("SAVE10"), ["percentage"]);
    assert_eq!(claimed("FLAT50"), ["fixed"]);
    // If the store does not state the kind, an amount that fits two kinds has the kind `unknown`, never a wrong one.
    assert_eq!(claimed("FREESHIP"), ["shipping", "unknown"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_does_not_apply_for_want_of_a_delivery_is_tried_with_an_address() {
    let mut found = Vec::new();
    for delivered_only in [false, true] {
        let rules = || {
            let free = DiscountRule::code("FREESHIP", DiscountValue::Shipping);
            vec![DiscountRule { delivered_only, ..free }, percent("SAVE10", 10)]
        };
        let street = Street::ruled(6, |_| Some(rules()), Options::default()).await;
        let mut stores = Vec::new();
        for store in (0..6).filter(|store| !street.shop(*store).samples.is_empty()) {
            let body = street.find(store, 100).await;
            let entries = body["data"]["coupons"].as_array().unwrap();
            let free = entries.iter().find(|entry| entry["code"] == "FREESHIP");
            stores.extend(free.filter(|free| free["kind"] == "shipping").map(|_| store));
        }
        found.push(stores);
    }
    assert!(!found[0].is_empty());
    assert_eq!(found[0], found[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_states_is_tested_first_and_says_where_it_stands() {
    let told = |code: &str, told| DiscountRule {
        told,
        ..percent(code, 10)
    };
    let rules = || {
        vec![
            told("ODDBARCODE3", emulator::DiscountPlacement::Announcement),
            told("ODDPOLICYCODE4", emulator::DiscountPlacement::Policy),
        ]
    };
    let street = Street::ruled(8, |_| Some(rules()), Options::default()).await;
    let mut sources = Vec::new();
    for store in (0..8).filter(|store| !street.shop(*store).samples.is_empty()) {
        let body = street.find(store, 2).await;
        for entry in body["data"]["coupons"].as_array().unwrap() {
            sources.push(format!("{} {}", entry["code"], entry["source"]));
        }
    }
    sources.sort();
    sources.dedup();
    assert_eq!(
        sources,
        [r#""ODDBARCODE3" "announcement""#, r#""ODDPOLICYCODE4" "policy""#]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_is_tested_on_its_own_variant() {
    let street = Street::open(6, Options::default()).await;
    let wanted: Vec<_> = (0..6)
        .flat_map(|store| street.shop(store).samples.iter().map(move |one| (store, one)))
        .collect();
    let asked = futures::stream::iter(&wanted).map(async |(store, product)| {
        let (status, body) = street.get(&format!("product={}", product.id)).await;
        assert_eq!(status, 200, "{body}");
        (*store, product, body)
    });
    let answers: Vec<_> = asked.buffer_unordered(4).collect().await;
    for (store, product, body) in answers {
        assert_eq!(body["data"]["product_id"], product.id.to_string());
        assert!(product.variants.iter().any(|one| one.id.0 == variant(&body)), "{body}");
        let truth = street.truth(store, variant(&body));
        assert!(
            coupons(&body).iter().all(|(code, _)| truth.contains_key(code)),
            "{body}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_a_products_own_description_states_is_tested_for_it() {
    let street = Street::ruled(1, |_| Some(vec![percent("ODDTHING7", 10)]), Options::default()).await;
    let product = &street.shop(0).samples[0];
    let found = async || street.get(&format!("product={}&max_candidates=3", product.id)).await.1;
    assert!(coupons(&found().await).is_empty());
    let told = "Thrown by hand.\nUse code ODDTHING7 at checkout for 10% off.".to_owned();
    let ident = data_model::ProductIdent::Id(product.id);
    street.shelf.described.lock().unwrap().insert(ident, told);
    let body = found().await;
    let entry = &body["data"]["coupons"][0];
    assert_eq!(
        (&entry["code"], &entry["source"]),
        (&json!("ODDTHING7"), &json!("product")),
        "{body}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_is_sold_out_meanwhile_is_passed_over() {
    let street = Street::ruled(1, |_| Some(vec![percent("SAVE10", 10)]), Options::default()).await;
    let slug = street.slug(0);
    let samples = street.shop(0).samples.clone();
    assert!(samples.len() > 1);
    for variant in &samples[0].variants {
        street.stores.set_stock(&slug, variant.id.0, 0).unwrap();
    }
    let body = street.find(0, 10).await;
    assert_eq!(body["data"]["product_id"], samples[1].id.to_string(), "{body}");
    assert_eq!(coupons(&body).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_puts_a_gift_beside_the_item_has_its_codes_tested_all_the_same() {
    let street = Street::ruled(1, |_| Some(vec![percent("SAVE10", 10)]), Options::default()).await;
    let (slug, samples) = (street.slug(0), &street.shop(0).samples);
    let of = |at: usize| samples[at].variants[0].id.0;
    for variant in [of(0), of(1)] {
        street.stores.set_stock(&slug, variant, 50).unwrap();
    }
    let gift = CartFunction::Gift {
        with: of(0),
        free: of(1),
    };
    street.stores.set_cart_function(&slug, Some(gift)).unwrap();
    let (_, body) = street.get(&format!("product={}", samples[0].id)).await;
    assert_eq!(variant(&body), of(0), "{body}");
    let entry = &body["data"]["coupons"][0];
    let price_minor = samples[0].variants[0].price_minor;
    let take = |name: &str| entry[name].as_i64().unwrap();
    assert_eq!(
        (take("subtotal_minor"), take("total_minor")),
        (price_minor, price_minor - take("discount_minor")),
        "{body}"
    );
    assert_eq!(take("discount_minor"), street.truth(0, of(0))["SAVE10"]);
}
