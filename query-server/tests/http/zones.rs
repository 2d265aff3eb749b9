//! What is told of a pincode that the store was not asked for, by the zone of its area.

use std::collections::BTreeMap;

use data_model::{Confidence, DeliveryRate, DeliverySample, DeliveryZone};
use query_server::schema::{ShippingAnswer, StatsAnswer};

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

/// What is told of delivery of a product to each pincode, a line each.
async fn told(market: &Market, id: &str, pincodes: &[&str]) -> String {
    let mut told = Vec::new();
    for pincode in pincodes {
        let path = format!("/v1/shipping?product={id}&pincode={pincode}");
        let delivery = market.get(&path).await.read::<ShippingAnswer>().data.delivery;
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
570001 zone low z1 None Some(2) Some(3) [(4900, Some(99900))]
744301 zone high z2 Some(false) None None []
194103 zone low z2 None None None []
400001 unknown null null None None None []
");
    // Every pincode of the four areas, and of others none.
    let stats: StatsAnswer = market.get("/v1/stats").await.read();
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
