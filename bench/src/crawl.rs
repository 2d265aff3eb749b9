//! Crawl + normalise + write to Parquet, beside fetching and decoding the same pages and nothing more.

use crate::http::Client;
use crate::meter::{Figure, of_children, of_self};
use crate::setup::Bench;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let stores = bench.emulate(0)?;
    let home = tempfile::tempdir()?;
    bench.register(home.path(), &stores, usize::MAX)?;
    let (report, cost) = of_children(|| bench.run(home.path(), &["crawl"]))?;
    let products = products_of(&report)?;
    let ours = products / cost.cpu.as_secs_f64();

    let (decoded, floor) = of_self(|| fetch_and_decode(&stores))?;
    let floor = decoded / floor.cpu.as_secs_f64();
    Figure::alone("crawl.products_per_cpu_s", ours, "1/s")
        .beside(floor, "fetching and decoding alone")
        .print()?;
    Figure::alone("crawl.products_per_wall_s", products / cost.wall.as_secs_f64(), "1/s").print()?;

    let (_, again) = of_children(|| bench.run(home.path(), &["crawl"]))?;
    Figure::alone("crawl.unchanged_cpu_s", again.cpu.as_secs_f64(), "s")
        .beside(cost.cpu.as_secs_f64(), "the first crawl")
        .print()
}

fn products_of(report: &serde_json::Value) -> anyhow::Result<f64> {
    let products = report["totals"]["products"].as_f64();
    products.ok_or_else(|| anyhow::anyhow!("no totals.products in {report}"))
}

/// GETs every page over one connection a store and decodes it into a tree.
fn fetch_and_decode(stores: &crate::setup::Serving) -> anyhow::Result<f64> {
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
