use emulator::{DiscountPlacement, DiscountRule, DiscountValue};
use serde_json::json;

use crate::support::{Options, Street};

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_of_product_brand_and_domain_is_asked_for() {
    let street = Street::open(1, Options::default()).await;
    let product = street.shop(0).samples[0].id;
    let mut told = Vec::new();
    for query in [
        String::new(),
        "brand=a&domain=b.example".to_owned(),
        format!("product={product}&brand=a&domain=b.example"),
        "product=7".to_owned(),
        "brand=a&max_candidates=0".to_owned(),
        "brand=a&max_candidates=101".to_owned(),
        "brand=a&max_candidates=many".to_owned(),
        format!("domain={}", "x".repeat(301)),
    ] {
        let (status, body) = street.get(&query).await;
        let faults = body["detail"].as_array().into_iter().flatten();
        let faults: Vec<_> = faults.map(|fault| json!([fault["loc"], fault["type"]])).collect();
        told.push(json!([status.as_u16(), body["code"], faults]).to_string());
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    [422,"validation",[[["query","product"],"value_error"]]]
    [422,"validation",[[["query","brand"],"value_error"],[["query","domain"],"value_error"]]]
    [422,"validation",[[["query","product"],"value_error"],[["query","brand"],"value_error"],[["query","domain"],"value_error"]]]
    [422,"validation",[[["query","product"],"uuid_parsing"]]]
    [422,"validation",[[["query","max_candidates"],"greater_than_equal"]]]
    [422,"validation",[[["query","max_candidates"],"less_than_equal"]]]
    [422,"validation",[[["query","max_candidates"],"int_parsing"]]]
    [422,"validation",[[["query","domain"],"string_too_long"]]]
    "#);
    assert_eq!(street.calls(0), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brand_that_is_not_registered_is_not_found_and_nothing_is_fetched() {
    let street = Street::open(1, Options::default()).await;
    let other = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let there = other.local_addr().unwrap();
    for query in [
        "brand=nobody".to_owned(),
        "brand=nobody.example".to_owned(),
        "domain=169.254.169.254".to_owned(),
        format!("domain={there}"),
        format!("domain=http%3A%2F%2F{there}%2F"),
        "domain=%2F%2Fevil.example".to_owned(),
        "domain=a%00b".to_owned(),
    ] {
        let (status, body) = street.get(&query).await;
        assert_eq!(
            (status.as_u16(), body["code"].as_str()),
            (404, Some("brand_not_found")),
            "{query}: {body}"
        );
    }
    let (status, body) = street.get("product=00000000-0000-5000-8000-000000000000").await;
    assert_eq!(
        (status.as_u16(), body["code"].as_str()),
        (404, Some("product_not_found")),
        "{body}"
    );
    let knocked = futures::FutureExt::now_or_never(other.accept());
    assert!(knocked.is_none());
    let requests = street.stores.requests(&street.slug(0)).unwrap();
    assert_eq!(requests.calls.values().sum::<u64>(), 0, "{:?}", requests.calls);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brand_is_named_by_slug_by_domain_and_by_its_product_alike() {
    let street = Street::open(1, Options::default()).await;
    let domain = street.brand(0).domain.clone();
    let first = street.find(0, 40).await;
    for query in [format!("brand={domain}"), format!("domain={domain}")] {
        let (status, body) = street.get(&query).await;
        assert_eq!((status.as_u16(), &body["data"]), (200, &first["data"]), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_has_this_form() {
    let rule = || DiscountRule {
        told: DiscountPlacement::Announcement,
        ..DiscountRule::code("OddBar7", DiscountValue::Percentage { percent: 7 })
    };
    let street = Street::ruled(1, |_| Some(vec![rule()]), Options::default()).await;
    let mut body = street.find(0, 1).await;
    for part in ["product_id", "variant_id", "brand_slug"] {
        body["data"][part] = json!(format!("[{part}]"));
    }
    for part in ["subtotal_minor", "discount_minor", "total_minor"] {
        assert!(body["data"]["coupons"][0][part].as_i64().unwrap() > 0, "{body}");
        body["data"]["coupons"][0][part] = json!(format!("[{part}]"));
    }
    insta::assert_json_snapshot!(body, @r#"
    {
      "as_of": "2026-11-21T12:00:00Z",
      "data": {
        "brand_slug": "[brand_slug]",
        "candidates": 1,
        "coupons": [
          {
            "applicable": true,
            "code": "ODDBAR7",
            "currency": "INR",
            "discount_minor": "[discount_minor]",
            "kind": "percentage",
            "source": "announcement",
            "subtotal_minor": "[subtotal_minor]",
            "tested_at": "2026-11-21T12:00:00Z",
            "total_minor": "[total_minor]"
          }
        ],
        "product_id": "[product_id]",
        "tested": 1,
        "untested": [],
        "variant_id": "[variant_id]",
        "verified": true
      },
      "provenance": {
        "engine": "live",
        "release": "r0123456789abcdef",
        "remembered": 0
      },
      "tier": "live"
    }
    "#);
}
