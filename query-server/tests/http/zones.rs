//! Tests of delivery to pincodes about which the store was not queried, derived from the zone of their area.

use std::collections::BTreeMap;

use data_model::{
    Confidence, DeliveryRate, DeliverySample, DeliveryZone, FactBasis, ShippingFact, ShippingFactKind, ShippingPolicy,
    ShippingTerms,
};
use query_server::schema::{Shipping, ShippingAnswer, StatsAnswer};

use crate::catalogue::small;
use crate::support::{Market, Observed};

fn zone(
    zone: &str,
    confidence: Confidence,
    areas: &[&str],
    serviceable: bool,
    days: Option<(u16, u16)>,
) -> DeliveryZone {
    let rate = DeliveryRate {
        name: "Standard".to_owned(),
        amount_minor: 4_900,
        min_order_minor: None,
        max_order_minor: Some(99_900),
        days_min: days.map(|days| days.0),
        days_max: days.map(|days| days.1),
    };
    DeliveryZone {
        zone: zone.to_owned(),
        confidence,
        areas: areas.iter().map(|area| (*area).to_owned()).collect(),
        serviceable: Some(serviceable),
        days_min: days.map(|days| days.0),
        days_max: days.map(|days| days.1),
        currency: "INR".parse().unwrap(),
        rates: if serviceable { vec![rate] } else { Vec::new() },
        probes: 4,
        sampled_at: "2026-11-15T00:00:00Z".parse().unwrap(),
    }
}

/// Returns a line about the delivery of a product to each pincode.
async fn told(market: &Market, id: &str, pincodes: &[&str]) -> String {
    let mut told = Vec::new();
    for pincode in pincodes {
        let path = format!("/v1/shipping?product={id}&pincode={pincode}");
        let delivery = market.get(&path).await.read::<ShippingAnswer<'static>>().data.delivery;
        let rates: Vec<_> = delivery
            .rates
            .iter()
            .map(|rate| (rate.amount_minor, rate.max_order_minor))
            .collect();
        told.push(format!(
            "{pincode} {} {} {} {:?} {:?} {:?} {rates:?}",
            delivery.basis,
            delivery.confidence.as_deref().unwrap_or("null"),
            delivery.zone.as_deref().unwrap_or("null"),
            delivery.serviceable,
            delivery.days_min,
            delivery.days_max,
        ));
    }
    told.join("\n")
}

#[tokio::test]
async fn a_pincode_is_answered_by_itself_then_by_its_area_with_what_confidence_there_is() {
    let zones = vec![
        zone(
            "z1",
            Confidence::High,
            &["KARNATAKA/BENGALURU URBAN/metro"],
            true,
            Some((2, 3)),
        ),
        zone("z1", Confidence::Low, &["KARNATAKA/MYSURU/rest"], true, Some((2, 3))),
        zone(
            "z2",
            Confidence::High,
            &["ANDAMAN AND NICOBAR ISLANDS/NICOBARS/island"],
            false,
            None,
        ),
        zone("z2", Confidence::Low, &["LADAKH/KARGIL/remote"], false, None),
    ];
    let asked = DeliverySample {
        pincode: "560001".parse().unwrap(),
        serviceable: Some(true),
        zone: Some("z1".to_owned()),
        days_min: Some(1),
        days_max: Some(2),
        sampled_at: "2026-11-16T00:00:00Z".parse().unwrap(),
    };
    let observed = Observed {
        delivery: BTreeMap::from([("blue-tokai", vec![asked])]),
        zones: BTreeMap::from([("blue-tokai", zones)]),
        ..Observed::default()
    };
    let market = Market::observed(&small(), &observed).await;
    let found = market.get("/v1/search?q=vienna&limit=1").await.json();
    let id = found["data"][0]["id"].as_str().unwrap().to_owned();
    let told = told(
        &market,
        &id,
        &["560001", "560037", "570001", "744301", "194103", "400001"],
    )
    .await;
    insta::assert_snapshot!(told, @r"
560001 pincode high z1 Some(true) Some(1) Some(2) [(4900, Some(99900))]
560037 zone high z1 Some(true) Some(2) Some(3) [(4900, Some(99900))]
570001 zone low z1 Some(true) Some(2) Some(3) [(4900, Some(99900))]
744301 zone high z2 Some(false) None None []
194103 zone low z2 Some(false) None None []
400001 unknown null null None None None []
");
    let product = market.get(&format!("/v1/products/{id}?include=offers")).await.json();
    assert_eq!(product["data"]["delivers_to_india"], true);
    // The count includes exactly the pincodes of the four areas.
    let stats: StatsAnswer<'static> = market.get("/v1/stats").await.read();
    let directory = data_pincodes::directory();
    let names = [
        "KARNATAKA/BENGALURU URBAN/metro",
        "KARNATAKA/MYSURU/rest",
        "ANDAMAN AND NICOBAR ISLANDS/NICOBARS/island",
        "LADAKH/KARGIL/remote",
    ];
    let areas: Vec<_> = names.iter().map(|name| directory.named(name).unwrap()).collect();
    let wanted = directory.pincodes().filter(|(_, area)| areas.contains(area)).count();
    assert_eq!(stats.data.pincodes_covered, wanted as u64);
}

fn rate(amount_minor: i64, min_order_minor: Option<i64>, max_order_minor: Option<i64>) -> DeliveryRate {
    DeliveryRate {
        amount_minor,
        min_order_minor,
        max_order_minor,
        ..zone("z1", Confidence::High, &[], true, None).rates[0].clone()
    }
}

/// Returns the rates of observed carts: carts up to 450 were charged 49, and carts from 550 on nothing.
fn by_value() -> Vec<DeliveryRate> {
    vec![rate(4_900, Some(20_000), Some(45_000)), rate(0, Some(55_000), None)]
}

/// Returns the shipping of a product at a store whose text states `threshold` and whose carts were charged `rates`.
async fn with_threshold(
    threshold_minor: i64,
    basis: FactBasis,
    rates: Vec<DeliveryRate>,
) -> (Shipping<'static>, serde_json::Value) {
    let mut catalogue = small();
    let of_tokai = catalogue
        .iter_mut()
        .filter(|(facts, _)| facts.brand.name == "Blue Tokai");
    let fact = ShippingFact {
        min_order_minor: Some(threshold_minor),
        basis,
        ..ShippingFact::new(ShippingFactKind::FreeShipping, "The courier is our treat.")
    };
    of_tokai.for_each(|(facts, _)| {
        facts.shipping = Some(ShippingPolicy {
            currency: facts.brand.currency,
            free_shipping_threshold_minor: Some(threshold_minor),
            cod_available: None,
            tiers: Vec::new(),
            terms: Some(Box::new(ShippingTerms {
                source_url: None,
                observed_at: "2026-11-14T00:00:00Z".parse().unwrap(),
                facts: vec![fact.clone()],
                unknown: Vec::new(),
            })),
        });
    });
    let bengaluru = ["KARNATAKA/BENGALURU URBAN/metro"];
    let mut sampled = zone("z1", Confidence::High, &bengaluru, true, Some((2, 3)));
    sampled.rates = rates;
    let observed = Observed {
        zones: BTreeMap::from([("blue-tokai", vec![sampled])]),
        ..Observed::default()
    };
    let market = Market::observed(&catalogue, &observed).await;
    let found = market.get("/v1/search?q=vienna&limit=1&pincode=560001").await.json();
    let card = &found["data"][0];
    let path = format!("/v1/shipping?product={}&pincode=560001", card["id"].as_str().unwrap());
    let answer: ShippingAnswer<'static> = market.get(&path).await.read();
    (answer.data, card["delivery"]["free_shipping"].clone())
}

#[tokio::test]
async fn a_text_is_held_against_what_carts_were_asked_and_each_fact_has_its_source() {
    let (told, free_shipping) = with_threshold(49_900, FactBasis::Rules, by_value()).await;
    let confidence =
        |source: Option<query_server::schema::ShippingSource<'static>>| source.map(|source| source.confidence);
    assert_eq!(
        (
            told.free_shipping_threshold_minor,
            told.delivery.cost_minor,
            free_shipping
        ),
        (Some(49_900), Some(0), true.into())
    );
    let sources = told.sources;
    assert_eq!(sources.cost.unwrap().basis, "zone");
    assert_eq!(sources.serviceable.unwrap().at, "2026-11-15T00:00:00Z".parse().ok());
    assert_eq!(confidence(sources.free_shipping_threshold).as_deref(), Some("high"));
    // A cart of 450 was charged a fee, which contradicts the text. The fee for a cart of 499 is unknown.
    let (told, free_shipping) = with_threshold(30_000, FactBasis::Rules, by_value()).await;
    assert_eq!(
        (
            told.free_shipping_threshold_minor,
            told.delivery.cost_minor,
            free_shipping
        ),
        (None, None, serde_json::Value::Null)
    );
    assert_eq!((told.sources.free_shipping_threshold, told.sources.cost), (None, None));
}

#[tokio::test]
async fn what_a_language_model_read_is_of_the_least_confidence_whatever_carts_confirm() {
    let (told, _) = with_threshold(49_900, FactBasis::Model, by_value()).await;
    assert_eq!(told.evidence[0].basis, "model");
    let source = told.sources.free_shipping_threshold.unwrap();
    assert_eq!((&*source.basis, &*source.confidence), ("model", "least"));
}

#[tokio::test]
async fn a_rate_of_carts_whose_worth_is_not_known_says_nothing_beyond_the_threshold() {
    let (little, much) = (10_000, 10_000_000);
    for (threshold_minor, amount_minor, wanted) in [
        (little, 0, Some(0)),
        (much, 4_900, Some(4_900)),
        // The values of the carts are unknown, so they may be below or above the product's price.
        (little, 4_900, None),
        (much, 0, None),
    ] {
        let rates = vec![rate(amount_minor, None, None)];
        let (told, _) = with_threshold(threshold_minor, FactBasis::Rules, rates).await;
        assert_eq!(
            told.delivery.cost_minor, wanted,
            "{amount_minor} beside {threshold_minor}"
        );
        assert_eq!(told.free_shipping_threshold_minor, Some(threshold_minor));
    }
}
