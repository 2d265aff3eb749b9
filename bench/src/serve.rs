//! Measures the query server over HTTP with one client. With the feature `tantivy`, compares it with bare tantivy over
//! the same products.

use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::http::Client;
use crate::meter::{Figure, cpu_of_process, memory_of_process, quantile};
use crate::setup::{Bench, ServerProcess};

const QUERIES: usize = 2_000;
const DETAILS: usize = 20_000;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let (queries, ids) = sample(bench)?;
    let begun = Instant::now();
    let server = bench.serve(bench.home(), &["query-server", "--listen", "127.0.0.1:0"])?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    let mut client = Client::connect(&address)?;
    while client.get("/readyz")?.0 != 200 {
        std::thread::yield_now();
    }
    Figure::alone("serve.start_to_ready_ms", begun.elapsed().as_secs_f64() * 1e3, "ms").print()?;
    search(bench, &server, &mut client, &queries)?;
    detail(&server, &mut client, &ids)?;
    memory(&server, &mut client)
}

/// Returns queries of one to three words from titles, and product ids, the same in every run on the same catalogue.
fn sample(bench: &Bench) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let limit = DETAILS.to_string();
    let rows = bench.run(
        bench.home(),
        &[
            "sql",
            "select product_id, title from products order by product_id",
            "--limit",
            &limit,
        ],
    )?;
    let rows = rows.as_array().context("rows")?;
    let text = |row: &Value, column: &str| row[column].as_str().unwrap_or_default().to_owned();
    let queries = rows.iter().enumerate().take(QUERIES).map(|(number, row)| {
        let title = text(row, "title").to_lowercase();
        let words = title
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| word.len() > 2);
        words
            .skip(number % 2)
            .take(1 + number % 3)
            .collect::<Vec<_>>()
            .join(" ")
    });
    Ok((
        queries.filter(|query| !query.is_empty()).collect(),
        rows.iter().map(|row| text(row, "product_id")).collect(),
    ))
}

fn search(bench: &Bench, server: &ServerProcess, client: &mut Client, queries: &[String]) -> anyhow::Result<()> {
    let path = |query: &String| format!("/v1/search?mode=lexical&limit=20&q={}", query.replace(' ', "+"));
    for query in queries.iter().take(200) {
        client.get(&path(query))?;
    }
    let cpu = cpu_of_process(server.child.id())?;
    let mut over_http = Vec::with_capacity(queries.len());
    for query in queries {
        let path = path(query);
        let begun = Instant::now();
        let (status, _) = client.get(&path)?;
        over_http.push(begun.elapsed().as_secs_f64() * 1e3);
        anyhow::ensure!(status == 200, "{path}: {status}");
    }
    let cpu = cpu_of_process(server.child.id())?.saturating_sub(cpu);
    let p50 = Figure::alone("search.http_p50_ms", quantile(&mut over_http, 0.5), "ms");
    let p99 = Figure::alone("search.http_p99_ms", quantile(&mut over_http, 0.99), "ms");
    let (p50, p99) = match bare(bench, queries)? {
        Some(mut bare) => (
            p50.beside(quantile(&mut bare, 0.5), BARE),
            p99.beside(quantile(&mut bare, 0.99), BARE),
        ),
        None => (p50, p99),
    };
    p50.print()?;
    p99.print()?;
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let each_us = cpu.as_secs_f64() * 1e6 / queries.len() as f64;
    Figure::alone("search.server_cpu_us", each_us, "µs").print()
}

const BARE: &str = "bare tantivy, same products, query parser and top 20, in process";

/// Returns the times of the same queries in bare tantivy, if the feature is enabled.
#[cfg(feature = "tantivy")]
fn bare(bench: &Bench, queries: &[String]) -> anyhow::Result<Option<Vec<f64>>> {
    crate::tantivy_peer::times(bench.home(), queries).map(Some)
}

#[cfg(not(feature = "tantivy"))]
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
fn bare(_: &Bench, _: &[String]) -> anyhow::Result<Option<Vec<f64>>> {
    Ok(None)
}

fn detail(server: &ServerProcess, client: &mut Client, ids: &[String]) -> anyhow::Result<()> {
    let cpu = cpu_of_process(server.child.id())?;
    let mut times = Vec::with_capacity(ids.len());
    for id in ids {
        let begun = Instant::now();
        let (status, _) = client.get(&format!("/v1/products/{id}"))?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
        anyhow::ensure!(status == 200, "{id}: {status}");
    }
    let detail = cpu_of_process(server.child.id())?.saturating_sub(cpu).as_secs_f64();
    let cpu = cpu_of_process(server.child.id())?;
    for _ in ids {
        client.get("/healthz")?;
    }
    let floor = cpu_of_process(server.child.id())?.saturating_sub(cpu).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let count = ids.len() as f64;
    Figure::alone("detail.server_cpu_us", detail * 1e6 / count, "µs")
        .beside(floor * 1e6 / count, "/healthz, the same server doing nothing")
        .print()?;
    Figure::alone("detail.http_p50_us", quantile(&mut times, 0.5), "µs").print()?;
    Figure::alone("detail.http_p99_us", quantile(&mut times, 0.99), "µs").print()
}

fn memory(server: &ServerProcess, client: &mut Client) -> anyhow::Result<()> {
    let stats: Value = serde_json::from_slice(client.get("/v1/stats")?.1)?;
    let products = stats["data"]["products"].as_f64().context("products")?;
    let (own, mapped) = memory_of_process(server.child.id())?;
    Figure::alone("memory.own_bytes_per_product", own / products, "bytes").print()?;
    Figure::alone("memory.mapped_bytes_per_product", mapped / products, "bytes").print()
}
