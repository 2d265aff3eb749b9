//! Measures the cost of a live price compared with the same fetch by a bare client, of a signed quote, and of
//! stored-data reads in a server that is also a gateway.

use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};

use crate::http::Client;
use crate::meter::{Figure, cpu_of_process, quantile};
use crate::setup::{Bench, ServerProcess};

/// Number of products in the stores, which is small because the stores are not measured.
const PRODUCTS: &str = "600";
const STORES: &str = "6";
/// Number of price requests. Each alternates with the same fetch by a bare client.
const PRICES: usize = 2_000;
/// Number of reads that are sent together, so that one wake-up of the server serves them all.
const TOGETHER: usize = 50;
/// Number of groups of reads, each sent to both servers.
const TURNS: usize = 240;

/// Product, and the data to request it from its store.
struct Product {
    id: String,
    /// Index of the product's store in the list of clients.
    store: usize,
    query: Vec<u8>,
}

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let home = scratch.path();
    let stores = bench.serve(
        home,
        &[
            "emulate",
            "--products",
            PRODUCTS,
            "--stores",
            STORES,
            "--seed",
            "1",
            "--identity",
        ],
    )?;
    bench.register(home, &stores, usize::MAX)?;
    bench.run(home, &["crawl", "--release"])?;
    let mut up = bench.command(home, &["up", "--listen", "127.0.0.1:0"]);
    up.env("HAAT_LIVE_GATEWAY__ASK__REUSE_MS", "0");
    let up = Bench::serving(up)?;
    let alone = bench.serve(home, &["query-server", "--listen", "127.0.0.1:0"])?;
    let (mut with_gateway, mut without) = (ready(&up)?, ready(&alone)?);
    let (products, mut bare) = products(bench, &stores, home)?;
    prices(&products, &mut with_gateway, &mut bare)?;
    let with_gateway = ReadServer {
        process: &up,
        client: &mut with_gateway,
    };
    let without = ReadServer {
        process: &alone,
        client: &mut without,
    };
    reads(&products, [with_gateway, without])
}

fn ready(server: &ServerProcess) -> anyhow::Result<Client> {
    let address = server.document["address"].as_str().context("address")?;
    let mut client = Client::connect(address)?;
    while client.get("/readyz")?.0 != 200 {
        std::thread::yield_now();
    }
    Ok(client)
}

/// Returns the products of the catalogue, and a client for each store.
fn products(
    bench: &Bench,
    stores: &ServerProcess,
    home: &std::path::Path,
) -> anyhow::Result<(Vec<Product>, Vec<Client>)> {
    let statement = "select v.product_id, b.base_url, array_agg(v.variant_id) as variants from variants v \
                     join brands b on b.store = v.store group by 1, 2 order by 1";
    let rows = bench.run(home, &["sql", statement])?;
    let urls: Vec<&str> = stores.document["stores"]
        .as_array()
        .context("stores")?
        .iter()
        .filter_map(|store| store["base_url"].as_str())
        .collect();
    let clients = urls.iter().map(|url| Client::connect(url)).collect::<Result<_, _>>()?;
    let product = |row: &Value| {
        let url = row["base_url"].as_str().context("base_url")?;
        let variants = row["variants"].as_array().context("variants")?.iter();
        let ids: Vec<String> = variants
            .map(|id| format!("gid://shopify/ProductVariant/{id}"))
            .collect();
        let query = json!({
            "query": QUERY,
            "operationName": "Variants",
            "variables": { "ids": ids, "country": null },
        });
        Ok(Product {
            id: row["product_id"].as_str().context("product_id")?.to_owned(),
            store: urls.iter().position(|known| *known == url).context("store")?,
            query: query.to_string().into_bytes(),
        })
    };
    let products = rows.as_array().context("rows")?.iter().map(product);
    Ok((products.collect::<anyhow::Result<_>>()?, clients))
}

/// GraphQL query that the gateway sends to a store.
const QUERY: &str = "query Variants($ids: [ID!]!, $country: CountryCode) @inContext(country: $country) { nodes(ids: $ids) { \
    __typename ... on ProductVariant { id title sku availableForSale price { amount currencyCode } \
    compareAtPrice { amount currencyCode } product { id } } } }";

/// Measures three requests with one client that waits for each response: a price over HTTP, a price with a signed
/// quote, and the same fetch from the store itself.
fn prices(products: &[Product], gateway: &mut Client, stores: &mut [Client]) -> anyhow::Result<()> {
    let (mut through, mut quoted, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for (turn, product) in products.iter().cycle().take(PRICES).enumerate() {
        let mut kinds = [("", &mut through), ("?quote=true", &mut quoted)];
        kinds.rotate_left(turn % 2);
        for (query, each) in kinds {
            let began = Instant::now();
            let (status, body) = gateway.get(&format!("/v1/products/{}/price{query}", product.id))?;
            each.push(began.elapsed().as_secs_f64() * 1e3);
            let told: Value = serde_json::from_slice(body)?;
            let is_whole = told["data"]["verified"] == true && told["data"]["quote"].is_string() != query.is_empty();
            anyhow::ensure!(status == 200 && is_whole, "{told}");
        }
        let client = stores.get_mut(product.store).context("store")?;
        let began = Instant::now();
        let (status, _) = client.post("/api/2026-04/graphql.json", &product.query)?;
        bare.push(began.elapsed().as_secs_f64() * 1e3);
        anyhow::ensure!(status == 200, "the store answers {status}");
    }
    for (name, share) in [("median", 0.5), ("p99", 0.99)] {
        let (through, bare) = (quantile(&mut through, share), quantile(&mut bare, share));
        Figure::named(
            format!("live.quoted_price_{name}_ms"),
            quantile(&mut quoted, share),
            "ms",
        )
        .beside(through, "the same price without a quote, in turn")
        .print()?;
        Figure::named(format!("live.price_{name}_ms"), through, "ms")
            .beside(bare, "the same query sent to the store by a bare client, in turn")
            .print()?;
        Figure::named(format!("live.overhead_{name}_ms"), through - bare, "ms").print()?;
    }
    Ok(())
}

struct ReadServer<'a> {
    process: &'a ServerProcess,
    client: &'a mut Client,
}

/// Measures the CPU cost of reads of stored data in a server that is also a gateway and in one that is not. The
/// duration of reads is not compared, because it depends more on the kernel's scheduling than on the server.
fn reads(products: &[Product], servers: [ReadServer<'_>; 2]) -> anyhow::Result<()> {
    let mut each_us = [Vec::new(), Vec::new()];
    let mut servers = servers;
    for (turn, group) in products.chunks(TOGETHER).cycle().take(TURNS).enumerate() {
        for which in [turn % 2, 1 - turn % 2] {
            let ReadServer { process, client } = &mut servers[which];
            let before = cpu_of_process(process.child.id())?;
            for product in group {
                client.ask(&format!("/v1/products/{}", product.id))?;
            }
            for _ in group {
                let (status, _) = client.answer()?;
                anyhow::ensure!(status == 200, "the server answers {status}");
            }
            let spent = cpu_of_process(process.child.id())?.saturating_sub(before);
            each_us[which].push(spent.as_secs_f64() * 1e6 / group.len() as f64);
        }
    }
    let [mut beside, mut alone] = each_us;
    Figure::named(
        "live.read_beside_gateway_server_cpu_us".to_owned(),
        quantile(&mut beside, 0.5),
        "µs",
    )
    .beside(
        quantile(&mut alone, 0.5),
        "the same reads of a query server alone, in turn",
    )
    .print()
}
