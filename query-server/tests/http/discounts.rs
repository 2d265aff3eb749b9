//! Tests of discount codes that worked at a product's store.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use data_codes::{take_tested, tested_at};
use data_model::{
    CategoryId, CouponEffect, CouponKind, CouponSource, CouponVerdict, Product, StoreHost, TestedCode, Timestamp,
};
use data_storage::put_over;
use http::Request;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use query_server::schema::{DiscountBasis, ProductAnswer};
use serde_json::{Value, json};

use crate::catalogue::{brand, product};
use crate::support::{Catalogue, Market};

const DAY_MS: i64 = 24 * 3_600_000;

/// Returns two teas, a mug, and a product of unknown category.
fn teas() -> Vec<Product> {
    let facts = brand("Chai Point", "INR");
    let kinds = [
        ("Masala Chai", Some(2073)),
        ("Green Tea", Some(2073)),
        ("Mug", Some(2169)),
        ("Surprise", None),
    ];
    let products = (1..).zip(kinds).map(|(id, (title, category))| Product {
        category: category.map(CategoryId),
        ..product(&facts, id, title)
    });
    products.collect()
}

fn catalogue() -> Catalogue {
    let coffee = brand("Blue Tokai", "INR");
    let beans = product(&coffee, 1, "Coffee Beans");
    vec![(brand("Chai Point", "INR"), teas()), (coffee, vec![beans])]
}

fn store() -> StoreHost {
    brand("Chai Point", "INR").brand.store
}

fn now() -> Timestamp {
    use data_model::Clock as _;
    kit::SetClock::noon().now()
}

/// Returns a test, `age_ms` ago, of a code that takes 10 % off this product.
fn test(code: &str, of: &Product, age_ms: i64) -> TestedCode {
    TestedCode {
        code: code.to_owned(),
        source: CouponSource::Announcement,
        product: of.key.id(),
        variant: of.variants[0].id,
        verdict: CouponVerdict::Applicable(CouponEffect {
            kind: CouponKind::Percentage,
            discount_minor: 4_990,
            subtotal_minor: 49_900,
            total_minor: 44_910,
            currency: "INR".parse().unwrap(),
        }),
        tested_at: now().plus_millis(-age_ms),
    }
}

fn refused(test: TestedCode) -> TestedCode {
    let verdict = CouponVerdict::NotApplicable;
    TestedCode { verdict, ..test }
}

fn fixed(mut test: TestedCode, kind: CouponKind, discount_minor: i64, currency: &str) -> TestedCode {
    test.verdict = CouponVerdict::Applicable(CouponEffect {
        kind,
        discount_minor,
        subtotal_minor: 49_900,
        total_minor: 49_900 - discount_minor,
        currency: currency.parse().unwrap(),
    });
    test
}

async fn tell(market: &Market, tests: &[TestedCode]) {
    take_tested(&market.home, &store(), tests, now()).await.unwrap();
    market.server.refresh_discounts().await;
}

async fn discounts(market: &Market, of: &Product) -> Value {
    let path = format!("/v1/products/{}?include=discounts", of.key.id());
    market.get(&path).await.json()["data"]["discounts"].clone()
}

async fn codes(market: &Market, of: &Product) -> Vec<(String, String)> {
    let told = discounts(market, of).await;
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    let told = told.as_array().unwrap().iter();
    told.map(|one| (text(one, "code"), text(one, "basis"))).collect()
}

fn told<const N: usize>(told: [(&str, &str); N]) -> Vec<(String, String)> {
    told.map(|(code, basis)| (code.to_owned(), basis.to_owned())).to_vec()
}

#[tokio::test]
async fn a_product_tells_which_codes_worked_on_what_and_what_they_took_off() {
    let (market, products) = (Market::of(&catalogue()).await, teas());
    assert_eq!(discounts(&market, &products[0]).await, json!([]));
    let far = |code: &str| test(code, &products[2], 3_000);
    let tests = [
        test("TEA10", &products[0], 5_000),
        fixed(test("SAVE50", &products[1], 4_000), CouponKind::Fixed, 5_000, "INR"),
        fixed(far("FREESHIP"), CouponKind::Shipping, 0, "INR"),
        fixed(far("DOLLARS"), CouponKind::Fixed, 500, "USD"),
    ];
    tell(&market, &tests).await;
    let tea = discounts(&market, &products[0]).await;
    let condition = json!({ "min_subtotal_minor": null, "tested_subtotal_minor": 49_900 });
    assert_eq!(
        tea,
        json!([
            { "code": "TEA10", "applicable": true, "kind": "percentage", "percent": 10, "discount_minor": null,
              "currency": "INR", "condition": condition, "basis": "this_product", "source": "announcement",
              "tested_at": now().plus_millis(-5_000) },
            { "code": "SAVE50", "applicable": true, "kind": "fixed", "percent": null, "discount_minor": 5_000,
              "currency": "INR", "condition": condition, "basis": "this_category", "source": "announcement",
              "tested_at": now().plus_millis(-4_000) },
            { "code": "FREESHIP", "applicable": true, "kind": "shipping", "percent": null, "discount_minor": null,
              "currency": "INR", "condition": condition, "basis": "this_store", "source": "announcement",
              "tested_at": now().plus_millis(-3_000) },
        ])
    );
    // Products of unknown category share no category, and other brands have their own codes.
    let unknown = codes(&market, &products[3]).await;
    assert!(
        unknown.iter().all(|(_, basis)| basis == "this_store") && unknown.len() == 3,
        "{unknown:?}"
    );
    let (_, others) = &catalogue()[1];
    assert_eq!(codes(&market, &others[0]).await, told([]));
    // Rust clients can parse the answer, from which a part that was not requested is absent.
    let path = format!("/v1/products/{}", products[0].key.id());
    let whole: ProductAnswer<'static> = market.get(&path).await.read();
    assert_eq!(whole.data.discounts.unwrap()[0].basis, DiscountBasis::ThisProduct);
    let media = market.get(&format!("{path}?include=media")).await.json();
    assert!(media["data"].get("discounts").is_none());
}

#[tokio::test]
async fn a_code_that_the_store_refused_on_what_is_nearer_is_not_told() {
    let (market, products) = (Market::of(&catalogue()).await, teas());
    tell(&market, &[test("TEA10", &products[0], 9_000)]).await;
    assert_eq!(codes(&market, &products[2]).await, told([("TEA10", "this_store")]));
    tell(&market, &[refused(test("TEA10", &products[2], 8_000))]).await;
    assert_eq!(codes(&market, &products[2]).await, told([]));
    // The latest test on another kind of product decides for products that were never tested.
    assert_eq!(codes(&market, &products[3]).await, told([]));
    assert_eq!(codes(&market, &products[1]).await, told([("TEA10", "this_category")]));
    // The store no longer has the code.
    let absent = TestedCode {
        verdict: CouponVerdict::UnknownCode,
        ..test("TEA10", &products[2], 1_000)
    };
    tell(&market, &[absent]).await;
    for one in &products {
        assert_eq!(codes(&market, one).await, told([]));
    }
}

#[tokio::test]
async fn tests_of_more_than_thirty_days_ago_are_not_told_and_what_is_damaged_is_nothing() {
    let (market, products) = (Market::of(&catalogue()).await, teas());
    let old = test("OLD", &products[0], 30 * DAY_MS);
    let recent = test("RECENT", &products[0], 30 * DAY_MS - 1);
    let ahead = test("AHEAD", &products[0], -DAY_MS);
    let json = serde_json::to_vec(&[ahead, recent, old]).unwrap();
    put_over(&market.home, &tested_at(&store()), json).await.unwrap();
    market.server.refresh_discounts().await;
    assert_eq!(codes(&market, &products[0]).await, told([("RECENT", "this_product")]));
    put_over(&market.home, &tested_at(&store()), "nonsense").await.unwrap();
    market.server.refresh_discounts().await;
    assert_eq!(codes(&market, &products[0]).await, told([]));
}

#[tokio::test]
async fn the_entity_tag_of_a_product_follows_its_stores_codes_where_they_are_wanted() {
    let (market, products) = (Market::of(&catalogue()).await, teas());
    let tag = async |include: &str| {
        let path = format!("/v1/products/{}?include={include}", products[0].key.id());
        let tag = market.get(&path).await.headers["etag"].to_str().unwrap().to_owned();
        (path, tag)
    };
    let (before, media) = (tag("discounts").await, tag("media").await);
    market.server.refresh_discounts().await;
    assert_eq!(tag("discounts").await, before);
    tell(&market, &[test("TEA10", &products[3], 1_000)]).await;
    let after = tag("discounts").await;
    assert!(after != before && tag("media").await == media);
    let (path, tag) = after;
    let request = Request::get(path).header("if-none-match", tag);
    let known = market.send(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(known.status, 304);
}

#[test]
fn the_latest_test_on_what_is_nearest_decides() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (market, products) = (runtime.block_on(Market::of(&catalogue())), teas());
    let words = proptest::collection::vec((0..3_usize, 0..4_usize, any::<bool>()), 0..16);
    let near = |of: &Product, to: &Product| match () {
        () if of.key == to.key => 0,
        () if of.category.is_some() && of.category == to.category => 1,
        () => 2,
    };
    let bases = ["this_product", "this_category", "this_store"];
    let mut runner = TestRunner::new(Config::with_cases(64));
    let tried = runner.run(&(words, 0..4_usize), |(words, shown)| {
        let shown = &products[shown];
        let mut last = BTreeMap::new();
        let mut tests = Vec::new();
        for (at, (code, on, applies)) in (1_i64..).zip(words) {
            let code = ["TEA10", "SAVE50", "FREE"][code];
            let one = test(code, &products[on], 1_000 - at);
            tests.push(if applies { one } else { refused(one) });
            last.insert((code, on), (at, applies));
        }
        let mut expected = Vec::new();
        for code in ["TEA10", "SAVE50", "FREE"] {
            let of_code = last.iter().filter(|((one, _), _)| *one == code);
            let ranked = of_code.map(|((_, on), (at, applies))| (near(&products[*on], shown), Reverse(*at), *applies));
            if let Some((basis, at, true)) = ranked.min() {
                expected.push((basis, at, code.to_owned()));
            }
        }
        expected.sort();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(basis, _, code)| (code, bases[basis].to_owned()))
            .collect();
        let told = runtime.block_on(async {
            put_over(&market.home, &tested_at(&store()), "[]").await.unwrap();
            tell(&market, &tests).await;
            codes(&market, shown).await
        });
        prop_assert_eq!(told, expected);
        Ok(())
    });
    tried.unwrap();
}
