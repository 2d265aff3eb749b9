use std::collections::BTreeMap;

use data_model::{
    DeliveryRate, DeliverySample, PaymentKind, ShippingFact, ShippingFactKind, ShippingPolicy, ShippingRegion,
    ShippingTerms, UnknownReason, UnknownTerm,
};
use http::Request;
use query_server::schema::{BrandAnswer, ShippingAnswer, StatsAnswer};

use crate::catalogue::small;
use crate::support::{Catalogue, Market, Observed};

fn tier(name: &str, amount_minor: i64, days: Option<(u16, u16)>) -> DeliveryRate {
    DeliveryRate {
        name: name.to_owned(),
        amount_minor,
        min_order_minor: None,
        max_order_minor: None,
        days_min: days.map(|days| days.0),
        days_max: days.map(|days| days.1),
    }
}

/// Returns a catalogue with shipping terms. Blue Tokai states everything, Loom & Thread states no days for one rate,
/// Kissaten states nothing.
fn with_terms() -> Catalogue {
    let mut catalogue = small();
    for (facts, _) in &mut catalogue {
        let tiers = match facts.brand.name.as_str() {
            "Blue Tokai" => vec![
                tier("Standard", 5_000, Some((3, 5))),
                tier("Express", 15_000, Some((1, 2))),
            ],
            "Loom & Thread" => vec![tier("Standard", 9_900, Some((4, 6))), tier("Pickup", 0, None)],
            _ => continue,
        };
        facts.shipping = Some(ShippingPolicy {
            currency: facts.brand.currency,
            free_shipping_threshold_minor: Some(49_900),
            cod_available: (facts.brand.name == "Blue Tokai").then_some(true),
            tiers,
            terms: None,
        });
    }
    catalogue
}

async fn id_of(market: &Market, query: &str) -> String {
    let found = market.get(&format!("/v1/search?q={query}&limit=1")).await.json();
    found["data"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn shipping_tells_the_stores_terms_and_the_days_that_every_rate_keeps() {
    let market = Market::of(&with_terms()).await;
    let id = id_of(&market, "vienna").await;
    let path = format!("/v1/shipping?product={id}&pincode=560001");
    let _: ShippingAnswer<'static> = market.get(&path).await.read();
    let body = market.body(&path).await;
    insta::assert_snapshot!(body.split_once(DELIVERY).unwrap().0, @r#"
{
  "data": {
    "product_id": "3184d755-3f80-5149-ac36-3f630b93c84d",
    "brand_slug": "blue-tokai",
    "pincode": "560001",
    "currency": "INR",
    "free_shipping_threshold_minor": 49900,
    "cod_available": true,
    "tiers": [
      {
        "name": "Standard",
        "amount_minor": 5000,
        "min_order_minor": null,
        "max_order_minor": null,
        "days_min": 3,
        "days_max": 5
      },
      {
        "name": "Express",
        "amount_minor": 15000,
        "min_order_minor": null,
        "max_order_minor": null,
        "days_min": 1,
        "days_max": 2
      }
    ],
    "tier": null,
    "free_shipping": [],
    "cod": {
      "available": true,
      "fee_minor": null,
      "min_order_minor": null,
      "max_order_minor": null,
      "advance_percent": null,
      "advance_minor": null
    },
    "source_url": null,
    "observed_at": null,
    "evidence": [],
    "unknown": [],
"#);
}

/// Start of the delivery object in an answer.
const DELIVERY: &str = "\n    \"delivery\": ";

#[tokio::test]
async fn shipping_tells_delivery_and_where_each_fact_comes_from() {
    let market = Market::of(&with_terms()).await;
    let id = id_of(&market, "vienna").await;
    let body = market.body(&format!("/v1/shipping?product={id}&pincode=560001")).await;
    insta::assert_snapshot!(body.split_once(DELIVERY).unwrap().1, @r#"
{
      "serviceable": null,
      "days_min": 1,
      "days_max": 5,
      "cost_minor": 0,
      "earliest_date": "2026-11-22",
      "latest_date": "2026-11-26",
      "time_zone": "Asia/Kolkata",
      "store_time_zone": "Asia/Kolkata",
      "zone": null,
      "sampled_at": null,
      "basis": "policy",
      "confidence": null,
      "rates": []
    },
    "sources": {
      "serviceable": null,
      "days": {
        "basis": "policy",
        "confidence": "low",
        "at": null
      },
      "cost": {
        "basis": "policy",
        "confidence": "low",
        "at": null
      },
      "free_shipping_threshold": {
        "basis": "policy",
        "confidence": "low",
        "at": null
      },
      "cod": {
        "basis": "policy",
        "confidence": "low",
        "at": null
      }
    }
  },
  "provenance": {
    "release": "[release]",
    "refreshed_at": "2026-11-20T06:30:00Z"
  },
  "tier": "graph"
}
"#);
}

/// Returns the shipping terms in Blue Tokai's text.
fn told() -> ShippingTerms {
    let free = ShippingFact {
        payment: Some(PaymentKind::Prepaid),
        min_order_minor: Some(49_900),
        ..ShippingFact::new(
            ShippingFactKind::FreeShipping,
            "Prepaid orders above Rs. 499 ship free.",
        )
    };
    let cod = ShippingFact {
        is_available: Some(true),
        max_order_minor: Some(200_000),
        ..ShippingFact::new(ShippingFactKind::Cod, "COD up to Rs. 2000.")
    };
    let fee = ShippingFact {
        amount_minor: Some(5_000),
        ..ShippingFact::new(ShippingFactKind::CodFee, "COD costs Rs. 50 more.")
    };
    let days = |kind, region, min, max| ShippingFact {
        region,
        days_min: Some(min),
        days_max: Some(max),
        in_working_days: Some(false),
        ..ShippingFact::new(kind, "Days.")
    };
    ShippingTerms {
        source_url: Some("https://bluetokai.example/policies/shipping-policy".to_owned()),
        observed_at: "2026-11-19T00:00:00Z".parse().unwrap(),
        facts: vec![
            free,
            cod,
            fee,
            days(ShippingFactKind::Dispatch, None, 1, 2),
            days(ShippingFactKind::Delivery, Some(ShippingRegion::Metro), 2, 3),
            days(ShippingFactKind::Delivery, Some(ShippingRegion::Rest), 4, 6),
        ],
        unknown: vec![UnknownTerm {
            kind: ShippingFactKind::CutOff,
            reason: UnknownReason::NotStated,
            sentence: None,
        }],
    }
}

#[tokio::test]
async fn what_a_text_says_is_told_with_its_sentences_and_promised_from_dispatch_and_transit() {
    let mut catalogue = with_terms();
    for (facts, _) in &mut catalogue {
        if let Some(policy) = facts.shipping.as_mut().filter(|_| facts.brand.name == "Blue Tokai") {
            policy.tiers = vec![tier("Standard", 5_000, None)];
            policy.terms = Some(Box::new(told()));
        }
    }
    let market = Market::of(&catalogue).await;
    let id = id_of(&market, "vienna").await;
    let answer: ShippingAnswer<'static> = market
        .get(&format!("/v1/shipping?product={id}&pincode=560001"))
        .await
        .read();
    let data = answer.data;
    assert_eq!(
        (
            data.delivery.basis.as_ref(),
            data.delivery.days_min,
            data.delivery.days_max
        ),
        ("policy", Some(3), Some(5))
    );
    assert_eq!(
        (
            data.delivery.earliest_date.as_deref(),
            data.delivery.latest_date.as_deref()
        ),
        (Some("2026-11-24"), Some("2026-11-26"))
    );
    assert_eq!(data.free_shipping[0].threshold_minor, Some(49_900));
    assert_eq!(data.free_shipping[0].payment.as_deref(), Some("prepaid"));
    assert_eq!(
        (data.evidence.len(), data.evidence[1].sentence.as_ref()),
        (6, "COD up to Rs. 2000.")
    );
    assert_eq!(
        (data.unknown[0].fact.as_ref(), data.unknown[0].reason.as_ref()),
        ("cut_off", "not_stated")
    );
    assert_eq!(data.cod.max_order_minor, Some(200_000));
    // Both variant prices are within the limit for cash on delivery. The variant of an order is unknown.
    assert_eq!(
        (data.cod.available, data.cod.fee_minor, data.tier),
        (Some(true), None, None)
    );
}

#[tokio::test]
async fn days_of_a_text_that_mentions_no_dispatch_count_from_the_order() {
    // Today is a Saturday. Saturdays count as working days for the earliest day alone.
    for (mention, latest) in [(None, Some(6)), (Some("Allow 3-5 business days after dispatch."), None)] {
        let mut catalogue = with_terms();
        for (facts, _) in &mut catalogue {
            if let Some(policy) = facts.shipping.as_mut().filter(|_| facts.brand.name == "Blue Tokai") {
                policy.tiers = vec![tier("Standard", 5_000, None)];
                let mut terms = told();
                terms.facts = vec![ShippingFact {
                    days_min: Some(3),
                    days_max: Some(5),
                    in_working_days: Some(true),
                    ..ShippingFact::new(ShippingFactKind::Delivery, "Delivery takes 3-5 business days.")
                }];
                terms.unknown = vec![UnknownTerm {
                    kind: ShippingFactKind::Dispatch,
                    reason: UnknownReason::NotStated,
                    sentence: mention.map(str::to_owned),
                }];
                policy.terms = Some(Box::new(terms));
            }
        }
        let market = Market::of(&catalogue).await;
        let path = format!("/v1/shipping?product={}&pincode=560001", id_of(&market, "vienna").await);
        let delivery = market.get(&path).await.read::<ShippingAnswer<'static>>().data.delivery;
        assert_eq!((delivery.days_min, delivery.days_max), (Some(4), latest), "{mention:?}");
    }
}

#[tokio::test]
async fn what_is_not_known_is_null() {
    let market = Market::of(&with_terms()).await;
    let linen = id_of(&market, "linen+shirt").await;
    let answer: ShippingAnswer<'static> = market
        .get(&format!("/v1/shipping?product={linen}&pincode=110001"))
        .await
        .read();
    // One rate states no days, so no days are promised.
    assert_eq!((answer.data.tiers.len(), answer.data.cod_available), (2, None));
    assert_eq!(
        (answer.data.delivery.basis.as_ref(), answer.data.delivery.days_max),
        ("unknown", None)
    );
    let kettle = id_of(&market, "kettle").await;
    let answer: ShippingAnswer<'static> = market
        .get(&format!("/v1/shipping?product={kettle}&pincode=110001"))
        .await
        .read();
    assert_eq!((answer.data.currency.as_ref(), answer.data.tiers.len()), ("JPY", 0));
    assert_eq!(answer.data.delivery.earliest_date, None);
}

#[tokio::test]
async fn every_fault_of_a_question_for_shipping_is_named() {
    let market = Market::of(&with_terms()).await;
    for (query, wanted) in [
        ("", vec!["product missing", "pincode missing"]),
        (
            "product=x&pincode=012345",
            vec!["product uuid_parsing", "pincode string_pattern_mismatch"],
        ),
        (
            "product=sha:12&pincode=5600011",
            vec!["product string_pattern_mismatch", "pincode string_pattern_mismatch"],
        ),
    ] {
        let answered = market.get(&format!("/v1/shipping?{query}")).await;
        assert_eq!(answered.status, 422, "{query}");
        let document = answered.json();
        let faults = document["detail"].as_array().unwrap().iter();
        let faults = faults.map(|fault| {
            format!(
                "{} {}",
                fault["loc"][1].as_str().unwrap(),
                fault["type"].as_str().unwrap()
            )
        });
        assert_eq!(faults.collect::<Vec<_>>(), wanted, "{query}");
    }
    let unknown = market
        .get("/v1/shipping?product=00000000-0000-0000-0000-000000000000&pincode=560001")
        .await;
    assert_eq!(
        (unknown.status.as_u16(), unknown.json()["code"].as_str()),
        (404, Some("product_not_found"))
    );
}

#[tokio::test]
async fn the_same_day_needs_no_second_answer() {
    let market = Market::of(&with_terms()).await;
    let path = format!("/v1/shipping?product={}&pincode=560001", id_of(&market, "vienna").await);
    let tag = market.get(&path).await.headers["etag"].clone();
    let again = Request::get(&path)
        .header("if-none-match", tag)
        .body(axum::body::Body::empty())
        .unwrap();
    assert_eq!(market.send(again).await.status, 304);
}

#[tokio::test]
async fn a_brand_tells_its_shipping_terms() {
    let market = Market::of(&with_terms()).await;
    let told: BrandAnswer<'static> = market.get("/v1/brands/blue-tokai").await.read();
    let terms = told.data.shipping.unwrap();
    assert_eq!(
        (terms.free_shipping_threshold_minor, terms.tiers.len()),
        (Some(49_900), 2)
    );
    let silent: BrandAnswer<'static> = market.get("/v1/brands/kissaten").await.read();
    assert_eq!(silent.data.shipping, None);
}

fn sample(pincode: &str, serviceable: bool, zone: Option<&str>, days: Option<(u16, u16)>) -> DeliverySample {
    DeliverySample {
        pincode: pincode.parse().unwrap(),
        serviceable: Some(serviceable),
        zone: zone.map(str::to_owned),
        days_min: days.map(|days| days.0),
        days_max: days.map(|days| days.1),
        sampled_at: "2026-11-15T00:00:00Z".parse().unwrap(),
    }
}

#[tokio::test]
async fn what_the_store_answered_for_the_pincode_wins_over_its_zone_and_that_over_its_terms() {
    let tokai = vec![
        sample("110001", true, Some("north"), Some((4, 6))),
        sample("110009", true, Some("remote"), Some((9, 12))),
        sample("560001", true, Some("metro"), Some((1, 2))),
        sample("560034", true, Some("metro"), Some((2, 3))),
        sample("744301", false, None, Some((5, 5))),
    ];
    let observed = Observed {
        delivery: BTreeMap::from([("blue-tokai", tokai)]),
        ..Observed::default()
    };
    let market = Market::observed(&with_terms(), &observed).await;
    let id = id_of(&market, "vienna").await;
    let mut told = Vec::new();
    for pincode in ["560034", "560099", "744301", "110002", "400001"] {
        let path = format!("/v1/shipping?product={id}&pincode={pincode}");
        let answer: ShippingAnswer<'static> = market.get(&path).await.read();
        let delivery = answer.data.delivery;
        told.push(format!(
            "{pincode} {} {:?} {:?}-{:?} {:?} {:?}",
            delivery.basis,
            delivery.serviceable,
            delivery.days_min,
            delivery.days_max,
            delivery.zone.as_deref(),
            delivery.sampled_at.map(|at| at.to_string())
        ));
    }
    // District 110 has two zones, so nothing is known about its other pincodes.
    insta::assert_snapshot!(told.join("\n"), @r#"
560034 pincode Some(true) Some(2)-Some(3) Some("metro") Some("2026-11-15T00:00:00Z")
560099 zone None Some(1)-Some(3) Some("metro") Some("2026-11-15T00:00:00Z")
744301 pincode Some(false) None-None None Some("2026-11-15T00:00:00Z")
110002 policy None Some(1)-Some(5) None None
400001 policy None Some(1)-Some(5) None None
"#);
    let stats: StatsAnswer<'static> = market.get("/v1/stats").await.read();
    assert_eq!(stats.data.pincodes_covered, 5);
}

#[tokio::test]
async fn a_bound_of_days_that_nobody_stated_is_null() {
    let at_least = DeliverySample {
        days_max: None,
        ..sample("560001", true, None, Some((4, 4)))
    };
    let observed = Observed {
        delivery: BTreeMap::from([("blue-tokai", vec![at_least])]),
        ..Observed::default()
    };
    let market = Market::observed(&with_terms(), &observed).await;
    let id = id_of(&market, "vienna").await;
    let path = format!("/v1/shipping?product={id}&pincode=560001");
    let delivery = market.get(&path).await.read::<ShippingAnswer<'static>>().data.delivery;
    assert_eq!((delivery.days_min, delivery.days_max), (Some(4), None));
    assert!(delivery.earliest_date.is_some());
    assert_eq!(delivery.latest_date, None);
}

#[tokio::test]
async fn a_store_abroad_goes_by_its_own_clock_and_promises_what_it_says_of_abroad_alone() {
    let of = async |region: Option<ShippingRegion>| {
        let mut catalogue = with_terms();
        for (facts, _) in &mut catalogue {
            if let Some(policy) = facts.shipping.as_mut().filter(|_| facts.brand.name == "Blue Tokai") {
                facts.brand.country = Some("DE".to_owned());
                policy.tiers = Vec::new();
                let mut terms = told();
                terms.facts.retain(|fact| fact.kind != ShippingFactKind::Delivery);
                terms.facts.push(ShippingFact {
                    region,
                    days_min: Some(10),
                    days_max: Some(15),
                    ..ShippingFact::new(ShippingFactKind::Delivery, "Lieferung in 10 bis 15 Tagen.")
                });
                policy.terms = Some(Box::new(terms));
            }
        }
        let market = Market::of(&catalogue).await;
        let id = id_of(&market, "vienna").await;
        let path = format!("/v1/shipping?product={id}&pincode=560001");
        market.get(&path).await.read::<ShippingAnswer<'static>>().data.delivery
    };
    let abroad = of(Some(ShippingRegion::Abroad)).await;
    assert_eq!((abroad.days_min, abroad.days_max), (Some(11), Some(17)));
    assert_eq!(
        (abroad.time_zone.as_ref(), abroad.store_time_zone.as_ref()),
        ("Asia/Kolkata", "Europe/Berlin")
    );
    let at_home = of(None).await;
    assert_eq!((at_home.days_min, at_home.basis.as_ref()), (None, "unknown"));
}
