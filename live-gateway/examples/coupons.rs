//! Measures the duration of a search for working discount codes, and its calls to emulated stores with a limited rate.
//! Run with `cargo run --release -p live-gateway --example coupons -- STORES REQUESTS_PER_S LATENCY_MS`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot go on says so at once, and prints what it found"
)]

#[expect(dead_code, reason = "the tests look at more of it")]
#[path = "../tests/coupons/support.rs"]
mod support;

use std::time::{Duration, Instant};

use futures::StreamExt;
use support::{Options, Street, coupons};

/// Number of stores that are queried concurrently.
const AT_ONCE: usize = 16;

#[derive(Debug)]
struct Measurement {
    first: Duration,
    again: Duration,
    calls: u64,
    found: usize,
    verified: bool,
}

async fn measure(street: &Street, store: usize) -> Measurement {
    let begun = Instant::now();
    let body = street.find(store, 40).await;
    let first = begun.elapsed();
    let calls = street.calls(store);
    let begun = Instant::now();
    street.find(store, 40).await;
    Measurement {
        first,
        again: begun.elapsed(),
        calls,
        found: coupons(&body).len(),
        verified: body["data"]["verified"] == true,
    }
}

fn percentile<T: Copy + Ord>(mut values: Vec<T>, percent: usize) -> T {
    values.sort_unstable();
    values[(values.len() - 1) * percent / 100]
}

#[tokio::main]
async fn main() {
    let given: Vec<f64> = std::env::args().skip(1).map(|given| given.parse().unwrap()).collect();
    let number = |at: usize, default: f64| given.get(at).copied().unwrap_or(default);
    let (stores, rate_per_s, latency_ms) = (number(0, 60.0), number(1, 1.0), number(2, 150.0));
    let options = Options {
        rate_per_s: Some(rate_per_s),
        latency_ms: latency_ms as u64,
        ..Options::default()
    };
    let street = Street::open(stores as u32, options).await;
    let sells = |store: &usize| !street.shop(*store).samples.is_empty();
    let all = (0..stores as usize).filter(sells);
    let measured = futures::stream::iter(all).map(|store| measure(&street, store));
    let measured: Vec<Measurement> = measured.buffer_unordered(AT_ONCE).collect().await;
    let first: Vec<Duration> = measured.iter().map(|one| one.first).collect();
    let again: Vec<Duration> = measured.iter().map(|one| one.again).collect();
    let calls: Vec<u64> = measured.iter().map(|one| one.calls).collect();
    println!(
        "{} stores at {rate_per_s} requests/s and {latency_ms} ms, 40 candidates each: first answer {:?} (median), {:?} (95%); \
         remembered {:?} (median), {:?} (95%); calls to a store {} (median), {} (most); {} codes, {} answers complete",
        measured.len(),
        percentile(first.clone(), 50),
        percentile(first, 95),
        percentile(again.clone(), 50),
        percentile(again, 95),
        percentile(calls.clone(), 50),
        percentile(calls, 100),
        measured.iter().map(|one| one.found).sum::<usize>(),
        measured.iter().filter(|one| one.verified).count(),
    );
}
