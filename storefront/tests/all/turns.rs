//! Tests of the order of turns between crawls and buyers at one store. The tests use tokio's paused clock.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use proptest::prelude::*;
use storefront::{Accept, Effect, GraphqlRequest, Priority, Store, StoreError, StorefrontConfig, documents};
use tokio::task::JoinHandle;
use tokio::time::{Instant, advance, sleep};

use crate::support::{Reply, ScriptedTransport, ok, pages, status, store, throttled, unpaced};

fn steady() -> StorefrontConfig {
    StorefrontConfig {
        rate_growth: 0.0,
        ..StorefrontConfig::default()
    }
}

async fn ask(store: Store, path: String) -> Result<(), StoreError> {
    store.get(&path, Accept::Json).await.map(drop)
}

/// Starts calls one after the other that then wait at the same time.
async fn crowd(
    store: &Store,
    priority: Priority,
    names: impl Iterator<Item = String>,
) -> Vec<JoinHandle<Result<(), StoreError>>> {
    let mut waiting = Vec::new();
    for name in names {
        let store = store.clone().with_priority(priority);
        waiting.push(tokio::spawn(ask(store, format!("/{name}"))));
        tokio::task::yield_now().await;
    }
    waiting
}

fn numbered(letter: char, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |n| format!("{letter}{n}"))
}

fn order(script: &ScriptedTransport) -> Vec<String> {
    let name = |url: String| url.strip_prefix("https://brand.example/").map(str::to_owned);
    script
        .urls()
        .into_iter()
        .filter_map(name)
        .filter(|path| path != "robots.txt")
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_buyer_goes_before_fifty_waiting_requests_of_a_crawl() {
    let script = pages(|_, _| ok("{}"));
    let store = store(steady(), &script);
    let crawl = crowd(&store, Priority::Crawl, numbered('c', 50)).await;
    sleep(Duration::from_millis(10_500)).await;
    assert_eq!(script.page_times().len(), 10);
    let buyer = store.clone().with_priority(Priority::Interactive);
    let asked = Instant::now();
    buyer.product_js("shoe").await.unwrap();
    assert_eq!(
        asked.elapsed(),
        Duration::from_millis(500),
        "the next place is the buyer's"
    );
    assert_eq!(order(&script)[10], "products/shoe.js");
    join_all(crawl)
        .await
        .into_iter()
        .for_each(|done| done.unwrap().unwrap());
    let times = script.page_times();
    assert_eq!(
        times,
        (1..=51).map(|n| n * 1000).collect::<Vec<_>>(),
        "one pace for both"
    );
    let crawled: Vec<String> = order(&script)
        .into_iter()
        .filter(|path| path.starts_with('c'))
        .collect();
    assert_eq!(
        crawled,
        numbered('c', 50).collect::<Vec<_>>(),
        "first come, first served"
    );
}

#[tokio::test(start_paused = true)]
async fn a_caller_with_many_calls_delays_others_by_one_turn() {
    let script = pages(|_, _| ok("{}"));
    let store = store(steady(), &script).with_priority(Priority::Interactive);
    let greedy = crowd(
        &store.clone().with_caller("greedy"),
        Priority::Interactive,
        numbered('g', 30),
    )
    .await;
    sleep(Duration::from_millis(2_500)).await;
    let asked = Instant::now();
    let quiet = store.clone().with_caller("quiet");
    let quiet = crowd(&quiet, Priority::Interactive, numbered('q', 2)).await;
    // A call for all callers, such as for prices, is sent immediately after a single caller's call. The slot after it
    // is delayed accordingly.
    let for_all = crowd(&store, Priority::Interactive, numbered('a', 2)).await;
    join_all(for_all)
        .await
        .into_iter()
        .for_each(|done| done.unwrap().unwrap());
    assert_eq!(asked.elapsed(), Duration::from_millis(1_500));
    join_all(quiet)
        .await
        .into_iter()
        .for_each(|done| done.unwrap().unwrap());
    assert_eq!(order(&script), ["g0", "g1", "a0", "q0", "a1", "q1"]);
    assert_eq!(script.page_times(), [1000, 2000, 2500, 4000, 4000, 6000]);
    greedy.iter().for_each(JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn who_asked_for_nothing_lately_goes_before_callers_who_never_pause() {
    let script = pages(|_, _| ok("{}"));
    let store = store(steady(), &script).with_priority(Priority::Interactive);
    let busy = (0..10).map(|caller| {
        let store = store.clone().with_caller(&format!("key {caller}"));
        tokio::spawn(async move { while ask(store.clone(), format!("/k{caller}")).await.is_ok() {} })
    });
    let busy: Vec<_> = busy.collect();
    sleep(Duration::from_millis(60_500)).await;
    let before = order(&script).len();
    let quiet = store.clone().with_caller("quiet");
    let quiet = crowd(&quiet, Priority::Interactive, numbered('q', 2)).await;
    join_all(quiet).await;
    assert_eq!(order(&script)[before..], ["q0", "q1"]);
    busy.iter().for_each(JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn a_buyer_waits_for_the_one_request_in_flight_and_no_longer() {
    let slow = || Reply::Late(Duration::from_secs(7), Box::new(ok("{}")));
    let script = pages(move |url, _| if url.path().starts_with("/c") { slow() } else { ok("{}") });
    let store = store(steady(), &script);
    let crawl = crowd(&store, Priority::Crawl, numbered('c', 50)).await;
    sleep(Duration::from_secs(2)).await;
    let asked = Instant::now();
    let buyer = store.clone().with_priority(Priority::Interactive);
    buyer.meta().await.unwrap();
    assert_eq!(
        asked.elapsed(),
        Duration::from_secs(6),
        "it began one second ago and takes seven"
    );
    assert_eq!(order(&script), ["c0", "meta.json"]);
    crawl.iter().for_each(JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_waits_has_every_eighth_place_however_many_buyers_come() {
    let script = pages(|_, _| ok("{}"));
    let store = store(steady(), &script);
    store.robots().await.unwrap();
    let crawl = crowd(&store, Priority::Crawl, numbered('c', 3)).await;
    let buyers = crowd(&store, Priority::Interactive, numbered('i', 40)).await;
    join_all(crawl.into_iter().chain(buyers)).await;
    let order = order(&script);
    let places: Vec<usize> = (0..order.len()).filter(|at| order[*at].starts_with('c')).collect();
    assert_eq!(places, [7, 15, 23]);
    let buyers: Vec<String> = order.into_iter().filter(|path| path.starts_with('i')).collect();
    assert_eq!(buyers, numbered('i', 40).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_turn_comes_too_late_fails_at_once_and_names_the_wait() {
    let script = pages(|_, _| ok("{}"));
    let store = store(steady(), &script);
    store.meta().await.unwrap();
    let buyers = crowd(&store, Priority::Interactive, numbered('i', 4)).await;
    let asked = Instant::now();
    let hurried = store
        .clone()
        .with_priority(Priority::Interactive)
        .with_deadline(asked + Duration::from_millis(2500));
    let error = hurried.product_js("shoe").await.unwrap_err();
    assert!(
        matches!(error, StoreError::Deadline { wait: Some(wait) } if wait == Duration::from_secs(5)),
        "four go first: {error}"
    );
    assert_eq!(asked.elapsed(), Duration::ZERO);
    assert_eq!(
        error.to_string(),
        "the call cannot be completed before its deadline: its turn comes in 5000 ms"
    );
    join_all(buyers).await;
    assert_eq!(
        script.page_times(),
        [1000, 2000, 3000, 4000, 5000],
        "its place was not kept"
    );
    hurried.product_js("shoe").await.unwrap_err();
    store
        .with_deadline(Instant::now() + Duration::from_millis(1500))
        .product_js("shoe")
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_hold_binds_buyers_and_crawls() {
    let script = pages(|_, nth| if nth == 0 { throttled(Some("60")) } else { ok("{}") });
    let config = StorefrontConfig {
        retries_max: 0,
        ..unpaced()
    };
    let store = store(config, &script);
    store.meta().await.unwrap_err();
    let crawl = crowd(&store, Priority::Crawl, numbered('c', 1)).await;
    let patient = crowd(&store, Priority::Interactive, numbered('i', 1)).await;
    advance(Duration::from_secs(10)).await;
    let asked = Instant::now();
    let buyer = store
        .with_priority(Priority::Interactive)
        .with_deadline(asked + Duration::from_millis(2500));
    let error = buyer.meta().await.unwrap_err();
    assert!(
        matches!(error, StoreError::Throttled { retry_after: Some(wait) } if wait == Duration::from_secs(50)),
        "{error}"
    );
    assert_eq!(asked.elapsed(), Duration::ZERO);
    join_all(crawl.into_iter().chain(patient)).await;
    assert_eq!(order(&script), ["meta.json", "i0", "c0"]);
    assert_eq!(script.page_times(), [0, 60_000, 60_000]);
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_leaves_its_place_to_the_next() {
    let script = pages(|_, _| ok("{}"));
    let store = store(steady(), &script);
    store.robots().await.unwrap();
    let crawl = crowd(&store, Priority::Crawl, numbered('c', 3)).await;
    let buyers = crowd(&store, Priority::Interactive, numbered('i', 5)).await;
    sleep(Duration::from_millis(500)).await;
    for gone in [&buyers[0], &buyers[1], &buyers[3], &crawl[0]] {
        gone.abort();
    }
    join_all(crawl.into_iter().chain(buyers)).await;
    assert_eq!(order(&script), ["i2", "i4", "c1", "c2"]);
    assert_eq!(script.page_times(), [1000, 2000, 3000, 4000], "no place is lost");
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_free_again_when_its_call_goes_away() {
    let script = pages(|_, nth| if nth == 0 { Reply::Hang } else { ok("{}") });
    let store = store(steady(), &script);
    let hanging = crowd(&store, Priority::Crawl, numbered('c', 1)).await;
    sleep(Duration::from_millis(1500)).await;
    let next = crowd(&store, Priority::Crawl, numbered('d', 1)).await;
    sleep(Duration::from_secs(3)).await;
    assert_eq!(order(&script), ["c0"]);
    hanging[0].abort();
    join_all(next).await;
    assert_eq!(script.page_times(), [1000, 4500]);
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_fetched_before_the_pages_that_wait_for_it() {
    let script = pages(|_, _| ok("{}"));
    let config = StorefrontConfig {
        robots_ttl_ms: 5_000,
        ..steady()
    };
    let store = store(config, &script);
    let crawl = crowd(&store, Priority::Crawl, numbered('c', 30)).await;
    sleep(Duration::from_millis(6_500)).await;
    let asked = Instant::now();
    store.clone().with_priority(Priority::Interactive).meta().await.unwrap();
    assert_eq!(asked.elapsed(), Duration::from_millis(1_500), "the file, then the page");
    crawl.iter().for_each(JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_hear_at_once_that_the_store_is_left_alone() {
    let script = pages(|_, _| status(500));
    let config = StorefrontConfig {
        retries_max: 0,
        breaker_failures: 2,
        ..steady()
    };
    let store = store(config, &script);
    let crawl = crowd(&store, Priority::Crawl, numbered('c', 20)).await;
    let buyers = crowd(&store, Priority::Interactive, numbered('i', 20)).await;
    let began = Instant::now();
    let outcomes = join_all(crawl.into_iter().chain(buyers)).await;
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    let refused = outcomes
        .iter()
        .filter(|outcome| matches!(outcome.as_ref().unwrap(), Err(StoreError::BreakerOpen { .. })));
    assert_eq!(refused.count(), 38);
    assert_eq!(script.page_times().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn no_call_takes_longer_than_its_deadline_retries_included() {
    for fail in [
        || status(502),
        || Reply::Hang,
        || throttled(None),
        || throttled(Some("1")),
    ] {
        let script = pages(move |_, _| fail());
        let config = StorefrontConfig {
            retries_max: 9,
            ..unpaced()
        };
        for priority in [Priority::Crawl, Priority::Interactive] {
            let store = store(config.clone(), &script).with_priority(priority);
            let asked = Instant::now();
            let store = store.with_deadline(asked + Duration::from_secs(3));
            let request = GraphqlRequest::new(documents::POLICIES, "Policies", serde_json::json!({}));
            store.graphql(&request, Effect::Safe).await.unwrap_err();
            assert!(asked.elapsed() <= Duration::from_secs(3), "{:?}", asked.elapsed());
        }
    }
    let script = ScriptedTransport::new(|_, _| Reply::Hang);
    let asked = Instant::now();
    let store = store(unpaced(), &script).with_deadline(asked + Duration::from_secs(3));
    assert!(matches!(store.robots().await, Err(StoreError::Deadline { .. })));
    assert!(matches!(store.meta().await, Err(StoreError::Deadline { .. })));
    assert_eq!(asked.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn an_interactive_call_gives_up_on_a_store_sooner_than_a_crawl() {
    for (priority, after_s) in [(Priority::Crawl, 30), (Priority::Interactive, 10)] {
        let script = pages(|_, _| Reply::Hang);
        let config = StorefrontConfig {
            retries_max: 0,
            ..unpaced()
        };
        let error = store(config, &script).with_priority(priority).meta().await.unwrap_err();
        assert!(
            matches!(error, StoreError::Timeout { after } if after == Duration::from_secs(after_s)),
            "{error}"
        );
    }
}

#[derive(Debug, Default, Clone)]
struct RecordedCounts(Arc<std::sync::Mutex<Vec<(String, f64)>>>);

struct LabelledCounter(String, RecordedCounts);

impl metrics::HistogramFn for LabelledCounter {
    fn record(&self, value: f64) {
        self.1.0.lock().unwrap().push((self.0.clone(), value));
    }
}

impl metrics::Recorder for RecordedCounts {
    fn describe_counter(&self, _: metrics::KeyName, _: Option<metrics::Unit>, _: metrics::SharedString) {}
    fn describe_gauge(&self, _: metrics::KeyName, _: Option<metrics::Unit>, _: metrics::SharedString) {}
    fn describe_histogram(&self, _: metrics::KeyName, _: Option<metrics::Unit>, _: metrics::SharedString) {}
    fn register_counter(&self, _: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Counter {
        metrics::Counter::noop()
    }
    fn register_gauge(&self, _: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Gauge {
        metrics::Gauge::noop()
    }
    fn register_histogram(&self, key: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Histogram {
        let labels: Vec<_> = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        let name = format!("{}{{{}}}", key.name(), labels.join(","));
        metrics::Histogram::from_arc(Arc::new(LabelledCounter(name, self.clone())))
    }
}

#[test]
fn waits_are_measured_by_priority_and_no_host_is_named() {
    let recorded = RecordedCounts::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    metrics::with_local_recorder(&recorded, || {
        runtime.block_on(async {
            let script = pages(|_, _| ok("{}"));
            let store = store(steady(), &script);
            store.meta().await.unwrap();
            store.with_priority(Priority::Interactive).meta().await.unwrap();
        });
    });
    insta::assert_debug_snapshot!(recorded.0.lock().unwrap(), @r#"
    [
        (
            "storefront_wait_seconds{priority=crawl}",
            0.0,
        ),
        (
            "storefront_wait_seconds{priority=crawl}",
            1.0,
        ),
        (
            "storefront_wait_seconds{priority=interactive}",
            1.0,
        ),
    ]
    "#);
}

/// Time of a call's arrival, and true if the call is a buyer's.
type Arrival = (u64, bool);

/// Returns when each simulated call arrived and was sent.
fn played(arrivals: &[Arrival], concurrency: usize, answer_ms: u64) -> Vec<(u64, u64, bool)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let script = pages(move |_, _| Reply::Late(Duration::from_millis(answer_ms), Box::new(ok("{}"))));
        let config = StorefrontConfig {
            concurrency,
            ..steady()
        };
        let store = store(config, &script);
        store.robots().await.unwrap();
        let began = Instant::now();
        let came = Arc::new(std::sync::Mutex::new(HashMap::new()));
        let calls = arrivals.iter().enumerate().map(|(n, (at_ms, is_buyer))| {
            let priority = if *is_buyer {
                Priority::Interactive
            } else {
                Priority::Crawl
            };
            let store = store.clone().with_priority(priority);
            let came = Arc::clone(&came);
            async move {
                sleep(Duration::from_millis(*at_ms)).await;
                let now_ms = u64::try_from(began.elapsed().as_millis()).unwrap();
                came.lock().unwrap().insert(n, now_ms);
                ask(store, format!("/{n}")).await.unwrap();
            }
        });
        join_all(calls).await;
        let came = came.lock().unwrap();
        order(&script)
            .iter()
            .zip(script.page_times())
            .map(|(name, sent)| {
                let n: usize = name.parse().unwrap();
                (came[&n], sent, arrivals[n].1)
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any arrivals, all calls are sent one second apart. While a buyer waits, one crawl request is sent, plus one
    /// for every seven buyers. While a crawl waits, at most seven buyers go in a row.
    #[test]
    fn crawls_delay_buyers_by_one_request_and_are_never_starved(
        arrivals in proptest::collection::vec((0_u64..30_000, proptest::bool::weighted(0.6)), 1..60),
        concurrency in 1_usize..4,
        answer_ms in 0_u64..3_000,
    ) {
        let sent = played(&arrivals, concurrency, answer_ms);
        prop_assert_eq!(sent.len(), arrivals.len());
        prop_assert!(sent.windows(2).all(|pair| pair[1].1 - pair[0].1 >= 999));
        for (at, (came, _, is_buyer)) in sent.iter().enumerate() {
            let meanwhile = sent[..at].iter().filter(|(_, when, _)| when > came);
            if *is_buyer {
                let buyers = meanwhile.clone().filter(|(.., is_buyer)| *is_buyer).count();
                let crawls = meanwhile.count() - buyers;
                prop_assert!(crawls <= 1 + buyers / 7, "{crawls} of a crawl, {buyers} of buyers");
            } else {
                let longest = meanwhile.fold((0, 0), |(run, longest), (.., is_buyer)| {
                    let run = if *is_buyer { run + 1 } else { 0 };
                    (run, longest.max(run))
                });
                prop_assert!(longest.1 <= 7, "{longest:?}");
            }
        }
    }
}
