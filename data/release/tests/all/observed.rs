use data_model::{DeliverySample, PriceEvent, PricePoint, PriceSource, Product, Timestamp, VariantId};
use data_release::{LocalRelease, PartsBuilder, write_delivery};
use proptest::prelude::*;

use crate::fixture::{any_product, build, catalogue, open};

fn sample(pincode: u32, days: (u16, u16)) -> DeliverySample {
    DeliverySample {
        pincode: pincode.to_string().parse().unwrap(),
        serviceable: Some(true),
        zone: (pincode.is_multiple_of(2)).then(|| "metro".to_owned()),
        days_min: Some(days.0),
        days_max: Some(days.1),
        sampled_at: Timestamp::from_micros(i64::from(pincode)),
    }
}

/// The product has not changed since it was first seen.
fn first_seen(product: &Product, at: Timestamp) -> Vec<PricePoint> {
    let point = |variant: &data_model::Variant| PricePoint {
        observed_at: at,
        variant: variant.id,
        event: PriceEvent::FirstSeen,
        currency: product.currency,
        price_minor: Some(variant.price_minor),
        compare_at_minor: variant.compare_at_minor,
        available: Some(variant.available),
        source: PriceSource::Crawl,
    };
    product.variants.iter().map(point).collect()
}

fn read_back(product: &Product, history: &[PricePoint]) -> Vec<PricePoint> {
    let dir = tempfile::tempdir().unwrap();
    let mut store = catalogue(0, 1, 0);
    store.products = vec![product.clone()];
    // This part is built only for the manifest.
    let mut manifest = build(None, &[store.clone()], 10, dir.path());
    let mut parts = PartsBuilder::new(
        dir.path(),
        &data_index::BuildOptions {
            embedder: data_embedding::shipped(),
            ..data_index::BuildOptions::default()
        },
    );
    parts.push(product, &store.facts, history).unwrap();
    manifest.parts = parts.finish().unwrap().into_iter().map(|part| part.entry).collect();
    let release = LocalRelease::in_directory(manifest, dir.path()).open().unwrap();
    let part = release.part(0).unwrap();
    let read: Vec<PricePoint> = part
        .price_history(0)
        .map(|point| PricePoint {
            observed_at: point.observed_at,
            variant: point.variant,
            event: point.event,
            currency: point.currency.parse().unwrap(),
            price_minor: point.price_minor,
            compare_at_minor: point.compare_at_minor,
            available: point.available,
            source: point.source,
        })
        .collect();
    assert_eq!(part.price_points(0), read.len());
    read
}

#[test]
fn a_product_that_never_changed_has_the_points_of_its_variants() {
    let product = catalogue(0, 1, 1).products.remove(0);
    let points = first_seen(&product, Timestamp::from_micros(5));
    assert_eq!(read_back(&product, &points), points);
    assert!(read_back(&product, &[]).is_empty());
    let many: Vec<PricePoint> = (0..3_000)
        .map(|at| PricePoint {
            observed_at: Timestamp::from_micros(9_000 - at),
            ..points[0]
        })
        .collect();
    assert_eq!(read_back(&product, &many), many[..1_000], "the newest are kept");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_history_reads_back_the_same(
        product in any_product(0, 7),
        at in 0..9_i64,
        changes in prop::collection::vec((0..4_usize, 0..3_usize, prop::option::of(0..500_i64), any::<bool>(), 0..2_usize), 0..6),
    ) {
        let mut points = first_seen(&product, Timestamp::from_micros(at));
        for (number, (variant, event, price_minor, available, source)) in (10..).zip(changes) {
            let first = points[0];
            let known = product.variants.get(variant).map_or(VariantId(3), |variant| variant.id);
            points.insert(0, PricePoint {
                observed_at: Timestamp::from_micros(number),
                variant: known,
                event: PriceEvent::ALL[event],
                price_minor,
                available: price_minor.map(|_| available),
                source: PriceSource::ALL[source],
                ..first
            });
        }
        prop_assert_eq!(read_back(&product, &points), points);
    }
}

#[test]
fn what_is_known_of_delivery_changes_the_release_and_no_part() {
    let dir = tempfile::tempdir().unwrap();
    let mut stores = [catalogue(0, 1, 5), catalogue(1, 1, 5)];
    let first = build(None, &stores, 1_000, dir.path());
    let samples = [
        sample(110_001, (1, 2)),
        sample(560_001, (2, 3)),
        sample(560_034, (2, 5)),
    ];
    stores[1].facts.delivery = write_delivery(dir.path(), &samples, &[]).unwrap();
    let second = build(Some(&first), &stores, 1_000, dir.path());
    assert_ne!(second.id, first.id);
    assert_eq!(second.parts, first.parts);
    assert!(
        second
            .files()
            .any(|file| Some(file) == stores[1].facts.delivery.as_ref())
    );
    let release = open(&second, dir.path());
    assert_eq!(release.pincodes_covered(), 3);
    assert!(release.delivery(0).is_none() && release.delivery(9).is_none());
    let matrix = release.delivery(1).unwrap();
    let days = |pincode: &str| {
        let found = matrix.get(pincode.parse().unwrap())?;
        Some((found.days_min?, found.days_max?, found.zone))
    };
    assert_eq!(days("110001"), Some((1, 2, None)));
    assert_eq!(days("560034"), Some((2, 5, Some("metro"))));
    assert_eq!(days("560035"), None);
    let district = |pincode: &str| matrix.district(pincode.parse().unwrap()).len();
    assert_eq!((district("560999"), district("110001"), district("999999")), (2, 1, 0));
    assert_eq!(write_delivery(dir.path(), &[], &[]).unwrap(), None);
}

#[test]
fn a_damaged_delivery_file_is_an_error_when_opened() {
    let dir = tempfile::tempdir().unwrap();
    let mut stores = [catalogue(0, 1, 2)];
    stores[0].facts.delivery = write_delivery(dir.path(), &[sample(110_001, (1, 2))], &[]).unwrap();
    let manifest = build(None, &stores, 1_000, dir.path());
    let file = dir
        .path()
        .join(stores[0].facts.delivery.as_ref().unwrap().sha256.to_string());
    let whole = std::fs::read(&file).unwrap();
    for damaged in [whole[..whole.len() - 1].to_vec(), vec![0; whole.len()]] {
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, damaged).unwrap();
        assert!(LocalRelease::in_directory(manifest.clone(), dir.path()).open().is_err());
    }
}

#[test]
fn damage_to_a_delivery_file_names_its_store() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut stores = [catalogue(0, 1, 2), catalogue(1, 1, 2)];
    stores[1].facts.delivery = write_delivery(dir.path(), &[sample(110_001, (1, 2))], &[]).unwrap();
    let manifest = build(None, &stores, 1_000, dir.path());
    let releases = data_release::ReleaseStore::new(data_storage::Storage::memory(), kit::SetClock::noon());
    // No file was uploaded, so that every file is missing.
    let damage = runtime.block_on(releases.verify(&manifest)).unwrap();
    let delivery = damage.iter().find(|one| one.name == "delivery.arrow").unwrap();
    assert_eq!(delivery.stores, [stores[1].facts.brand.store.clone()]);
    assert!(
        delivery
            .to_string()
            .ends_with("(delivery.arrow of the stores s001.example)"),
        "{delivery}"
    );
}
