//! The query server over HTTP, one client, beside bare tantivy on the same index in this process.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use data_index::{Release, ReleaseStore, taxonomy};
use data_storage::Storage;
use serde_json::Value;
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, TantivyDocument};

use crate::http::Client;
use crate::meter::{Figure, cpu_of_process, memory_of_process, quantile};
use crate::setup::{Bench, Serving, still};

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

/// Queries of one to three words from titles, and ids of products: the same ones in every run on the same catalogue.
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

fn search(bench: &Bench, server: &Serving, client: &mut Client, queries: &[String]) -> anyhow::Result<()> {
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
    let mut bare = bare_tantivy(bench.home(), queries)?;
    let (http_p99, bare_p99) = (quantile(&mut over_http, 0.99), quantile(&mut bare, 0.99));
    Figure::alone("search.http_p50_ms", quantile(&mut over_http, 0.5), "ms")
        .beside(
            quantile(&mut bare, 0.5),
            "bare tantivy, same products, query parser and top 20, in process",
        )
        .print()?;
    Figure::alone("search.http_p99_ms", http_p99, "ms")
        .beside(bare_p99, "bare tantivy")
        .print()?;
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let each_us = cpu.as_secs_f64() * 1e6 / queries.len() as f64;
    Figure::alone("search.server_cpu_us", each_us, "µs").print()
}

/// The texts of a product that are searched, and what each weighs.
const FIELDS: [(&str, f32); 6] = [
    ("title", 5.0),
    ("brand", 2.0),
    ("category", 2.0),
    ("options", 0.5),
    ("tags", 0.5),
    ("description", 1.0),
];

/// The release's products in an index as tantivy makes it: English stems, one segment, in memory.
fn indexed(release: &Release) -> anyhow::Result<Index> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("en_stem")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let options = TextOptions::default().set_indexing_options(indexing);
    let fields = FIELDS.map(|(name, _)| schema.add_text_field(name, options.clone()));
    let mut writer = Index::builder()
        .schema(schema.build())
        .single_segment_index_writer(RamDirectory::create(), 256 << 20)?;
    for part in release.parts() {
        for row in (0..part.rows()).filter(|row| !part.dead().contains(*row)) {
            let product = part.product(row);
            let brand = release.brands().get(part.brand_index(row)).context("brand")?;
            let category = product
                .category
                .and_then(taxonomy::by_id)
                .map_or("", |category| category.path);
            let options = product.options.iter().flat_map(|option| option.values.clone());
            let texts = [
                product.title,
                format!("{} {}", brand.facts.brand.name, product.vendor.unwrap_or_default()),
                format!("{category} {}", product.product_type.unwrap_or_default()),
                options.collect::<Vec<_>>().join(" "),
                product.tags.join(" "),
                product.description,
            ];
            let mut document = TantivyDocument::new();
            for (field, text) in fields.iter().zip(&texts) {
                document.add_text(*field, text);
            }
            writer.add_document(document)?;
        }
    }
    Ok(writer.finalize()?)
}

/// The same queries by tantivy's own query parser and top-20 collector, over the same products.
fn bare_tantivy(home: &Path, queries: &[String]) -> anyhow::Result<Vec<f64>> {
    let index = indexed(&open(home)?)?;
    let searcher = index.reader()?.searcher();
    let fields: Vec<Field> = index.schema().fields().map(|(field, _)| field).collect();
    let mut parser = QueryParser::for_index(&index, fields.clone());
    parser.set_conjunction_by_default();
    for (field, (_, boost)) in fields.into_iter().zip(FIELDS) {
        parser.set_field_boost(field, boost);
    }
    let mut times = Vec::with_capacity(queries.len());
    for query in queries.iter().take(200).chain(queries) {
        let begun = Instant::now();
        let parsed = parser.parse_query(query)?;
        searcher.search(&parsed, &TopDocs::with_limit(20).order_by_score())?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times.split_off(queries.len().min(200)))
}

fn open(home: &Path) -> anyhow::Result<Release> {
    let releases = ReleaseStore::new(Storage::from_path(home)?.child("releases"), still());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let current = releases.current().await?.context("no release")?;
        let manifest = releases.manifest(current.id).await?;
        let local = releases.fetch(&manifest, &home.join("cache")).await?;
        Ok(Release::open(local)?)
    })
}

fn detail(server: &Serving, client: &mut Client, ids: &[String]) -> anyhow::Result<()> {
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

fn memory(server: &Serving, client: &mut Client) -> anyhow::Result<()> {
    let stats: Value = serde_json::from_slice(client.get("/v1/stats")?.1)?;
    let products = stats["data"]["products"].as_f64().context("products")?;
    let (own, mapped) = memory_of_process(server.child.id())?;
    Figure::alone("memory.own_bytes_per_product", own / products, "bytes").print()?;
    Figure::alone("memory.mapped_bytes_per_product", mapped / products, "bytes").print()
}
