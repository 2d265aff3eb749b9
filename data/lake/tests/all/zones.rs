//! Tests stored delivery data: stores' responses, and the zones derived from them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeSet;

use crate::support::*;
use data_lake::StoreUpdate;
use data_model::{
    Confidence, DeliveryProbe, DeliveryRate, DeliverySample, DeliveryZone, KnownDelivery, Timestamp, VariantId,
};
use data_storage::Storage;

fn rate(amount_minor: i64) -> DeliveryRate {
    DeliveryRate {
        name: "Standard".to_owned(),
        amount_minor,
        min_order_minor: None,
        max_order_minor: Some(99_900),
        days_min: Some(2),
        days_max: None,
    }
}

fn known(amounts: &[i64]) -> KnownDelivery {
    let zone = |confidence| DeliveryZone {
        zone: "z1".to_owned(),
        confidence,
        areas: vec![format!("GOA/NORTH GOA/{confidence}"), "GOA/SOUTH GOA/rest".to_owned()],
        serviceable: None,
        days_min: Some(2),
        days_max: None,
        currency: "INR".parse().unwrap(),
        rates: amounts.iter().map(|amount| rate(*amount)).collect(),
        probes: 2,
        sampled_at: Timestamp::from_micros(START),
    };
    let probe = |at| DeliveryProbe {
        pincode: "403001".parse().unwrap(),
        variant: VariantId(u64::MAX - 1),
        quantity: 2,
        goods_minor: 49_900,
        grams: (at > 0).then_some(250),
        currency: "INR".parse().unwrap(),
        options: amounts.iter().map(|amount| rate(*amount)).collect(),
        asked_at: Timestamp::from_micros(START + at),
    };
    KnownDelivery {
        samples: vec![DeliverySample {
            pincode: "403001".parse().unwrap(),
            serviceable: None,
            zone: Some("z1".to_owned()),
            days_min: Some(2),
            days_max: None,
            sampled_at: Timestamp::from_micros(START),
        }],
        zones: vec![zone(Confidence::Low), zone(Confidence::High)],
        probes: vec![probe(0), probe(1)],
    }
}

#[tokio::test]
async fn answers_and_zones_are_read_back_as_they_were_and_kept_by_crawls() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let of = |name: &str, amounts: &[i64]| StoreUpdate::new(host(name), brand(name).slug, known(amounts));
    let report = lake
        .commit_delivery(vec![of("beta", &[4_900, 14_900]), of("alpha", &[])])
        .await
        .unwrap();
    assert_eq!(report.changed.len(), 2);
    let told = lake.snapshot().await.unwrap().known_delivery(None).await.unwrap();
    assert_eq!(
        (&told[&host("beta")], &told[&host("alpha")]),
        (&known(&[4_900, 14_900]), &known(&[]))
    );

    let again = lake.commit_delivery(vec![of("beta", &[4_900, 14_900])]).await.unwrap();
    assert!(again.ticks.is_empty(), "the same is not written again");
    lake.commit(second(), run(2)).await.unwrap();
    let beta = BTreeSet::from([host("beta")]);
    let told = lake
        .snapshot()
        .await
        .unwrap()
        .known_delivery(Some(&beta))
        .await
        .unwrap();
    assert_eq!(told[&host("beta")], known(&[4_900, 14_900]), "a crawl keeps it");

    let nothing = StoreUpdate::new(host("beta"), brand("beta").slug, KnownDelivery::default());
    lake.commit_delivery(vec![nothing]).await.unwrap();
    let told = lake.snapshot().await.unwrap().known_delivery(None).await.unwrap();
    assert_eq!(told.keys().collect::<Vec<_>>(), [&host("alpha")]);
    lake.remove_brands(&[host("alpha")]).await.unwrap();
    assert!(
        lake.snapshot()
            .await
            .unwrap()
            .known_delivery(None)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn what_is_on_sale_is_told_with_its_price_and_weight() {
    let storage = Storage::memory();
    let lake = open(&storage, &midnight()).await;
    lake.commit(first(), run(1)).await.unwrap();
    let snapshot = lake.snapshot().await.unwrap();
    let told = snapshot.on_sale(&host("alpha")).await.unwrap();
    let products = products(&snapshot, &["alpha"]).await;
    let wanted = products
        .iter()
        .flat_map(|product| &product.variants)
        .filter(|variant| variant.available);
    let wanted: BTreeSet<_> = wanted
        .map(|variant| (variant.id, variant.price_minor, variant.grams.map(i64::from)))
        .collect();
    assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), wanted);
}
