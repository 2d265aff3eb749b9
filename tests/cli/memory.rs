//! What hostile stores can make a crawl take in memory, as the system counts it.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use emulator::{Emulator, EmulatorConfig, Fault, Source, StoreAddress};
use serde_json::{Value, json};

use crate::support::Haat;

/// What a crawl takes at most unless it is configured.
const BYTES_MAX: u64 = 512 << 20;

/// Crawls, and answers what it printed and the most bytes that the process had in memory.
fn crawl(haat: &Haat) -> (Value, u64) {
    let mut command = haat.command(&["crawl"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let printed = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        text
    });
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes: u64 = line.map_or(0, |line| line.trim_end_matches("kB").trim().parse().unwrap());
        most = most.max(kibibytes << 10);
        std::thread::sleep(Duration::from_millis(10));
    }
    let text = printed.join().unwrap();
    (
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")),
        most,
    )
}

/// Sixteen stores with this fault and four good ones are crawled, each answer waited for so long: what was printed and
/// taken, and the good stores.
fn beside_sixteen(fault: &Fault, timeout_ms: &str) -> (Value, u64, Vec<StoreAddress>) {
    let haat = Haat::new()
        .with("HAAT_STOREFRONT__REQUEST_TIMEOUT_MS", timeout_ms)
        .with("HAAT_STOREFRONT__RETRIES_MAX", "0");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let source = Source::Generated {
        products: 3_000,
        stores: 20,
        seed: 3,
    };
    let stores = runtime.block_on(Emulator::start(EmulatorConfig::new(source))).unwrap();
    let addresses = stores.stores();
    let urls: Vec<_> = addresses
        .iter()
        .map(|store| json!({"base_url": store.base_url}))
        .collect();
    haat.register(&json!({ "stores": urls }));
    let (hostile, good) = addresses.split_at(16);
    for store in hostile {
        stores.set_fault(&store.slug, fault.clone()).unwrap();
    }
    let (report, most) = crawl(&haat);
    println!("{fault:?}: {} MB, {}", most / 1_000_000, report["memory"]);
    let brands = haat.sql("select store, product_count from brands");
    for store in good {
        let is_whole = |brand: &&Value| {
            brand["product_count"] == store.products && store.myshopify_domain == brand["store"].as_str().unwrap()
        };
        assert_eq!(brands.iter().filter(is_whole).count(), 1, "{store:?}: {brands:?}");
    }
    (report, most, good.to_vec())
}

#[test]
fn pages_of_long_lists_do_not_take_more_memory_than_a_crawl_may() {
    // These answers come whole: on a busy machine they take their time.
    let bloated = Fault::Bloated {
        decoded_bytes: 45_000_000,
    };
    let (report, most, _) = beside_sixteen(&bloated, "120000");
    assert!(most < BYTES_MAX, "{most}: {report}");
    // Odd as they are, their records are products.
    assert_eq!(report["totals"]["changed"], 20, "{report}");
    let memory = &report["memory"];
    assert_eq!(memory["bytes_max"], BYTES_MAX);
    // The report was written a moment before the process ended.
    let resident = memory["resident_bytes_peak"].as_u64().unwrap();
    assert!(resident >= most / 2 && resident < BYTES_MAX, "{memory}");
    assert!(memory["reserved_bytes_peak"].as_u64().unwrap() > 45_000_000, "{memory}");
}

#[test]
fn pages_whose_end_never_comes_do_not_take_more_memory_than_a_crawl_may() {
    for (decoded_bytes, packed) in [(66_000_000, true), (30_000_000, false)] {
        let (report, most, _) = beside_sixteen(&Fault::Withheld { decoded_bytes, packed }, "15000");
        assert!(most < BYTES_MAX, "{most}: {report}");
        assert_eq!(
            (&report["totals"]["changed"], &report["totals"]["failed"]),
            (&json!(4), &json!(16))
        );
        let failed = report["stores"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|store| store["outcome"] == "failed");
        assert!(failed.clone().all(|store| store["code"] == "timeout"), "{report}");
    }
}
