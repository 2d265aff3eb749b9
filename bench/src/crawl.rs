//! Measures crawling, normalising and writing to Parquet, compared with only fetching and decoding the same pages. The
//! cases are many small stores and a few stores with full pages. On demand, it also measures recorded stores and other
//! crawlers.

use std::process::{Command, Stdio};

use anyhow::Context;

use crate::http::Client;
use crate::meter::{Figure, of_children, of_self};
use crate::setup::{Bench, ServerProcess};

/// Number of products in a store with full pages: forty pages of 250.
const LARGE_STORE: u64 = 10_000;

/// Names of the figures in one case.
struct Names {
    per_cpu_s: &'static str,
    per_wall_s: &'static str,
    unchanged_cpu_s: &'static str,
}

const SMALL: Names = Names {
    per_cpu_s: "crawl.products_per_cpu_s",
    per_wall_s: "crawl.products_per_wall_s",
    unchanged_cpu_s: "crawl.unchanged_cpu_s",
};
const LARGE: Names = Names {
    per_cpu_s: "crawl.full_pages_products_per_cpu_s",
    per_wall_s: "crawl.full_pages_products_per_wall_s",
    unchanged_cpu_s: "crawl.full_pages_unchanged_cpu_s",
};
const RECORDED: Names = Names {
    per_cpu_s: "crawl.recorded_products_per_cpu_s",
    per_wall_s: "crawl.recorded_products_per_wall_s",
    unchanged_cpu_s: "crawl.recorded_unchanged_cpu_s",
};

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    measure(bench, &bench.emulate(0)?, &SMALL)?;
    let large = u32::try_from((bench.products / LARGE_STORE).max(1))?;
    compare(bench, &bench.emulate_in(large, 0)?, &LARGE)?;
    if let Some(folder) = &bench.recorded {
        compare(bench, &bench.emulate_recorded(folder)?, &RECORDED)?;
    }
    Ok(())
}

/// Measures haat, and then the other crawlers on the same stores.
fn compare(bench: &Bench, stores: &ServerProcess, names: &Names) -> anyhow::Result<()> {
    let ours = measure(bench, stores, names)?;
    let Some(python) = &bench.peers else { return Ok(()) };
    for (tool, name) in [
        ("scrapy", "crawl.scrapy_products_per_cpu_s"),
        ("dlt", "crawl.dlt_products_per_cpu_s"),
        ("decode", "crawl.python_fetch_and_decode_products_per_cpu_s"),
    ] {
        let (products, cost) = of_children(|| peer(python, tool, stores))?;
        Figure::alone(name, products / cost.cpu.as_secs_f64(), "1/s")
            .beside(ours, "ours on the same pages")
            .print()?;
    }
    Ok(())
}

/// Crawls the stores into an empty home and returns the products per CPU-second.
fn measure(bench: &Bench, stores: &ServerProcess, names: &Names) -> anyhow::Result<f64> {
    let home = tempfile::tempdir()?;
    bench.register(home.path(), stores, usize::MAX)?;
    let (report, cost) = of_children(|| bench.run(home.path(), &["crawl"]))?;
    let products = products_of(&report)?;
    let ours = products / cost.cpu.as_secs_f64();

    let (decoded, floor) = of_self(|| fetch_and_decode(stores))?;
    let floor = decoded / floor.cpu.as_secs_f64();
    Figure::alone(names.per_cpu_s, ours, "1/s")
        .beside(floor, "fetching and decoding alone")
        .print()?;
    Figure::alone(names.per_wall_s, products / cost.wall.as_secs_f64(), "1/s").print()?;

    let (_, again) = of_children(|| bench.run(home.path(), &["crawl"]))?;
    Figure::alone(names.unchanged_cpu_s, again.cpu.as_secs_f64(), "s")
        .beside(cost.cpu.as_secs_f64(), "the first crawl")
        .print()?;
    Ok(ours)
}

fn products_of(report: &serde_json::Value) -> anyhow::Result<f64> {
    let products = report["totals"]["products"].as_f64();
    products.ok_or_else(|| anyhow::anyhow!("no totals.products in {report}"))
}

/// Runs another crawler on the stores and returns the number of products that it read.
fn peer(python: &std::path::Path, tool: &str, stores: &ServerProcess) -> anyhow::Result<f64> {
    let scratch = tempfile::tempdir()?;
    let urls = stores.document["stores"].as_array().into_iter().flatten();
    let urls = urls.filter_map(|store| store["base_url"].as_str());
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/crawl.py"))
        .arg(tool)
        .arg(scratch.path())
        .args(urls)
        .stderr(Stdio::inherit())
        .output()?;
    anyhow::ensure!(output.status.success(), "{tool} ended with {}", output.status);
    let counted: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    counted["products"].as_f64().context("no count of products")
}

/// Fetches every page over one connection per store and decodes it into a JSON tree.
fn fetch_and_decode(stores: &ServerProcess) -> anyhow::Result<f64> {
    let mut products = 0;
    for store in stores.document["stores"].as_array().into_iter().flatten() {
        let mut client = Client::connect(store["base_url"].as_str().unwrap_or_default())?;
        for page in 1.. {
            let (_, body) = client.get(&format!("/products.json?limit=250&page={page}"))?;
            let page: sonic_rs::Value = sonic_rs::from_slice(body)?;
            let found = sonic_rs::JsonContainerTrait::as_array(&page["products"]).map_or(0, |found| found.len());
            if found == 0 {
                break;
            }
            products += found;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    Ok(products as f64)
}
