use std::collections::{BTreeMap, BTreeSet};

use data_model::{CategoryId, DeliverySample, ProductId, ShippingPolicy};
use proptest::prelude::*;
use query_server::schema::{BrowseAnswer, CardDelivery, ProductAnswer, ProductCard, SearchAnswer, ShippingAnswer};
use serde_json::json;

use crate::browse_faults::fault;
use crate::catalogue::{brand, product, small};
use crate::support::{Catalogue, Market, Observed};

fn policy(threshold: Option<i64>, cod: Option<bool>, days: Option<(u16, u16)>) -> ShippingPolicy {
    let standard = |(min, max): (u16, u16)| json!({ "name": "Standard", "amount_minor": 5_000, "min_order_minor": null, "max_order_minor": null, "days_min": min, "days_max": max });
    let tiers: Vec<_> = days.map(standard).into_iter().collect();
    let terms =
        json!({ "currency": "INR", "free_shipping_threshold_minor": threshold, "cod_available": cod, "tiers": tiers });
    serde_json::from_value(terms).unwrap()
}

fn sample(
    pincode: &str,
    serviceable: Option<bool>,
    zone: Option<&str>,
    days: (Option<u16>, Option<u16>),
) -> DeliverySample {
    DeliverySample {
        pincode: pincode.parse().unwrap(),
        serviceable,
        zone: zone.map(str::to_owned),
        days_min: days.0,
        days_max: days.1,
        sampled_at: "2026-11-15T00:00:00Z".parse().unwrap(),
    }
}

/// Creates a market with delivery facts. Blue Tokai has answered for three pincodes and has terms. Loom & Thread has
/// only terms. Kissaten has no terms.
async fn delivering() -> Market {
    let mut catalogue = small();
    for (facts, _) in &mut catalogue {
        facts.shipping = match facts.brand.name.as_str() {
            "Blue Tokai" => Some(policy(Some(55_000), Some(true), Some((3, 5)))),
            "Loom & Thread" => Some(policy(None, Some(false), Some((4, 6)))),
            _ => None,
        };
    }
    let days = |min, max| (Some(min), Some(max));
    let tokai = vec![
        sample("560001", Some(true), Some("metro"), days(1, 2)),
        sample("744301", Some(false), None, (None, None)),
    ];
    let observed = Observed {
        delivery: BTreeMap::from([("blue-tokai", tokai)]),
        ..Observed::default()
    };
    Market::observed(&catalogue, &observed).await
}

fn told(card: &ProductCard<'static>) -> String {
    let Some(delivery) = &card.delivery else {
        return format!("{}: no delivery", card.title);
    };
    let CardDelivery {
        days_min,
        days_max,
        serviceable,
        cod,
        free_shipping,
    } = delivery;
    format!(
        "{}: {days_min:?}-{days_max:?} serviceable {serviceable:?} cod {cod:?} free {free_shipping:?}",
        card.title
    )
}

async fn searched(market: &Market, query: &str) -> Vec<ProductCard<'static>> {
    market
        .get(&format!("/v1/search?{query}"))
        .await
        .read::<SearchAnswer<'static>>()
        .data
}

#[tokio::test]
async fn a_card_tells_what_is_known_of_delivery_to_the_pincode_and_nothing_else() {
    let market = delivering().await;
    let mut lines = Vec::new();
    for pincode in ["560001", "744301"] {
        let mut cards = searched(&market, &format!("pincode={pincode}")).await;
        cards.sort_by(|one, other| one.title.cmp(&other.title));
        lines.push(format!("to {pincode}"));
        lines.extend(cards.iter().map(told));
    }
    // Vienna Roast has prices below and above the threshold. If a store does not deliver, all other facts are null.
    insta::assert_snapshot!(lines.join("\n"), @"
    to 560001
    Attikan Estate Coffee: Some(1)-Some(2) serviceable Some(true) cod Some(true) free Some(true)
    Café Apron — ग्रीन: Some(4)-Some(6) serviceable None cod Some(false) free None
    Coffee Gift Crate: Some(1)-Some(2) serviceable Some(true) cod Some(true) free Some(true)
    Cold Brew Bags: Some(1)-Some(2) serviceable Some(true) cod Some(true) free Some(true)
    Cotton Shirt: Some(4)-Some(6) serviceable None cod Some(false) free None
    Drip Coffee Kettle: None-None serviceable None cod None free None
    Linen Shirt: Some(4)-Some(6) serviceable None cod Some(false) free None
    Paper Filter 100 pcs: None-None serviceable None cod None free None
    Vienna Roast Coffee: Some(1)-Some(2) serviceable Some(true) cod Some(true) free None
    to 744301
    Attikan Estate Coffee: None-None serviceable Some(false) cod None free None
    Café Apron — ग्रीन: Some(4)-Some(6) serviceable None cod Some(false) free None
    Coffee Gift Crate: None-None serviceable Some(false) cod None free None
    Cold Brew Bags: None-None serviceable Some(false) cod None free None
    Cotton Shirt: Some(4)-Some(6) serviceable None cod Some(false) free None
    Drip Coffee Kettle: None-None serviceable None cod None free None
    Linen Shirt: Some(4)-Some(6) serviceable None cod Some(false) free None
    Paper Filter 100 pcs: None-None serviceable None cod None free None
    Vienna Roast Coffee: None-None serviceable Some(false) cod None free None
    ");
}

#[tokio::test]
async fn a_card_is_as_it_was_where_no_pincode_is_asked() {
    let market = delivering().await;
    let without = market.body("/v1/search?q=cold+brew&limit=1").await;
    assert!(!without.contains("delivery"), "{without}");
    let with = market.body("/v1/search?q=cold+brew&limit=1&pincode=560001").await;
    let delivery = r#",
      "delivery": {
        "days_min": 1,
        "days_max": 2,
        "serviceable": true,
        "cod": true,
        "free_shipping": true
      }"#;
    assert!(with.contains(delivery), "{with}");
    assert_eq!(with.replace(delivery, ""), without);
}

#[tokio::test]
async fn a_product_has_the_delivery_of_its_card() {
    let market = delivering().await;
    let card = searched(&market, "q=cold+brew&pincode=560001").await.remove(0);
    let path = format!("/v1/products/{}", card.id);
    let product: ProductAnswer<'static> = market
        .get(&format!("{path}?include=offers&pincode=560001"))
        .await
        .read();
    assert!(product.data.delivery.is_some() && product.data.delivery == card.delivery);
    assert_eq!(
        market.get(&path).await.read::<ProductAnswer<'static>>().data.delivery,
        None
    );
    let folded = market
        .get("/v1/browse?brand=loom-thread&fold=color&pincode=560001")
        .await;
    let folded: BrowseAnswer<'static> = folded.read();
    assert!(
        folded
            .data
            .items
            .iter()
            .all(|card| card.delivery.is_some() && card.swatches.is_some())
    );
}

#[tokio::test]
async fn only_what_is_known_to_be_there_in_time_passes() {
    let market = delivering().await;
    let brands = async |query: &str| -> BTreeSet<String> {
        let cards = searched(&market, query).await;
        cards.into_iter().map(|card| card.brand_slug.into_owned()).collect()
    };
    // The date in the market is 21 November.
    let of = |slugs: &[&str]| slugs.iter().map(|slug| (*slug).to_owned()).collect::<BTreeSet<_>>();
    for (pincode, by, slugs) in [
        ("560001", "2026-11-22", of(&[])),
        ("560001", "2026-11-23", of(&["blue-tokai"])),
        ("560001", "2026-11-26", of(&["blue-tokai"])),
        ("560001", "2026-11-27", of(&["blue-tokai", "loom-thread"])),
        ("744301", "2026-12-31", of(&["loom-thread"])),
        ("560001", "2001-01-01", of(&[])),
    ] {
        assert_eq!(
            brands(&format!("pincode={pincode}&deliver_by={by}")).await,
            slugs,
            "{pincode} {by}"
        );
    }
    let page: BrowseAnswer<'static> = market
        .get("/v1/browse?category=coffee&pincode=560001&deliver_by=2026-11-22")
        .await
        .read();
    assert!(page.data.items.is_empty());
}

#[tokio::test]
async fn every_fault_of_a_pincode_or_a_date_is_named() {
    let market = delivering().await;
    let id = searched(&market, "limit=1").await.remove(0).id;
    for path in [
        "/v1/search?",
        "/v1/browse?brand=blue-tokai&",
        "/v1/brands/blue-tokai/products?",
    ] {
        for (query, field, kind) in [
            ("deliver_by=2026-11-23", "pincode", "missing"),
            ("pincode=012345", "pincode", "string_pattern_mismatch"),
            ("pincode=&deliver_by=2026-11-23", "pincode", "missing"),
            ("pincode=560001&deliver_by=23.11.2026", "deliver_by", "value_error"),
            ("pincode=560001&deliver_by=2026-02-30", "deliver_by", "value_error"),
        ] {
            let answered = market.get(&format!("{path}{query}")).await;
            assert_eq!(
                fault(&answered),
                (json!(["query", field]), kind.to_owned()),
                "{path}{query}"
            );
        }
    }
    let answered = market.get(&format!("/v1/products/{id}?pincode=x")).await;
    assert_eq!(
        fault(&answered),
        (json!(["query", "pincode"]), "string_pattern_mismatch".to_owned())
    );
}

#[tokio::test]
async fn a_cursor_is_good_for_the_same_pincode_and_date() {
    let market = delivering().await;
    let page = async |rest: &str| market.get(&format!("/v1/browse?brand=blue-tokai&limit=1{rest}")).await;
    let cursor = async |rest: &str| {
        page(rest)
            .await
            .read::<BrowseAnswer<'static>>()
            .data
            .next_cursor
            .unwrap()
    };
    let (plain, there, by) = ("", "&pincode=560001", "&pincode=560001&deliver_by=2026-11-25");
    let lists = [
        plain,
        there,
        by,
        "&pincode=110001",
        "&pincode=560001&deliver_by=2026-11-24",
    ];
    for list in [plain, there, by] {
        let cursor = cursor(list).await;
        for other in lists {
            let answered = page(&format!("{other}&cursor={cursor}")).await;
            assert_eq!(answered.status == 200, other == list, "{list} {other}");
        }
    }
}

const SLUGS: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];
const PINCODES: [&str; 6] = ["560001", "560002", "560100", "110001", "110002", "744301"];

/// Delivery facts of a brand: the shipping terms, and the store's answers for pincodes.
type DeliveryFacts = (Option<ShippingPolicy>, BTreeMap<&'static str, DeliverySample>);

fn any_known() -> impl Strategy<Value = DeliveryFacts> {
    let days = || (0..9_u16, 0..5_u16).prop_map(|(min, more)| (min, min + more));
    let terms = prop::option::of(prop::option::of(days()).prop_map(|days| policy(Some(20_000), None, days)));
    let bounds = prop_oneof![
        4 => days().prop_map(|(min, max)| (Some(min), Some(max))),
        1 => (0..9_u16).prop_map(|min| (Some(min), None)),
        1 => (0..9_u16).prop_map(|max| (None, Some(max))),
        1 => Just((None, None)),
        1 => Just((Some(5), Some(2))),
    ];
    let serviceable = prop_oneof![Just(None), Just(Some(true)), Just(Some(false))];
    let zone = prop_oneof![Just(None), Just(Some("near")), Just(Some("far"))];
    let answered = (prop::sample::select(&PINCODES[..]), serviceable, zone, bounds)
        .prop_map(|(pincode, serviceable, zone, days)| (pincode, sample(pincode, serviceable, zone, days)));
    let samples = prop::collection::vec(answered, 0..5).prop_map(|samples| samples.into_iter().collect());
    (terms, samples)
}

fn released(known: &[DeliveryFacts]) -> (Catalogue, Observed) {
    let mut observed = Observed::default();
    let mut catalogue = Catalogue::new();
    for (at, (slug, (terms, samples))) in SLUGS.iter().zip(known).enumerate() {
        let mut facts = brand(slug, "INR");
        facts.shipping = terms.clone();
        let mut sorted: Vec<DeliverySample> = samples.values().cloned().collect();
        sorted.sort_by_key(|sample| sample.pincode);
        observed.delivery.insert(slug, sorted);
        let products = (0..=at as u64).map(|of_brand| {
            let mut product = product(&facts, 10 * at as u64 + of_brand, &format!("Coffee {slug} {of_brand}"));
            product.category = Some(CategoryId(1868));
            product
        });
        let products = products.collect();
        catalogue.push((facts, products));
    }
    (catalogue, observed)
}

/// Returns the products that arrive by the given day according to `GET /v1/shipping`.
async fn in_time(market: &Market, all: &[ProductCard<'static>], pincode: &str, by: &str) -> BTreeSet<ProductId> {
    let mut ids = BTreeSet::new();
    for card in all {
        let path = format!("/v1/shipping?product={}&pincode={pincode}", card.id);
        let delivery = market.get(&path).await.read::<ShippingAnswer<'static>>().data.delivery;
        let is_there = delivery.latest_date.is_some_and(|latest| latest.as_ref() <= by);
        if is_there && delivery.serviceable != Some(false) {
            ids.insert(card.id);
        }
    }
    ids
}

async fn holds(known: &[DeliveryFacts], days: &[u32]) -> Result<(), TestCaseError> {
    let (catalogue, observed) = released(known);
    let market = Market::observed(&catalogue, &observed).await;
    let ids = |cards: &[ProductCard<'static>]| cards.iter().map(|card| card.id).collect::<BTreeSet<_>>();
    let all = searched(&market, "limit=40").await;
    prop_assert_eq!(all.len(), 15);
    for (pincode, day) in PINCODES.iter().zip(days) {
        let by = format!("2026-11-{}", 20 + day);
        let expected = in_time(&market, &all, pincode, &by).await;
        let filter = format!("pincode={pincode}&deliver_by={by}");
        for asked in [
            "",
            "q=coffee&",
            "q=coffee&mode=lexical&",
            "q=coffee&mode=semantic&",
            "sort=price_asc&",
        ] {
            let found = searched(&market, &format!("{asked}limit=40&{filter}")).await;
            prop_assert_eq!(&ids(&found), &expected, "{}{}", asked, filter);
        }
        let page: BrowseAnswer<'static> = market
            .get(&format!("/v1/browse?category=coffee&limit=60&{filter}"))
            .await
            .read();
        prop_assert_eq!(&ids(&page.data.items), &expected);
        let brands = page.data.facets.iter().find(|facet| facet.name == "brand");
        let counted: u64 = brands.map_or(0, |brands| {
            brands.values.iter().map(|value| u64::from(value.count)).sum()
        });
        prop_assert_eq!(counted, expected.len() as u64);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_filter_by_date_keeps_what_shipping_tells_of_each_product(
        known in prop::collection::vec(any_known(), 5), days in prop::collection::vec(0_u32..10, 6)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(holds(&known, &days))?;
    }
}
