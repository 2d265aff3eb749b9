use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use data_model::StoredBrand;
use emulator::{CombinesWith, DiscountRule, DiscountValue, Fault, FaultRule};
use http::Method;
use live_gateway::{CouponCandidates, TriedCode};
use serde_json::{Value, json};

use super::mall::{Call, Mall, assert_sums, group, minor, path};

/// Source of known codes that records the outcomes of the codes.
#[derive(Debug)]
struct KnownCodes(Vec<&'static str>, Mutex<Vec<(String, TriedCode)>>);

#[async_trait]
impl CouponCandidates for KnownCodes {
    async fn candidates(&self, _: &StoredBrand, max: usize, _: tokio::time::Instant) -> Vec<String> {
        self.0.iter().take(max).map(|code| (*code).to_owned()).collect()
    }

    fn tried(&self, brand: &StoredBrand, outcomes: Vec<TriedCode>) {
        let slug = brand.slug.to_string();
        let told = outcomes.into_iter().map(|outcome| (slug.clone(), outcome));
        self.1.lock().unwrap().extend(told);
    }
}

fn percent(code: &str, percent: u32, combines: bool) -> DiscountRule {
    let combines_with = CombinesWith {
        order: combines,
        product: combines,
        shipping: combines,
    };
    DiscountRule {
        combines_with,
        ..DiscountRule::code(code, DiscountValue::Percentage { percent })
    }
}

fn codes(group: &Value) -> Vec<(String, bool)> {
    let codes = group["discount_codes"].as_array().unwrap().iter();
    codes
        .map(|code| {
            (
                code["code"].as_str().unwrap().to_owned(),
                code["applicable"].as_bool().unwrap(),
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_join_the_stores_list_and_leave_it() {
    let mall = Mall::open(2).await;
    for store in 0..2 {
        mall.stores
            .set_discounts(&mall.slug(store), [percent("TEN", 10, true)])
            .unwrap();
    }
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 1)]).await;
    let one = json!({ "code": " nope ", "brand": mall.brand(0) });
    server.data(Call::post(path(&cart, "/discount"), one)).await;
    let cart = server
        .data(Call::post(path(&cart, "/discount"), json!({ "code": "ten" })))
        .await;
    assert_sums(&cart);
    let told = group(&cart, &mall.brand(0));
    assert_eq!(codes(&told), [("nope".to_owned(), false), ("ten".to_owned(), true)]);
    assert_eq!(codes(&group(&cart, &mall.brand(1))), [("ten".to_owned(), true)]);
    assert_eq!(told["warnings"][0]["code"], "discount_not_found");
    let refusal = json!({
        "reason": "unknown_code", "store_code": "discount_not_found", "detail": "Enter a valid discount code",
    });
    let [nope, ten] = [0, 1].map(|at| told["discount_codes"][at]["refusal"].clone());
    assert_eq!((&nope, &ten), (&refusal, &Value::Null));
    let read = server.data(Call::new(Method::GET, path(&cart, ""))).await;
    let of_first = group(&read, &mall.brand(0));
    assert_eq!(
        of_first["discount_codes"][0]["refusal"], refusal,
        "a later read tells it too"
    );
    assert!(minor(&told["discount_minor"]) > 0);
    // Adding the same code again changes nothing.
    let calls = mall.calls(1, "cartDiscountCodesUpdate");
    server
        .data(Call::post(path(&cart, "/discount"), json!({ "code": "TEN" })))
        .await;
    assert_eq!(mall.calls(1, "cartDiscountCodesUpdate"), calls);

    let at = format!("/discount/NOPE?brand={}", mall.brand(0));
    let cart = server.data(Call::new(Method::DELETE, path(&cart, &at))).await;
    assert_eq!(codes(&group(&cart, &mall.brand(0))), [("ten".to_owned(), true)]);
    let cart = server
        .data(Call::new(Method::DELETE, path(&cart, "/discount/ten")))
        .await;
    for store in 0..2 {
        assert_eq!(codes(&group(&cart, &mall.brand(store))), []);
    }
    let (status, _) = server
        .send(Call::post(
            path(&cart, "/discount"),
            json!({ "code": "TEN", "brand": "nobody" }),
        ))
        .await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_code_has_the_stores_reason_where_it_is_clear_which_is_meant() {
    let mall = Mall::open(1).await;
    let rules = [
        DiscountRule {
            minimum_subtotal_minor: Some(u64::MAX / 4),
            ..percent("DEAR", 10, true)
        },
        DiscountRule {
            minimum_quantity: Some(1_000),
            ..percent("MANY", 10, true)
        },
        DiscountRule {
            usage_limit: Some(1),
            used: 1,
            ..percent("GONE", 10, true)
        },
        DiscountRule {
            customers_only: true,
            ..percent("CLUB", 10, true)
        },
        DiscountRule {
            ends_at: Some("2020-01-01T00:00:00Z".parse().unwrap()),
            ..percent("OVER", 10, true)
        },
    ];
    mall.stores.set_discounts(&mall.slug(0), rules).unwrap();
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let mut told = Value::Null;
    let mut reasons = async |code: &str| {
        let added = Call::post(path(&cart, "/discount"), json!({ "code": code }));
        told = group(&server.data(added).await, &mall.brand(0));
        let codes = told["discount_codes"].as_array().unwrap().iter();
        let refusals = codes.map(|code| code["refusal"]["reason"].as_str().unwrap().to_owned());
        refusals.collect::<Vec<_>>()
    };
    for code in ["DEAR", "MANY", "GONE", "CLUB"] {
        reasons(code).await;
    }
    // A single warning that names no code is about the only code that no other warning names.
    let mut expected = [
        "subtotal_out_of_range",
        "quantity_out_of_range",
        "used_up",
        "sign_in_needed",
    ]
    .to_vec();
    expected.push("not_active");
    assert_eq!(reasons("OVER").await, expected);
    // Two different warnings without a code cannot be assigned to codes.
    expected[4] = "not_stated";
    expected.push("not_stated");
    assert_eq!(reasons("NOPE").await, expected);
    assert_eq!(
        told["discount_codes"][3]["refusal"]["store_code"],
        "discount_eligible_customer_missing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_codes_are_found_and_what_was_tried_is_remembered() {
    let mut mall = Mall::open(2).await;
    let rules = [
        percent("FIVE", 5, true),
        percent("TEN", 10, true),
        percent("ALONE", 12, false),
    ];
    mall.stores.set_discounts(&mall.slug(0), rules).unwrap();
    mall.stores
        .set_discounts(&mall.slug(1), [percent("ALONE", 12, false)])
        .unwrap();
    let known = Arc::new(KnownCodes(vec!["NOPE", "FIVE", "ALONE", "TEN"], Mutex::default()));
    mall.candidates = Arc::clone(&known) as Arc<dyn CouponCandidates>;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 2), mall.item(1, 0, 1)]).await;
    let before = minor(&cart["combined_total_minor"]);
    let told = server.data(Call::new(Method::POST, path(&cart, "/optimize"))).await;
    assert_sums(&told);
    let mut first: Vec<_> = codes(&group(&told, &mall.brand(0)));
    first.sort();
    assert_eq!(first, [("FIVE".to_owned(), true), ("TEN".to_owned(), true)]);
    assert_eq!(codes(&group(&told, &mall.brand(1))), [("ALONE".to_owned(), true)]);
    let saved = before - minor(&told["combined_total_minor"]);
    assert!(saved > 0);
    assert_eq!(told["saved"][0]["saved_minor"], saved);
    assert_eq!(
        (
            minor(&told["optimized"][0]["tested"]),
            &told["optimized"][0]["stopped_by"]
        ),
        (4, &Value::Null)
    );
    // The buyer's cart was changed once. Codes were tried on a second cart.
    assert_eq!(mall.stores.carts(&mall.slug(0)).unwrap(), 2);
    let outcomes = known.1.lock().unwrap();
    let of_first: Vec<_> = outcomes.iter().filter(|(slug, _)| *slug == mall.brand(0)).collect();
    assert_eq!(of_first.len(), 4);
    assert!(of_first.iter().any(|(_, code)| code.code == "NOPE" && !code.applicable));
    assert!(
        of_first
            .iter()
            .any(|(_, code)| code.code == "TEN" && code.discount_minor > 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_for_which_nothing_better_is_found_is_as_it_was() {
    let mut mall = Mall::open(2).await;
    mall.stores
        .set_discounts(&mall.slug(0), [percent("BEST", 30, false), percent("LESS", 3, false)])
        .unwrap();
    mall.stores
        .set_discounts(&mall.slug(1), [percent("LESS", 3, false)])
        .unwrap();
    mall.candidates = Arc::new(KnownCodes(vec!["LESS", "NOPE"], Mutex::default()));
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 2), mall.item(1, 0, 1)]).await;
    let cart = server
        .data(Call::post(
            path(&cart, "/discount"),
            json!({ "code": "BEST", "brand": mall.brand(0) }),
        ))
        .await;
    // A store's failure during the search affects only the search at that store.
    let rule = FaultRule {
        path: Some("/api/".to_owned()),
        ..FaultRule::from(Fault::Status {
            status: 500,
            retry_after_s: None,
        })
    };
    mall.stores.set_faults(&mall.slug(1), [rule]).unwrap();
    let told = server.data(Call::new(Method::POST, path(&cart, "/optimize"))).await;
    for store in 0..2 {
        let (before, after) = (group(&cart, &mall.brand(store)), group(&told, &mall.brand(store)));
        for member in ["lines", "discount_codes", "total_minor", "checkout_url"] {
            assert_eq!(before[member], after[member]);
        }
    }
    assert_eq!(told["saved"][0]["saved_minor"], 0);
    assert_eq!(told["optimized"][1]["stopped_by"], "store");
    // The first store's cart was read for this response. The second store's cart was not, for the reason in `problems`.
    assert_eq!(group(&told, &mall.brand(0))["verified"], true);
    assert_eq!(group(&told, &mall.brand(1))["verified"], false);
    assert_eq!(told["problems"][0]["brand_slug"], mall.brand(1));
    mall.stores.set_faults(&mall.slug(1), Vec::<FaultRule>::new()).unwrap();
    let again = server.data(Call::get(path(&cart, ""))).await;
    assert_eq!(
        group(&again, &mall.brand(0))["discount_codes"],
        group(&cart, &mall.brand(0))["discount_codes"]
    );
}
