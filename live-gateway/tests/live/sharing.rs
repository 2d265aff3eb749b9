use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use live_gateway::GatewayConfig;

use crate::support::{Market, Options, generated, patient};

const QUERIES: &str = "/api/2026-04/graphql.json";

#[tokio::test(flavor = "multi_thread")]
async fn equal_requests_in_flight_share_one_fetch_and_a_moment_later_its_answer() {
    let options = Options {
        gateway: GatewayConfig {
            reuse_ms: 600_000,
            ..patient()
        },
        ..Options::default()
    };
    let market = Market::open(generated(12, 1), options).await;
    let ident = market.idents(0)[0];
    let asked: FuturesUnordered<_> = (0..50).map(|_| market.price(&ident)).collect();
    let told: Vec<_> = asked.collect().await;
    assert!(told.iter().all(|entry| entry["verified"] == true));
    let _ = market.price(&ident).await;
    assert_eq!(market.stores.requests(&market.slug(0)).unwrap().count_of(QUERIES), 1);
}

fn queries(market: &Market) -> u64 {
    market.stores.requests(&market.slug(0)).unwrap().count_of(QUERIES)
}

/// A hundred buyers a second at one store, for three seconds, cause one request a second.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_buyers_a_second_need_one_request_a_second() {
    let options = Options {
        rate_per_s: Some(1.0),
        gateway: GatewayConfig {
            reuse_ms: 0,
            ..patient()
        },
        ..Options::default()
    };
    let market = Market::open(generated(120, 1), options).await;
    let idents = market.idents(0).to_vec();
    let began = Instant::now();
    let mut buyers = FuturesUnordered::new();
    let mut every = tokio::time::interval(Duration::from_millis(10));
    let mut waits = BTreeMap::new();
    for buyer in 0..300_usize {
        every.tick().await;
        let (market, ident) = (&market, idents[buyer % idents.len()]);
        buyers.push(async move {
            let (asked, before) = (Instant::now(), queries(market));
            let entry = market.price(&ident).await;
            (buyer, entry, (asked.elapsed(), queries(market) - before))
        });
        while let Some(Some((buyer, entry, wait))) = futures::FutureExt::now_or_never(buyers.next()) {
            waits.insert(buyer, (entry, wait));
        }
    }
    while let Some((buyer, entry, wait)) = buyers.next().await {
        waits.insert(buyer, (entry, wait));
    }
    let longest = waits.values().map(|(_, (took, _))| *took).max().unwrap();
    for (buyer, (entry, (took, meanwhile))) in &waits {
        assert_eq!(entry["verified"], true, "buyer {buyer} after {took:?}: {entry}");
        // A buyer waits for the current query and the next one. The limit has a margin for a slow machine.
        assert!(*meanwhile <= 5, "buyer {buyer} waited for {meanwhile} queries");
    }
    let requests = queries(&market);
    println!(
        "300 buyers in {:?}: {requests} queries, longest wait {longest:?}",
        began.elapsed()
    );
    // The store received one query a second until the last response.
    assert!(requests <= began.elapsed().as_secs() + 2, "{requests}");
}

#[tokio::test(flavor = "multi_thread")]
async fn vanished_products_do_not_keep_other_buyers_waiting() {
    let options = Options {
        rate_per_s: Some(4.0),
        gateway: GatewayConfig {
            reuse_ms: 0,
            ..patient()
        },
        ..Options::default()
    };
    let market = Market::open(generated(40, 1), options).await;
    let (gone, here) = market.idents(0).split_at(8);
    for ident in gone {
        let id = market.stored(ident).platform_id;
        market.stores.remove_product(&market.slug(0), id).unwrap();
    }
    let asked = tokio::join!(market.prices(gone), async {
        let requests = || market.stores.requests(&market.slug(0)).unwrap().count();
        let mut told = Vec::new();
        for ident in here.iter().take(4) {
            let before = requests();
            let entry = market.price(ident).await;
            told.push((entry, requests() - before));
        }
        told
    });
    for (entry, meanwhile) in asked.1 {
        assert_eq!(entry["verified"], true, "{entry}");
        assert!(meanwhile <= 6, "a price waited for {meanwhile} requests");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_waits_for_one_request_of_a_crawl_at_the_most() {
    let options = Options {
        rate_per_s: Some(2.0),
        ..Options::default()
    };
    let market = Market::open(generated(12, 1), options).await;
    let url = market.stores.stores()[0].base_url.parse().unwrap();
    let store = market.storefront.store(&url).unwrap();
    store.robots().await.unwrap();
    let crawl: Vec<_> = (1..=40)
        .map(|page| {
            let store = store.clone();
            tokio::spawn(async move { store.products_page(page, 1, None).await.is_ok() })
        })
        .collect();
    // The other crawl requests wait for twenty seconds.
    while market
        .stores
        .requests(&market.slug(0))
        .unwrap()
        .count_of("/products.json")
        < 3
    {
        tokio::task::yield_now().await;
    }
    let pages = || {
        let requests = market.stores.requests(&market.slug(0)).unwrap();
        requests.count_of("/products.json")
    };
    let (began, before) = (Instant::now(), pages());
    let entry = market.price(&market.idents(0)[0]).await;
    let (waited, meanwhile) = (began.elapsed(), pages() - before);
    println!("a price waited {waited:?} and {meanwhile} pages beside a crawl at two requests a second");
    assert_eq!(entry["verified"], true, "{entry}");
    // The price query runs after at most one page. A few more pages may arrive before the check.
    assert!(meanwhile <= 4, "{meanwhile}");
    for one in crawl {
        one.abort();
    }
}
