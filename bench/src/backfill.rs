//! Measures a backfill of the whole lake from landed pages, compared with the first crawl of the same stores, which
//! also fetched the pages. A second measurement is a backfill that changes nothing.

use serde_json::Value;

use crate::meter::{Figure, of_children};
use crate::setup::Bench;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let stores = bench.emulate(0)?;
    bench.register(home.path(), &stores, usize::MAX)?;
    let (crawled, crawl) = of_children(|| bench.run(home.path(), &["crawl"]))?;
    drop(stores);
    let products = number(&crawled, "/totals/products")?;

    std::fs::rename(home.path().join("lake"), home.path().join("lost"))?;
    let command = ["backfill", "--all", "--stage", "parse"];
    let (made, cost) = of_children(|| bench.run(home.path(), &command))?;
    let added = number(&made, "/totals/difference/added")?;
    anyhow::ensure!(
        (added - products).abs() < 0.5,
        "{added} of {products} products came back"
    );
    Figure::alone("backfill.products", added, "products").print()?;
    Figure::alone("backfill.products_per_cpu_s", added / cost.cpu.as_secs_f64(), "1/s")
        .beside(products / crawl.cpu.as_secs_f64(), "the first crawl, fetching included")
        .print()?;
    Figure::alone("backfill.products_per_wall_s", added / cost.wall.as_secs_f64(), "1/s")
        .beside(
            products / crawl.wall.as_secs_f64(),
            "the first crawl, fetching included",
        )
        .print()?;

    let (again, unchanged) = of_children(|| bench.run(home.path(), &command))?;
    let same = number(&again, "/totals/difference/same")?;
    anyhow::ensure!(
        (same - products).abs() < 0.5,
        "{same} of {products} products are the same"
    );
    Figure::alone(
        "backfill.unchanged_products_per_wall_s",
        same / unchanged.wall.as_secs_f64(),
        "1/s",
    )
    .print()
}

fn number(report: &Value, pointer: &str) -> anyhow::Result<f64> {
    let number = report.pointer(pointer).and_then(Value::as_f64);
    number.ok_or_else(|| anyhow::anyhow!("no {pointer} in {report}"))
}
