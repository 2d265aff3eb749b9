//! Tests of the memory that hostile stores can make a crawl use, as measured by the operating system.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use emulator::{Emulator, EmulatorConfig, Fault, Source};
use serde_json::{Value, json};

use crate::support::Haat;

/// Default maximum memory of a crawl in bytes.
const BYTES_MAX: u64 = 512 << 20;

/// Runs a crawl. Returns its output, and the process's peak memory in bytes.
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

/// Stores, some with a fault, and the settings of their crawl.
struct Market<'a> {
    faulty: usize,
    fault: Option<&'a Fault>,
    variables: &'a [(&'a str, &'a str)],
}

impl Market<'_> {
    /// Crawls the stores and four healthy ones, asserts that the healthy ones are complete, and returns output and peak
    /// memory.
    fn crawled(&self) -> (Value, u64) {
        let haat = Haat::new().with("HAAT_STOREFRONT__RETRIES_MAX", "0");
        let haat = self
            .variables
            .iter()
            .fold(haat, |haat, (name, value)| haat.with(name, value));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let count = u32::try_from(self.faulty + 4).unwrap();
        let source = Source::Generated {
            products: u64::from(count) * 150,
            stores: count,
            seed: 3,
        };
        let stores = runtime.block_on(Emulator::start(EmulatorConfig::new(source))).unwrap();
        let addresses = stores.stores();
        let urls: Vec<_> = addresses
            .iter()
            .map(|store| json!({"base_url": store.base_url}))
            .collect();
        haat.register(&json!({ "stores": urls }));
        let (faulty, good) = addresses.split_at(self.faulty);
        for (store, fault) in faulty.iter().filter_map(|store| Some((store, self.fault?))) {
            stores.set_fault(&store.slug, fault.clone()).unwrap();
        }
        let (report, most) = crawl(&haat);
        println!("{:?}: {} MB, {}", self.fault, most / 1_000_000, report["memory"]);
        let brands = haat.sql("select store, product_count from brands");
        for store in good {
            let is_whole = |brand: &&Value| {
                brand["product_count"] == store.products && store.myshopify_domain == brand["store"].as_str().unwrap()
            };
            assert_eq!(brands.iter().filter(is_whole).count(), 1, "{store:?}: {brands:?}");
        }
        (report, most)
    }
}

/// Crawls sixteen stores with this fault and four healthy ones.
fn beside_sixteen(fault: &Fault, variables: &[(&str, &str)]) -> (Value, u64) {
    let market = Market {
        faulty: 16,
        fault: Some(fault),
        variables,
    };
    market.crawled()
}

// These responses arrive completely, which takes long on a busy machine.
const PATIENT: (&str, &str) = ("HAAT_STOREFRONT__REQUEST_TIMEOUT_MS", "120000");

#[test]
fn pages_of_long_lists_do_not_take_more_memory_than_a_crawl_may() {
    let bloated = Fault::Bloated {
        decoded_bytes: 45_000_000,
        many_records: false,
    };
    let (report, most) = beside_sixteen(&bloated, &[PATIENT]);
    assert!(most < BYTES_MAX, "{most}: {report}");
    // The records are unusual, but they are products.
    assert_eq!(report["totals"]["changed"], 20, "{report}");
    let memory = &report["memory"];
    assert_eq!(memory["bytes_max"], BYTES_MAX);
    // The report was written shortly before the end of the process.
    let resident = memory["resident_bytes_peak"].as_u64().unwrap();
    assert!(resident >= most / 2 && resident < BYTES_MAX, "{memory}");
    assert!(memory["reserved_bytes_peak"].as_u64().unwrap() > 45_000_000, "{memory}");
}

/// The limit is a quarter of the default, so that pages a quarter as large are enough. The program itself uses more, so
/// the result is compared with a crawl of the same stores without the fault.
#[test]
fn memory_that_pages_of_many_products_give_back_is_not_kept() {
    const BYTES_MAX: u64 = 128 << 20;
    let bytes_max = BYTES_MAX.to_string();
    let bloated = Fault::Bloated {
        decoded_bytes: 11_000_000,
        many_records: true,
    };
    let mut market = Market {
        faulty: 4,
        fault: None,
        variables: &[PATIENT, ("HAAT_REFRESH__MEMORY_BYTES_MAX", &bytes_max)],
    };
    let (_, program) = market.crawled();
    market.fault = Some(&bloated);
    let (report, most) = market.crawled();
    assert_eq!(report["totals"]["changed"], 8, "{report}");
    assert!(most < program + BYTES_MAX, "{most}, of the program {program}: {report}");
}

/// Crawls stores that withhold the end of a page, and returns the error codes.
#[track_caller]
fn withheld(decoded_bytes: u64, packed: bool, variables: &[(&str, &str)]) -> Vec<String> {
    let (report, most) = beside_sixteen(&Fault::Withheld { decoded_bytes, packed }, variables);
    assert!(most < BYTES_MAX, "{most}: {report}");
    assert_eq!(
        (&report["totals"]["changed"], &report["totals"]["failed"]),
        (&json!(4), &json!(16))
    );
    let stores = report["stores"].as_array().unwrap().iter();
    let failed = stores.filter(|store| store["outcome"] == "failed");
    failed.map(|store| store["code"].as_str().unwrap().to_owned()).collect()
}

const TIMEOUT: (&str, &str) = ("HAAT_STOREFRONT__REQUEST_TIMEOUT_MS", "8000");

#[test]
fn packed_pages_whose_end_never_comes_do_not_take_more_memory_than_a_crawl_may() {
    let codes = withheld(66_000_000, true, &[TIMEOUT]);
    assert_eq!(codes, ["timeout"; 16]);
}

#[test]
fn pages_whose_end_never_comes_do_not_take_more_memory_than_a_crawl_may() {
    // Long bodies are received one at a time. Each may block the next one until the request timeout, and the time limit
    // for a store ends them all.
    let codes = withheld(
        30_000_000,
        false,
        &[TIMEOUT, ("HAAT_REFRESH__CRAWL__STORE_TIME_S_MAX", "20")],
    );
    let count = |code: &str| codes.iter().filter(|one| *one == code).count();
    assert!(
        count("timeout") > 0 && count("timeout") + count("too_slow") == 16,
        "{codes:?}"
    );
}
