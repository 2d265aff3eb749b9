//! Measures the cost of refreshing one brand in a lake with 200,000 products. The measured times are printed and not
//! asserted.
//!
//! `cargo test -p data-lake --test all measure:: -- --ignored --nocapture` leaves the lake in `target/tmp/lake`.
#![expect(clippy::print_stdout, reason = "what it measures is printed")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::*;
use data_lake::{Lake, LakeConfig};
use data_model::{BrandRefresh, Clock, StoreHost};
use data_storage::Storage;
use futures::StreamExt;

const BRANDS: usize = 400;
const PRODUCTS: u64 = 500;

/// Returns the CPU time of this process so far, from Linux clock ticks of 10 ms, in user and kernel mode.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<u64> = stat
        .split(' ')
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    Duration::from_millis(fields.iter().sum::<u64>() * 10)
}

fn catalogue(number: usize) -> BrandRefresh {
    let name = format!("brand-{number}");
    let mut products: Vec<_> = (1..=PRODUCTS)
        .map(|id| product(&name, 7_000_000_000_000 + id, 49_900))
        .collect();
    for (index, product) in products.iter_mut().enumerate() {
        product.description = format!("{number} {index} lorem ipsum dolor sit amet, consetetur. ").repeat(12);
        product.title = format!("Cotton shirt {} of {name}", index * 7919 % 1000);
    }
    refresh(&name, 1, products)
}

fn say(what: &str, started: (Instant, Duration)) {
    println!("{what}: {:?} wall, {:?} CPU", started.0.elapsed(), cpu() - started.1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute and only prints"]
async fn a_refresh_beside_200_000_products() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("lake");
    let _ = std::fs::remove_dir_all(&dir);
    let storage = Storage::from_path(&dir).unwrap();
    let clock = midnight();
    let lake = Lake::open(
        storage.clone(),
        LakeConfig::default(),
        Arc::clone(&clock) as Arc<dyn Clock>,
    )
    .await
    .unwrap();
    let started = (Instant::now(), cpu());
    for first in (0..BRANDS).step_by(100) {
        let refreshes = (first..first + 100).map(catalogue).collect();
        lake.commit(refreshes, run(1)).await.unwrap();
    }
    say("200,000 products in four ticks", started);
    for changed in [17, 42, 99] {
        let mut refresh = catalogue(changed);
        refresh.products[3].variants[0].price_minor += 1000;
        let started = (Instant::now(), cpu());
        assert_eq!(
            lake.commit(vec![refresh], run(2)).await.unwrap().counts.price_changes,
            1
        );
        say("one brand, one price changed", started);
    }
    let started = (Instant::now(), cpu());
    assert!(
        lake.commit((200..210).map(catalogue).collect(), run(3))
            .await
            .unwrap()
            .ticks
            .is_empty()
    );
    say("ten brands unchanged", started);
    let started = (Instant::now(), cpu());
    let lake = Lake::open(storage, LakeConfig::default(), clock).await.unwrap();
    let snapshot = lake.snapshot().await.unwrap();
    let brands = snapshot.brands().await.unwrap();
    say("opened, brands read", started);
    let stores: BTreeSet<StoreHost> = brands.into_iter().map(|row| row.brand.store).collect();
    let started = (Instant::now(), cpu());
    let read = snapshot
        .products(&stores)
        .await
        .unwrap()
        .filter(|item| futures::future::ready(item.is_ok()))
        .count()
        .await;
    assert_eq!(read, BRANDS * usize::try_from(PRODUCTS).unwrap());
    say("200,000 products streamed", started);
    let one: BTreeSet<StoreHost> = stores.into_iter().take(1).collect();
    let started = (Instant::now(), cpu());
    assert_eq!(snapshot.products(&one).await.unwrap().count().await, 500);
    say("one brand streamed", started);
}
