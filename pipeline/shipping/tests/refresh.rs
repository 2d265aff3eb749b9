//! Refreshes the shipping terms of an in-memory store and checks the resulting terms in the lake.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use data_lake::{Lake, LakeConfig, RunSummaryRow};
use data_model::{Brand, Clock, FactBasis, ShippingFactKind, ShippingPolicy, UnknownReason};
use data_storage::{ObjectStore, Storage};
use futures::StreamExt as _;
use http::{HeaderMap, StatusCode};
use kit::faulty::{FaultKind, FaultPlan, FaultyStore};
use kit::{Endpoint, EndpointScript, SetClock};
use language_model::ModelConfig;
use pipeline_crawl::{NewBrand, Registry};
use pipeline_shipping::{
    BrandShipping, ShippingConfig, ShippingOptions, ShippingReport, TermsModel, refresh_shipping, reread_shipping,
};
use pipeline_task::{RereadOptions, RereadOutcome, StoreDeps, TaskError};
use serde_json::json;
use storefront::{Storefront, StorefrontConfig, Transport, TransportError, TransportRequest, TransportResponse};

const BODY_BYTES_MAX: u64 = 64 << 10;

/// Texts of the store by path. `/policy` is the policy in its API.
#[derive(Debug, Clone, Default)]
struct Door(Arc<Mutex<StoreAnswers>>);

#[derive(Debug, Default)]
struct StoreAnswers {
    pages: BTreeMap<&'static str, (u16, String)>,
    asked: Vec<String>,
}

impl Door {
    fn says(&self, path: &'static str, body: impl Into<String>) {
        self.0.lock().unwrap().pages.insert(path, (200, body.into()));
    }

    fn fails(&self, path: &'static str, status: u16) {
        self.0.lock().unwrap().pages.insert(path, (status, String::new()));
    }

    fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().asked)
    }
}

#[async_trait]
impl Transport for Door {
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError> {
        let path = request.url.path().to_owned();
        let mut said = self.0.lock().unwrap();
        said.asked.push(path.clone());
        let (status, body) = if path.ends_with("/graphql.json") {
            let (status, policy) = said.pages.get("/policy").cloned().unwrap_or((200, String::new()));
            let policy = (!policy.is_empty())
                .then(|| json!({ "title": "Shipping", "body": policy, "url": "http://tea.localhost/policies/shipping-policy", "handle": "shipping-policy" }));
            (
                status,
                json!({ "data": { "shop": { "shippingPolicy": policy } } }).to_string(),
            )
        } else {
            said.pages.get(path.as_str()).cloned().unwrap_or((404, String::new()))
        };
        let mut headers = HeaderMap::new();
        let kind = if path.ends_with(".json") {
            "application/json"
        } else {
            "text/html"
        };
        headers.insert("content-type", kind.parse().unwrap());
        let body = futures::stream::iter([Ok(bytes::Bytes::from(body))]).boxed();
        Ok(TransportResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body,
        })
    }
}

struct Rig {
    door: Door,
    faults: FaultyStore,
    deps: StoreDeps,
    model: Option<TermsModel>,
    brand: Brand,
    clock: Arc<SetClock>,
}

/// The client has sent no requests yet.
fn client(door: &Door, clock: Arc<dyn Clock>) -> Storefront {
    let config = StorefrontConfig {
        retries_max: 0,
        body_bytes_max: BODY_BYTES_MAX,
        decoded_bytes_max: BODY_BYTES_MAX,
        rate_start_per_s: 2_000.0,
        rate_max_per_s: 2_000.0,
        ..StorefrontConfig::loopback()
    };
    Storefront::with_transport(config, clock, Arc::new(door.clone())).unwrap()
}

async fn open_lake(storage: &Storage, clock: &Arc<dyn Clock>) -> Lake {
    let lake = Lake::open(storage.child("lake"), LakeConfig::default(), Arc::clone(clock));
    lake.await.unwrap()
}

impl Rig {
    /// The store is registered and in the lake.
    async fn new() -> Self {
        let memory = Storage::memory();
        let (door, faults) = (Door::default(), FaultyStore::new(Arc::clone(memory.store())));
        let store: Arc<dyn ObjectStore> = Arc::new(faults.clone());
        let storage = Storage::with_store(store, memory.url().clone());
        let clock = SetClock::at("2026-11-21T00:00:00Z");
        let told: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
        let brand = Brand {
            base_url: "http://tea.localhost".to_owned(),
            domain: "tea.localhost".to_owned(),
            ..kit::brand("Tea")
        };
        let mut registry = Registry::load(&storage).await.unwrap();
        let new = NewBrand {
            store: Some(brand.store.clone()),
            name: Some(brand.name.clone()),
            ..NewBrand::at(brand.base_url.parse().unwrap())
        };
        registry.add(&storage, &[new], clock.now()).await.unwrap();
        let lake = open_lake(&storage, &told).await;
        let refresh = kit::refresh(brand.clone(), 1, clock.now(), vec![kit::product(&brand, 1, "Assam")]);
        let run = RunSummaryRow::new(refresh.run.clone(), clock.now());
        lake.commit(vec![refresh], run).await.unwrap();
        let deps = StoreDeps::new(storage, lake, client(&door, Arc::clone(&told)), told);
        Self {
            door,
            faults,
            deps,
            model: None,
            brand,
            clock,
        }
    }

    async fn refresh(&self) -> ShippingReport {
        self.try_refresh().await.unwrap()
    }

    async fn try_refresh(&self) -> Result<ShippingReport, TaskError> {
        // After this time, every earlier answer is due again.
        self.clock.advance_ms(1_000);
        let options = ShippingOptions {
            keep_days: 7,
            ..ShippingOptions::default()
        };
        refresh_shipping(&options, &self.deps, self.model.as_ref()).await
    }

    async fn reread(&self, options: &RereadOptions) -> RereadOutcome {
        let report = reread_shipping(options, &self.deps).await;
        report.unwrap().brands[0].outcome
    }

    async fn asked_once(&self) -> BrandShipping {
        let report = self.refresh().await;
        assert_eq!(report.asked.len(), 1, "{report:?}");
        report.asked[0].clone()
    }

    async fn known(&self) -> Option<ShippingPolicy> {
        let snapshot = self.deps.lake.newest_snapshot().await.unwrap();
        let stores = BTreeSet::from([self.brand.store.clone()]);
        snapshot.shipping(&stores).await.unwrap().remove(&self.brand.store)
    }

    async fn versions(&self) -> BTreeMap<String, u64> {
        self.deps.lake.newest_snapshot().await.unwrap().versions().clone()
    }
}

#[tokio::test]
async fn what_a_text_contradicts_itself_in_is_not_known_and_the_rest_is() {
    let rig = Rig::new().await;
    rig.door.says(
        "/policy",
        "<p>Free shipping on orders above Rs. 500.</p><p>Shipping is free only above Rs. 999.</p><p>Delivery takes 3-5 days.</p>",
    );
    let told = rig.asked_once().await;
    assert_eq!((told.outcome, told.facts), ("read", 1));
    let policy = rig.known().await.unwrap();
    assert_eq!(policy.free_shipping_threshold_minor, None);
    let terms = policy.terms.unwrap();
    assert_eq!(
        terms.reason(ShippingFactKind::FreeShipping),
        Some(UnknownReason::Contradiction)
    );
    assert_eq!(terms.delivery(None).unwrap().max, Some(5));
    assert_eq!(
        terms.source_url.as_deref(),
        Some("http://tea.localhost/policies/shipping-policy")
    );
}

#[tokio::test]
async fn a_page_that_robots_close_is_not_asked_and_its_silence_forgets_nothing() {
    let mut rig = Rig::new().await;
    rig.door
        .says("/pages/shipping-policy", "<p>Delivery takes 3-5 days.</p>");
    assert_eq!(rig.asked_once().await.outcome, "read");
    // A run on another day requests `robots.txt` again.
    rig.deps.storefront = client(&rig.door, Arc::clone(&rig.deps.clock));
    rig.door
        .says("/robots.txt", "User-agent: *\nDisallow: /pages/shipping-policy\n");
    rig.door.take_asked();
    assert_eq!(rig.asked_once().await.outcome, "unknown");
    let asked = rig.door.take_asked();
    assert!(!asked.iter().any(|path| path == "/pages/shipping-policy"), "{asked:?}");
    assert!(asked.iter().any(|path| path == "/pages/shipping"), "{asked:?}");
    assert!(rig.known().await.is_some(), "what was known stays");
    // A statement on a page that the shop publishes counts.
    rig.door.says("/pages/shipping", "<p>Delivery takes 6-8 days.</p>");
    assert_eq!(rig.asked_once().await.outcome, "read");
    let days = rig.known().await.unwrap().terms.unwrap().delivery(None).unwrap();
    assert_eq!((days.min, days.max), (6, Some(8)));
}

#[tokio::test]
async fn a_store_is_read_where_it_states_its_terms_in_six_requests_at_most() {
    let rig = Rig::new().await;
    rig.door.says("/policy", "<p>Orders are dispatched in 2 days.</p>");
    rig.door.says(
        "/",
        "<header><p>Free shipping on all orders above Rs. 999</p><p><b>SHIPIT</b> &ndash; free delivery</p></header>\
         <p>Delivered in 1 day, love it!</p>\
         <a href=/collections/all>All</a><a href=/products/tea>Tea</a>\
         <footer><a href='/pages/returns'>Returns</a><a href='/pages/about'>About</a><a href='/pages/x'>Shipping</a>\
         <a href='/pages/faq'>FAQ</a><a href='/pages/exchange'>Exchange</a></footer>",
    );
    rig.door.says("/pages/x", "<p>Delivery takes 3-5 days.</p>");
    let told = rig.asked_once().await;
    assert_eq!((told.outcome, told.facts), ("read", 3));
    let asked = rig.door.take_asked();
    let pages = ["/", "/pages/x", "/pages/faq", "/pages/returns", "/products/tea"];
    let of_pages: Vec<&String> = asked.iter().filter(|path| pages.contains(&path.as_str())).collect();
    assert_eq!(of_pages, pages, "after the policy, the most promising first");
    let others = asked
        .iter()
        .filter(|path| !path.ends_with("/graphql.json") && *path != "/robots.txt");
    assert_eq!(others.count(), pages.len(), "{asked:?}");

    let policy = rig.known().await.unwrap();
    assert_eq!(policy.free_shipping_threshold_minor, Some(99_900));
    let terms = policy.terms.unwrap();
    let source = |kind| terms.of(kind).next().unwrap().source_url.as_deref();
    assert_eq!(source(ShippingFactKind::Dispatch), None);
    assert_eq!(source(ShippingFactKind::FreeShipping), Some("http://tea.localhost/"));
    assert_eq!(source(ShippingFactKind::Delivery), Some("http://tea.localhost/pages/x"));
    assert_eq!(
        terms.delivery(None).unwrap().max,
        Some(5),
        "a buyer's praise is no promise"
    );

    // If the policy states everything, no page of the store is requested.
    rig.door.says(
        "/policy",
        "<p>Free shipping on all orders above Rs. 500.</p><p>Cash on delivery is available.</p><p>Delivery takes 3-5 days.</p>",
    );
    assert_eq!(rig.refresh().await.requests, 1);
}

#[tokio::test]
async fn terms_that_say_the_same_write_nothing() {
    let rig = Rig::new().await;
    rig.door
        .says("/policy", "<p>Free shipping on orders above Rs. 500.</p>");
    assert_eq!(rig.refresh().await.changed, 1);
    let before = rig.versions().await;
    let again = rig.refresh().await;
    assert_eq!((again.run.due, again.changed), (1, 0));
    assert_eq!(rig.versions().await, before);
    rig.door
        .says("/policy", "<p>Free shipping on orders above Rs. 900.</p>");
    assert_eq!(rig.refresh().await.changed, 1);
    assert_ne!(rig.versions().await, before);
    assert_eq!(rig.known().await.unwrap().free_shipping_threshold_minor, Some(90_000));
}

#[tokio::test]
async fn a_page_that_is_too_large_is_not_read_and_what_was_known_stays() {
    let rig = Rig::new().await;
    rig.door
        .says("/pages/shipping-policy", "<p>Delivery takes 3-5 days.</p>");
    assert_eq!(rig.asked_once().await.outcome, "read");
    let large = "x".repeat(usize::try_from(BODY_BYTES_MAX).unwrap() + 1);
    rig.door.says(
        "/pages/shipping-policy",
        format!("<p>Delivery takes 9 days.</p><p>{large}</p>"),
    );
    assert_eq!(rig.asked_once().await.outcome, "unknown");
    let days = rig.known().await.unwrap().terms.unwrap().delivery(None).unwrap();
    assert_eq!((days.min, days.max), (3, Some(5)));
}

#[tokio::test]
async fn a_store_that_says_nothing_anywhere_has_no_terms_any_more() {
    let rig = Rig::new().await;
    rig.door
        .says("/policy", "<p>Free shipping on orders above Rs. 500.</p>");
    assert_eq!(rig.asked_once().await.outcome, "read");
    rig.door.says("/policy", "");
    assert_eq!(rig.asked_once().await.outcome, "none");
    assert_eq!(rig.known().await, None);
}

#[tokio::test]
async fn a_store_that_fails_keeps_its_terms_and_is_due_again() {
    let rig = Rig::new().await;
    rig.door
        .says("/policy", "<p>Free shipping on orders above Rs. 500.</p>");
    assert_eq!(rig.asked_once().await.outcome, "read");
    rig.door.fails("/policy", 503);
    let told = rig.asked_once().await;
    assert_eq!(told.outcome, "failed");
    assert!(told.error.is_some());
    assert!(rig.known().await.is_some());
    // The failure was not recorded as an answer, so that the time of the last answer determines if the store is due.
    let options = ShippingOptions {
        after_s: 100,
        ..ShippingOptions::default()
    };
    rig.clock.advance_ms(99_000);
    assert_eq!(refresh_shipping(&options, &rig.deps, None).await.unwrap().run.due, 1);
}

#[tokio::test]
async fn terms_that_a_store_withdrew_come_back_only_when_they_are_asked_for() {
    let rig = Rig::new().await;
    rig.door
        .says("/policy", "<p>Free shipping on orders above Rs. 500.</p>");
    assert_eq!(rig.asked_once().await.outcome, "read");
    let first = rig.known().await;
    rig.clock.advance_ms(1_000);
    let range = RereadOptions {
        until: Some(rig.clock.now()),
        ..RereadOptions::default()
    };
    // The newest statement is in the range, and the lake already has it.
    assert_eq!(rig.reread(&range).await, RereadOutcome::Unchanged);
    rig.door.says("/policy", "");
    assert_eq!(rig.asked_once().await.outcome, "none");
    assert_eq!(rig.reread(&range).await, RereadOutcome::Older);
    assert_eq!(rig.known().await, None, "they stay withdrawn");
    let dry = RereadOptions {
        older: true,
        dry_run: true,
        ..range.clone()
    };
    assert_eq!(rig.reread(&dry).await, RereadOutcome::Changed);
    assert_eq!(rig.known().await, None);
    let older = RereadOptions { older: true, ..range };
    assert_eq!(rig.reread(&older).await, RereadOutcome::Changed);
    assert_eq!(rig.known().await, first);
    // Without a range, the newest answer is used.
    let newest = RereadOptions::default();
    assert_eq!(rig.reread(&newest).await, RereadOutcome::Changed);
    assert_eq!(rig.known().await, None);
    assert_eq!(rig.reread(&newest).await, RereadOutcome::Unchanged);
}

#[tokio::test]
async fn a_refresh_that_is_killed_brings_no_withdrawn_terms_back() {
    for nth in 1.. {
        let mut rig = Rig::new().await;
        rig.door
            .says("/policy", "<p>Free shipping on orders above Rs. 500.</p>");
        assert_eq!(rig.asked_once().await.outcome, "read");
        rig.door.says("/policy", "");
        rig.faults.arm(FaultPlan {
            nth,
            kind: FaultKind::BeforeEffect,
            dead_after: true,
        });
        let is_whole = rig.try_refresh().await.is_ok();
        rig.faults.disarm();
        rig.deps.lake = open_lake(&rig.deps.storage, &rig.deps.clock).await;
        let before = rig.known().await;
        rig.reread(&RereadOptions::default()).await;
        let after = rig.known().await;
        assert!(before.is_some() || after.is_none(), "{nth}: {after:?}");
        if is_whole {
            assert_eq!((before, nth > 3), (None, true), "it was killed at every step");
            break;
        }
    }
}

/// The model reads at most `model_calls_max` texts in a run.
fn model(endpoint: &Endpoint, model_calls_max: u32) -> Option<TermsModel> {
    let config = ShippingConfig {
        model: ModelConfig {
            url: endpoint.url(),
            model: "scripted".to_owned(),
            ..ShippingConfig::default().model
        },
        model_calls_max,
    };
    TermsModel::of(&config).unwrap()
}

/// No rule recognises the threshold, but the rules recognise the dispatch time.
const PROSE: &str = "<p>Spend Rs. 1,499 and the courier is our treat.</p><p>Orders are dispatched in 2 days.</p>";

#[tokio::test]
async fn of_what_a_model_proposes_the_one_true_fact_is_kept_and_an_unchanged_text_is_not_read_again() {
    let sentence = "Spend Rs. 1,499 and the courier is our treat.";
    let free = |amount: u32, currency: &str, sentence: &str| json!({"field": "free_shipping", "amount": amount, "currency": currency, "sentence": sentence});
    let proposed = json!({"facts": [
        free(1_499, "INR", sentence), free(499, "INR", sentence), free(1_499, "USD", sentence),
        free(1_499, "INR", "Shipping is free from Rs. 1,499."),
        {"field": "delivery", "days_max": 2, "in_working_days": false, "sentence": "Orders are dispatched in 2 days."},
        {"field": "cod", "is_available": true, "sentence": sentence},
    ]});
    let endpoint = Endpoint::saying(&proposed.to_string()).await;
    let mut rig = Rig::new().await;
    rig.door.says("/policy", PROSE);
    assert_eq!(rig.asked_once().await.facts, 1, "without a model");
    rig.model = model(&endpoint, 9);
    let counts = rig.refresh().await.proposals.unwrap();
    assert_eq!(
        (counts.kept, counts.known + counts.contradicted, counts.unfound),
        (1, 0, 5)
    );
    let requests = endpoint.requests();
    assert!(
        requests[0].contains(sentence) && !requests[0].contains("<p>"),
        "{requests:?}"
    );
    let policy = rig.known().await.unwrap();
    assert_eq!(policy.free_shipping_threshold_minor, Some(149_900));
    let by_model = |policy: &ShippingPolicy| {
        let facts = policy.terms.as_ref().unwrap().facts.iter();
        let facts = facts.filter(|fact| fact.basis == FactBasis::Model);
        facts.map(|fact| fact.kind).collect::<Vec<_>>()
    };
    assert_eq!(by_model(&policy), [ShippingFactKind::FreeShipping]);

    let again = rig.refresh().await;
    assert_eq!((again.changed, endpoint.asked()), (0, 1));
    assert_eq!(rig.reread(&RereadOptions::default()).await, RereadOutcome::Unchanged);
    rig.door.says("/policy", format!("{PROSE}<p>We pack with care.</p>"));
    assert_eq!((rig.refresh().await.changed, endpoint.asked()), (0, 2));
    // Without the model, the facts that it proposed are gone.
    rig.model = None;
    assert_eq!(
        (rig.refresh().await.changed, by_model(&rig.known().await.unwrap())),
        (1, Vec::new())
    );
}

#[tokio::test]
async fn a_model_that_fails_or_may_not_be_asked_leaves_the_facts_of_the_rules() {
    for (plays, calls_max) in [
        (EndpointScript::Breaks, 9),
        (
            EndpointScript::Answers(kit::http_answer("200 OK", "", &"[".repeat(200_000))),
            9,
        ),
        (EndpointScript::Breaks, 0),
    ] {
        let endpoint = Endpoint::start(plays).await;
        let mut rig = Rig::new().await;
        rig.door.says("/policy", PROSE);
        rig.model = model(&endpoint, calls_max);
        let told = rig.asked_once().await;
        assert_eq!((told.outcome, told.facts), ("read", 1));
        assert_eq!(endpoint.asked(), usize::from(calls_max > 0));
        // The next run queries the model about the same text.
        assert_eq!(rig.asked_once().await.facts, 1);
        assert_eq!(endpoint.asked(), 2 * usize::from(calls_max > 0));
    }
}
