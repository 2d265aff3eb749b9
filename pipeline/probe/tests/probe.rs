//! Probes emulated stores with known delivery rules over several days and compares the lake with these rules.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::BTreeSet;
use std::sync::Arc;

use data_lake::{Lake, LakeConfig, RunSummaryRow};
use data_model::{Brand, Clock, Product, Variant};
use data_pincodes::directory;
use data_storage::Storage;
use emulator::{CartFunction, Emulator, EmulatorConfig, RunningStores, Source, StoreAddress, ZoneKind, ZoneRules};
use kit::SetClock;
use pipeline_probe::{ProbeError, ProbeOptions, ProbeOutcome, ProbeReport, probe};
use pipeline_task::StoreDeps;
use serde_json::Value;
use storefront::{FetchOutcome, Storefront, StorefrontConfig};

struct Rig {
    running: RunningStores,
    stores: Vec<StoreAddress>,
    deps: StoreDeps,
    clock: Arc<SetClock>,
}

impl Rig {
    /// Starts one rupee store per kind of delivery rule and adds all of them to the lake.
    async fn new() -> Self {
        let source = Source::Generated {
            products: 400,
            stores: 40,
            seed: 7,
        };
        let running = Emulator::start(EmulatorConfig::new(source)).await.unwrap();
        let stores: Vec<StoreAddress> = running
            .stores()
            .iter()
            .filter(|store| store.currency == "INR")
            .cloned()
            .collect();
        let stores = stores[..ZoneKind::ALL.len()].to_vec();
        let clock = SetClock::at("2026-11-21T00:00:00Z");
        let config = StorefrontConfig {
            allow_loopback: true,
            rate_start_per_s: 2_000.0,
            rate_max_per_s: 2_000.0,
            ..StorefrontConfig::default()
        };
        let storefront = Storefront::new(config, Arc::clone(&clock) as Arc<dyn Clock>).unwrap();
        let (storage, told) = (Storage::memory(), Arc::clone(&clock) as Arc<dyn Clock>);
        let lake = Lake::open(storage.clone(), LakeConfig::default(), Arc::clone(&told));
        let lake = lake.await.unwrap();
        let mut refreshes = Vec::new();
        for (store, kind) in stores.iter().zip(ZoneKind::ALL) {
            running
                .set_zone_rules(&store.slug, Some(ZoneRules { kind, seed: 2 }))
                .unwrap();
            let brand = Brand {
                base_url: store.base_url.clone(),
                store: store.myshopify_domain.parse().unwrap(),
                ..kit::brand(&store.slug)
            };
            let products = catalogue(&storefront, &brand).await;
            refreshes.push(kit::refresh(brand, 1, clock.now(), products));
        }
        let run = RunSummaryRow::new(refreshes[0].run.clone(), clock.now());
        lake.commit(refreshes, run).await.unwrap();
        let deps = StoreDeps::new(storage, lake, storefront, told);
        Self {
            running,
            stores,
            deps,
            clock,
        }
    }

    async fn probe(&self, options: &ProbeOptions) -> ProbeReport {
        probe(&self.deps, options).await.unwrap()
    }
}

/// Returns the store's products as a crawl would find them.
async fn catalogue(storefront: &Storefront, brand: &Brand) -> Vec<Product> {
    let store = storefront.store(&brand.base_url.parse().unwrap()).unwrap();
    let FetchOutcome::Body(page) = store.products_page(1, 250, None).await.unwrap() else {
        return Vec::new();
    };
    let page: Value = serde_json::from_slice(&page.bytes).unwrap();
    let variant = |told: &Value| Variant {
        available: told["available"].as_bool().unwrap(),
        grams: told["grams"]
            .as_u64()
            .and_then(|grams| u32::try_from(grams).ok())
            .filter(|grams| *grams > 0),
        ..kit::variant(
            told["id"].as_u64().unwrap(),
            told["price"].as_str().unwrap().replace('.', "").parse().unwrap(),
        )
    };
    let product = |told: &Value| Product {
        variants: told["variants"].as_array().unwrap().iter().map(variant).collect(),
        ..kit::product(brand, told["id"].as_u64().unwrap(), told["title"].as_str().unwrap())
    };
    let mut products: Vec<Product> = page["products"].as_array().unwrap().iter().map(product).collect();
    products.sort_by_key(|product| product.key.platform_id);
    products
}

/// Known answers must follow from the store's rules.
fn answered_by_rules(known: &data_model::KnownDelivery, rules: ZoneRules) {
    let kind = rules.kind;
    for probe in &known.probes {
        let (goods, grams) = (
            probe.goods_minor.cast_unsigned(),
            probe.grams.unwrap_or(0).cast_unsigned(),
        );
        let quotes = rules.quotes(probe.pincode.number(), goods, grams);
        let quoted: Vec<_> = quotes
            .iter()
            .map(|quote| {
                (
                    quote.amount_minor.cast_signed(),
                    Some(quote.days_min),
                    Some(quote.days_max),
                )
            })
            .collect();
        let answered: Vec<_> = probe
            .options
            .iter()
            .map(|rate| (rate.amount_minor, rate.days_min, rate.days_max))
            .collect();
        assert_eq!(answered, quoted, "{kind:?} {probe:?}");
    }
}

/// Zones with high confidence must match the store's rules.
fn zones_are_by_rules(known: &data_model::KnownDelivery, rules: ZoneRules) {
    let kind = rules.kind;
    for zone in known
        .zones
        .iter()
        .filter(|zone| zone.confidence == data_model::Confidence::High)
    {
        let areas: BTreeSet<&str> = zone.areas.iter().map(String::as_str).collect();
        for (pincode, area) in directory().pincodes() {
            if areas.contains(&*directory().get(area).unwrap().name) {
                let quotes = rules.quotes(pincode.number(), 100_000, 100);
                let days = quotes.first().map(|quote| quote.days_max);
                assert_eq!(days, zone.days_max, "{kind:?} {pincode}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_are_asked_over_days_and_what_they_answered_is_what_their_rules_say() {
    let rig = Rig::new().await;
    let options = ProbeOptions::default();
    let dry = ProbeOptions {
        dry_run: true,
        ..options.clone()
    };
    let told = rig.probe(&dry).await;
    assert_eq!((told.brands.len(), told.asked()), (8, 8 * 40));
    let known = rig
        .deps
        .lake
        .snapshot()
        .await
        .unwrap()
        .known_delivery(None)
        .await
        .unwrap();
    assert!(known.is_empty(), "a dry run asks nothing");

    let mut days = 0;
    loop {
        let report = rig.probe(&options).await;
        assert_eq!(report.count(ProbeOutcome::Failed), 0, "{report:?}");
        assert!(report.brands.iter().all(|brand| brand.asked <= 40), "{report:?}");
        // The day's budget is used up for named brands too.
        assert_eq!(rig.probe(&options).await.asked(), 0);
        days += 1;
        if report.count(ProbeOutcome::Complete) == 8 {
            break;
        }
        assert!(days < 10, "{report:?}");
        rig.clock.advance_ms(25 * 3_600_000);
    }
    assert!(days >= 3, "{days}");

    let snapshot = rig.deps.lake.snapshot().await.unwrap();
    let known = snapshot.known_delivery(None).await.unwrap();
    for (store, kind) in rig.stores.iter().zip(ZoneKind::ALL) {
        let rules = ZoneRules { kind, seed: 2 };
        let known = &known[&store.myshopify_domain.parse().unwrap()];
        assert!(known.probes.len() < 150, "{kind:?}: {}", known.probes.len());
        answered_by_rules(known, rules);
        assert_eq!(known.zones.is_empty(), kind == ZoneKind::Hidden, "{kind:?}");
        zones_are_by_rules(known, rules);
    }
    // The carts were emptied, and no store received a checkout request.
    for store in &rig.stores {
        let asked = rig.running.requests(&store.slug).unwrap();
        assert!(
            asked.count_by_path.keys().all(|path| !path.contains("checkout")),
            "{asked:?}"
        );
        assert_eq!(
            asked.calls.get("cartLinesRemove"),
            asked.calls.get("cartCreate"),
            "{:?}",
            asked.calls
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_abroad_is_asked_once_whether_it_sends_to_india() {
    let rig = Rig::new().await;
    let abroad = rig.running.stores().into_iter().find(|store| store.currency != "INR");
    let abroad = abroad.unwrap();
    let brand = Brand {
        base_url: abroad.base_url.clone(),
        store: abroad.myshopify_domain.parse().unwrap(),
        currency: abroad.currency.parse().unwrap(),
        ..kit::brand(&abroad.slug)
    };
    let store = brand.store.clone();
    let refresh = kit::refresh(brand, 2, rig.clock.now(), Vec::new());
    let run = RunSummaryRow::new(refresh.run.clone(), rig.clock.now());
    rig.deps.lake.commit(vec![refresh], run).await.unwrap();
    let options = ProbeOptions {
        only: Some(BTreeSet::from([abroad.slug.parse().unwrap()])),
        ..ProbeOptions::default()
    };
    let report = rig.probe(&options).await;
    assert_eq!(
        (report.asked(), report.count(ProbeOutcome::Abroad)),
        (1, 1),
        "{report:?}"
    );
    assert_eq!(rig.probe(&options).await.asked(), 0, "its answer holds");
    let snapshot = rig.deps.lake.snapshot().await.unwrap();
    let zones = snapshot.delivery_zones(None).await.unwrap();
    let told: Vec<_> = zones[&store]
        .iter()
        .map(|zone| (zone.serviceable, zone.areas.len()))
        .collect();
    assert_eq!(told, [(Some(false), directory().areas().len())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_puts_a_gift_beside_the_goods_is_asked_all_the_same() {
    let rig = Rig::new().await;
    let store = &rig.stores[0];
    let brand = Brand {
        base_url: store.base_url.clone(),
        store: store.myshopify_domain.parse().unwrap(),
        ..kit::brand(&store.slug)
    };
    let mut products = catalogue(&rig.deps.storefront, &brand).await;
    for product in &mut products {
        product.variants.retain(|variant| variant.available);
    }
    products.retain(|product| !product.variants.is_empty());
    products.truncate(2);
    let free = products.pop().unwrap().variants[0].id.0;
    products[0].variants.truncate(1);
    let with = products[0].variants[0].id.0;
    for variant in [with, free] {
        rig.running.set_stock(&store.slug, variant, 500).unwrap();
    }
    let gift = CartFunction::Gift { with, free };
    rig.running.set_cart_function(&store.slug, Some(gift)).unwrap();
    let refresh = kit::refresh(brand, 2, rig.clock.now(), products);
    let run = RunSummaryRow::new(refresh.run.clone(), rig.clock.now());
    rig.deps.lake.commit(vec![refresh], run).await.unwrap();
    let options = ProbeOptions {
        only: Some(BTreeSet::from([store.slug.parse().unwrap()])),
        ..ProbeOptions::default()
    };
    let report = rig.probe(&options).await;
    assert_eq!(report.count(ProbeOutcome::Failed), 0, "{report:?}");
    assert!(report.asked() > 1, "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_asks_no_more_than_it_may_of_all_stores_together() {
    let rig = Rig::new().await;
    let options = ProbeOptions {
        budget_per_run: 50,
        stores_concurrent: 1,
        ..ProbeOptions::default()
    };
    let report = rig.probe(&options).await;
    assert_eq!(report.asked(), 50, "{report:?}");
    assert_eq!(report.count(ProbeOutcome::BudgetUsed), 8, "{report:?}");
    // The next run continues with the brands that this run did not query.
    let report = rig.probe(&options).await;
    assert_eq!(report.asked(), 50, "{report:?}");
    assert_eq!(report.brands[0].asked, 0, "its day is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brand_that_the_lake_does_not_have_is_named() {
    let rig = Rig::new().await;
    let options = ProbeOptions {
        only: Some(BTreeSet::from(["no-such-brand".parse().unwrap()])),
        ..ProbeOptions::default()
    };
    let refused = probe(&rig.deps, &options).await.unwrap_err();
    assert!(matches!(refused, ProbeError::UnknownBrand { slug } if slug == "no-such-brand"));
}
