use std::time::Instant;

use data_model::{Confidence, DeliveryRate, DeliveryZone, Pincode, Timestamp};
use data_pincodes::directory;

use super::zones::{ReleasedZone, ZoneTable, notes};

/// Each zone contains every `count`-th area and has three rates.
fn zones(count: usize) -> Vec<DeliveryZone> {
    let zone = |nth: usize| DeliveryZone {
        zone: format!("z{}", nth + 1),
        confidence: if nth.is_multiple_of(2) {
            Confidence::Low
        } else {
            Confidence::High
        },
        areas: directory()
            .areas()
            .iter()
            .skip(nth)
            .step_by(count)
            .map(|area| area.name.to_string())
            .collect(),
        serviceable: None,
        days_min: Some(2),
        days_max: u16::try_from(nth).ok(),
        currency: "INR".parse().unwrap(),
        rates: (0..3)
            .map(|rate| DeliveryRate {
                name: "Standard".to_owned(),
                amount_minor: 4_900 + rate,
                min_order_minor: Some(rate * 50_000),
                max_order_minor: Some(rate * 50_000 + 49_999),
                days_min: Some(2),
                days_max: Some(5),
            })
            .collect(),
        probes: 100,
        sampled_at: Timestamp::from_micros(1),
    };
    (0..count).map(zone).collect()
}

#[test]
fn every_area_is_of_the_zone_that_names_it() {
    let all = zones(7);
    let table = ZoneTable::of(&notes(&all[..6]).unwrap()).unwrap();
    for (_, area) in directory().pincodes() {
        let name = &directory().get(area).unwrap().name;
        let wanted = all[..6]
            .iter()
            .find(|zone| zone.areas.iter().any(|area| area.as_str() == &**name));
        assert_eq!(
            table.of_area(area).map(|zone| zone.days_max),
            wanted.map(|zone| zone.days_max)
        );
    }
    assert_eq!(
        table.areas().count(),
        all[..6].iter().map(|zone| zone.areas.len()).sum::<usize>()
    );
}

#[test]
fn zones_of_another_directory_are_left_out_and_broken_ones_refused() {
    let whole = notes(&zones(3)).unwrap();
    let changed = |from: &str, to: &str| {
        let told = whole
            .iter()
            .map(|(key, note)| (key.clone(), note.replacen(from, to, 1)));
        ZoneTable::of(&told.collect())
    };
    let fingerprint = format!("{:016x}", directory().fingerprint());
    assert!(changed(&fingerprint, "0000000000000000").unwrap().zones().is_empty());
    assert!(changed("\"zone_of\":\"00", "\"zone_of\":\"").is_err());
    assert!(changed("\"zone_of\":\"00", "\"zone_of\":\"f0").is_err());
    assert!(changed("{", "").is_err());
}

fn heap_bytes(table: &ZoneTable) -> usize {
    let of_zone = |zone: &ReleasedZone| {
        let rates: usize = zone
            .rates
            .iter()
            .map(|rate| size_of::<DeliveryRate>() + rate.name.capacity())
            .sum();
        size_of::<ReleasedZone>() + zone.name.len() + rates
    };
    directory().areas().len() + table.zones().iter().map(of_zone).sum::<usize>()
}

#[test]
fn five_thousand_brands_fit_in_two_hundred_megabytes_and_answer_in_nanoseconds() {
    let note = notes(&zones(12)).unwrap();
    let begin = Instant::now();
    let tables: Vec<ZoneTable> = (0..5_000).map(|_| ZoneTable::of(&note).unwrap()).collect();
    let opened = begin.elapsed();
    let bytes: usize = tables
        .iter()
        .map(|table| size_of::<ZoneTable>() + heap_bytes(table))
        .sum();
    let pincodes: Vec<Pincode> = directory().pincodes().map(|(pincode, _)| pincode).collect();
    let (mut at, mut days, count) = (1_usize, 0_u64, 2_000_000_u32);
    let begin = Instant::now();
    for _ in 0..count {
        // Picks another brand and another pincode each time, in no particular order.
        at = at
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let table = &tables[(at >> 33) % tables.len()];
        let pincode = pincodes[(at >> 20) % pincodes.len()];
        let zone = directory().area(pincode).and_then(|area| table.of_area(area));
        days += u64::from(zone.and_then(|zone| zone.days_max).unwrap_or(0));
    }
    let each_ns = begin.elapsed().as_nanos() / u128::from(count);
    println!("5,000 brands of 12 zones: {bytes} bytes, opened in {opened:?}, {each_ns} ns a look-up ({days})");
    assert!(bytes < 200_000_000, "{bytes}");
    assert!(each_ns < 5_000, "{each_ns} ns");
}
