//! Refreshes emulated stores over HTTP, with every known fault of real stores and with changing catalogues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use data_lake::Lake;
use data_model::Clock;
use data_storage::Storage;
use emulator::{DiscountPlacement, Emulator, EmulatorConfig, Fault, RunningStores, Source};
use futures::TryStreamExt;
use kit::ShiftedClock;
use pipeline_crawl::{NewBrand, NoProgress, Registry};
use pipeline_refresh::{HoldReason, OtherCrawls, Outcome, RefreshConfig, RefreshDeps, RunOptions, RunReport, refresh};
use pipeline_task::StoreDeps;
use storefront::{Storefront, StorefrontConfig};

use crate::support::lake;

struct Market {
    running: RunningStores,
    storage: Storage,
    clock: Arc<ShiftedClock>,
}

impl Market {
    async fn open(products: u64, stores: u32) -> Self {
        let source = Source::Generated {
            products,
            stores,
            seed: 7,
        };
        let running = Emulator::start(EmulatorConfig::new(source)).await.unwrap();
        let (storage, clock) = (Storage::memory(), ShiftedClock::new());
        let brands: Vec<_> = running
            .stores()
            .into_iter()
            .map(|store| NewBrand {
                store: Some(store.myshopify_domain.parse().unwrap()),
                name: Some(store.name),
                ..NewBrand::at(store.base_url.parse().unwrap())
            })
            .collect();
        let mut registry = Registry::load(&storage).await.unwrap();
        registry.add(&storage, &brands, clock.now()).await.unwrap();
        Self {
            running,
            storage,
            clock,
        }
    }

    async fn lake(&self) -> Lake {
        lake(&self.storage, Arc::clone(&self.clock) as Arc<dyn Clock>).await
    }

    /// Long timeouts keep a busy machine from failing the run.
    async fn run(&self) -> RunReport {
        self.run_patiently(None).await
    }

    /// Runs only these stores if any are named.
    async fn run_patiently(&self, only: Option<&[String]>) -> RunReport {
        let registry = Registry::load(&self.storage).await.unwrap();
        let brands = registry.brands().into_iter();
        let named = |hosts: &[String]| {
            let brands = brands.filter(|brand| hosts.iter().any(|host| host == brand.store.as_str()));
            brands.map(|brand| brand.slug.clone()).collect()
        };
        let options = RunOptions {
            only: only.map(named),
            ..RunOptions::default()
        };
        self.run_within(30_000, &options).await
    }

    async fn run_within(&self, request_timeout_ms: u64, options: &RunOptions) -> RunReport {
        self.clock.advance_ms(1000);
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let config = StorefrontConfig {
            retries_max: 0,
            request_timeout_ms,
            decoded_bytes_max: 8 << 20,
            ..StorefrontConfig::loopback()
        };
        let storefront = Storefront::new(config, Arc::clone(&clock)).unwrap();
        let deps = RefreshDeps {
            stores: StoreDeps::new(self.storage.clone(), self.lake().await, storefront, clock),
            others: OtherCrawls::Absent,
            progress: Arc::new(NoProgress),
        };
        let config = RefreshConfig {
            tick_ms: 50,
            ..RefreshConfig::default()
        };
        refresh(options, &config, &deps).await.unwrap()
    }

    /// Returns currency and price of each of a store's variants in the lake, by Shopify id.
    async fn prices(&self, host: &str) -> BTreeMap<u64, (String, i64)> {
        let snapshot = self.lake().await.snapshot().await.unwrap();
        let stores = BTreeSet::from([host.parse().unwrap()]);
        let products: Vec<_> = snapshot.products(&stores).await.unwrap().try_collect().await.unwrap();
        let prices = products.iter().flat_map(|product| {
            let currency = product.currency.to_string();
            let of = move |variant: &data_model::Variant| (variant.id.0, (currency.clone(), variant.price_minor));
            product.variants.iter().map(of)
        });
        prices.collect()
    }

    /// Returns the number of products of each brand in the lake, by the store's name in the emulator.
    async fn counts(&self) -> BTreeMap<String, u64> {
        let brands = self.lake().await.snapshot().await.unwrap().brands().await.unwrap();
        let count = |store: emulator::StoreAddress| {
            let brand = brands
                .iter()
                .find(|row| row.brand.store.as_str() == store.myshopify_domain);
            (store.slug, brand.map_or(0, |row| row.product_count))
        };
        self.running.stores().into_iter().map(count).collect()
    }
}

fn outcome_of<'a>(report: &'a RunReport, host: &str) -> &'a Outcome {
    &report
        .stores
        .iter()
        .find(|store| store.store.as_str() == host)
        .unwrap()
        .outcome
}

/// Returns the faults that prevent a store from being read, with the expected error codes.
fn failing() -> [(Fault, &'static str); 17] {
    let status = |status| Fault::Status {
        status,
        retry_after_s: None,
    };
    [
        (status(429), "throttled"),
        (status(430), "throttled"),
        (status(402), "suspended"),
        (status(500), "status"),
        (Fault::Challenge, "challenged"),
        (Fault::Slow { delay_ms: 600_000 }, "timeout"),
        (
            Fault::Drip {
                chunk_bytes: 1,
                delay_ms: 10_000,
            },
            "timeout",
        ),
        (Fault::HtmlForJson, "not_json"),
        (Fault::PasswordPage, "password_page"),
        (Fault::CatalogueClosed { status: 404 }, "catalogue_closed"),
        (
            Fault::GzipBomb {
                decoded_bytes: 64 << 20,
            },
            "too_large",
        ),
        (Fault::EndlessPages, "endless"),
        (Fault::RedirectLoop, "redirect"),
        (
            Fault::RedirectTo {
                location: "http://10.0.0.1/".into(),
            },
            "address_refused",
        ),
        (Fault::BrokenJson, "truncated"),
        (Fault::RobotsDisallow, "robots_disallowed"),
        (Fault::RobotsUnavailable, "robots_unavailable"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_wrong_with_a_store_its_products_stay_and_its_neighbour_is_read() {
    let market = Market::open(1_200, 2).await;
    assert_eq!(market.run().await.totals.changed, 2);
    let before = market.counts().await;
    let stores = market.running.stores();
    assert!(
        stores
            .iter()
            .all(|store| before[&store.slug] == store.products && store.products > 250),
        "{before:?}"
    );
    let (sick, well) = (&stores[0], &stores[1]);
    for (fault, expected) in failing() {
        market.running.set_fault(&sick.slug, fault.clone()).unwrap();
        let wait_ms = if expected == "timeout" { 5_000 } else { 30_000 };
        let report = market.run_within(wait_ms, &RunOptions::default()).await;
        match outcome_of(&report, &sick.myshopify_domain) {
            Outcome::Failed { code, reason } => assert_eq!(code, expected, "{fault:?}: {reason}"),
            other => panic!("{fault:?}: {other:?}"),
        }
        assert_eq!(
            outcome_of(&report, &well.myshopify_domain),
            &Outcome::Unchanged,
            "{fault:?}"
        );
        assert_eq!(
            (report.commits, market.counts().await),
            (0, before.clone()),
            "{fault:?}"
        );
    }
    market
        .running
        .set_fault(&sick.slug, Fault::Collapsed { keep: 3 })
        .unwrap();
    let held = Outcome::HeldBack {
        products_before: sick.products,
        products_found: 3,
        doubt: Some(HoldReason::Shrank),
        affected: None,
        currencies: None,
    };
    assert_eq!(outcome_of(&market.run().await, &sick.myshopify_domain), &held);
    market.running.set_fault(&sick.slug, None).unwrap();
    let report = market.run().await;
    assert_eq!(
        (report.totals.unchanged, report.commits, market.counts().await),
        (2, 0, before)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_stores_are_read_all_the_same() {
    let odd = [
        Fault::ForgetsValidators,
        Fault::NoValidators,
        Fault::ShiftingPages { by: 3 },
        Fault::ShiftingPages { by: -3 },
        Fault::InvalidUtf8,
        Fault::NonsenseRecords { every: 50 },
        Fault::HugeRecord { bytes: 1 << 20 },
    ];
    for fault in odd {
        let market = Market::open(600, 1).await;
        let store = market.running.stores().remove(0);
        market.running.set_fault(&store.slug, fault.clone()).unwrap();
        let report = market.run().await;
        assert_eq!(report.totals.failed, 0, "{fault:?}: {report:?}");
        let count = market.counts().await[&store.slug];
        // A strange record may still parse as a product, and a listing that moves may show new products at its start.
        // All other products must be there.
        let more = if matches!(fault, Fault::ShiftingPages { .. }) {
            50
        } else {
            5
        };
        assert!(
            (store.products..store.products + more).contains(&count),
            "{fault:?}: {count} of {}",
            store.products
        );
        if matches!(fault, Fault::NonsenseRecords { .. }) {
            assert!(report.totals.quarantined > 0, "{report:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_catalogue_that_drifts_is_followed_and_one_that_does_not_costs_nothing() {
    let market = Market::open(900, 6).await;
    market.run().await;
    let brands = market.counts().await;
    market.running.advance(1);
    let report = market.run().await;
    assert!(report.totals.changed > 0 && report.totals.failed == 0, "{report:?}");
    let total: u64 = market.counts().await.values().sum();
    assert_eq!(total, brands.values().sum::<u64>());
    let versions = market.lake().await.snapshot().await.unwrap().versions().clone();
    let report = market.run().await;
    assert_eq!((report.totals.unchanged, report.commits), (6, 0));
    assert_eq!(market.lake().await.snapshot().await.unwrap().versions(), &versions);
}

/// Measures how long fast stores take next to slow ones, over sockets, and prints the times. The machine-independent
/// assertions are in `slow.rs`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures: run with --ignored --nocapture"]
async fn quick_stores_beside_forty_slow_ones_take_as_long_as_alone() {
    for slow in [0, 40] {
        let market = Market::open(44 * 100, 44).await;
        let stores = market.running.stores();
        for store in &stores[..slow] {
            let fault = Fault::Slow { delay_ms: 6_000 };
            market.running.set_fault(&store.slug, fault).unwrap();
        }
        let quick: Vec<String> = stores[40..]
            .iter()
            .map(|store| store.myshopify_domain.clone())
            .collect();
        let alone = (slow == 0).then_some(quick.as_slice());
        let report = market.run_patiently(alone).await;
        let times: Vec<_> = report
            .stores
            .iter()
            .filter(|store| quick.iter().any(|quick| quick == store.store.as_str()))
            .map(|store| (store.ended_at.millis_since(report.started_at), store.outcome.as_str()))
            .collect();
        println!("beside {slow} slow stores: {times:?}");
        assert_eq!(times.len(), 4);
    }
}

#[tokio::test]
async fn a_store_that_takes_its_reader_to_be_abroad_is_read_in_what_its_front_page_shows_and_the_report_says_so() {
    let (honest, market) = (Market::open(40, 2).await, Market::open(40, 2).await);
    let stores = market.running.stores();
    let dollars = Fault::Abroad {
        currency: "USD".to_owned(),
        rate_pct: 2,
    };
    market.running.set_fault(&stores[0].slug, dollars).unwrap();
    honest.run().await;
    let report = market.run().await;
    for (store, percent) in stores.iter().zip([2, 100]) {
        let host = store.myshopify_domain.as_str();
        assert_eq!(outcome_of(&report, host), &Outcome::Changed);
        let (found, own) = (market.prices(host).await, honest.prices(host).await);
        assert!(!own.is_empty());
        for (variant, (own, own_minor)) in own {
            let currency = if percent == 2 { "USD" } else { own.as_str() };
            assert_eq!(found[&variant], (currency.to_owned(), own_minor * percent / 100));
        }
    }
    let said = |host: &str| {
        let store = report.stores.iter().find(|store| store.store.as_str() == host);
        store.unwrap().foreign_prices.map(|prices| prices.to_string())
    };
    let sentence = "prices are shown in USD, but the store's own currency is INR: set storefront.country to the country whose \
        prices you want";
    assert_eq!(said(&stores[0].myshopify_domain).as_deref(), Some(sentence));
    assert_eq!(said(&stores[1].myshopify_domain), None);
    let shown = sentence.replace('\'', "&#39;");
    assert!(pipeline_refresh::render_html(&report).contains(&shown));
}

#[tokio::test]
async fn codes_that_stores_tell_on_their_bars_and_in_policies_are_read_and_no_other_words() {
    let market = Market::open(24, 24).await;
    let report = market.run_patiently(None).await;
    let (mut told, mut of_policies) = (0, 0);
    for store in market.running.stores() {
        let rules = market.running.discounts(&store.slug).unwrap();
        let codes = |place: DiscountPlacement| -> BTreeSet<String> {
            let rules = rules.iter().filter(move |rule| rule.told == place);
            rules.filter_map(|rule| rule.code.clone()).collect()
        };
        let stated = data_codes::load(&market.storage, &store.myshopify_domain.parse().unwrap()).await;
        let stated = stated.unwrap();
        let front: BTreeSet<String> = stated.front.codes.into_iter().map(|stated| stated.code).collect();
        let policies: BTreeSet<String> = stated.policies.codes.into_iter().map(|stated| stated.code).collect();
        assert!(
            stated.front.asked_at.is_some() && stated.policies.asked_at.is_some(),
            "{}",
            store.slug
        );
        assert_eq!(front, codes(DiscountPlacement::Announcement), "{}", store.slug);
        // A store without a shipping policy states no code in it.
        assert!(
            policies.is_subset(&codes(DiscountPlacement::Policy)),
            "{}: {policies:?}",
            store.slug
        );
        (told, of_policies) = (told + front.len(), of_policies + policies.len());
    }
    assert!(
        told > 12 && of_policies > 4,
        "{told} on bars, {of_policies} in policies"
    );
    assert_eq!(report.totals.codes.requests, 48);
    assert_eq!(report.totals.codes.codes, (told + of_policies) as u64);
}
