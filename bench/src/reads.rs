//! Measures every kind of read over HTTP with one client: the server's CPU time and the duration.

use std::time::Instant;

use anyhow::Context;
use serde_json::Value;

use crate::http::Client;
use crate::meter::{Figure, cpu_of_process, memory_of_process, quantile};
use crate::setup::{Bench, ServerProcess};

const REQUESTS: usize = 2_000;

/// Requests built from the titles, ids and brands of the catalogue, the same in every run on the same catalogue.
#[derive(Debug)]
pub(crate) struct RequestSet {
    pub(crate) queries: Vec<String>,
    typos: Vec<String>,
    beginnings: Vec<String>,
    ids: Vec<String>,
    /// Query parameters that look up a product by its handle or its URL.
    handles: Vec<String>,
    addresses: Vec<String>,
    brands: Vec<String>,
    categories: Vec<String>,
}

impl RequestSet {
    pub(crate) fn of(bench: &Bench) -> anyhow::Result<Self> {
        let statement = "select p.product_id, p.title, p.brand_slug, p.handle, b.base_url from products p
            join brands b on b.slug = p.brand_slug order by p.product_uid";
        let limit = REQUESTS.to_string();
        let rows = bench.run(bench.home(), &["sql", statement, "--limit", &limit])?;
        let rows = rows.as_array().context("rows")?;
        let texts = |column: &str| -> Vec<String> {
            let text = |row: &Value| row[column].as_str().unwrap_or_default().to_owned();
            rows.iter().map(text).collect()
        };
        let queries: Vec<String> = texts("title")
            .iter()
            .enumerate()
            .filter_map(|(at, title)| words(at, title))
            .collect();
        Ok(Self {
            typos: queries.iter().filter_map(|query| mistyped(query)).collect(),
            beginnings: queries.iter().map(|query| beginning(query)).collect(),
            queries,
            ids: texts("product_id"),
            handles: (texts("handle").iter().zip(texts("brand_slug")))
                .map(|(handle, brand)| format!("handle={}&brand={}", encoded(handle), encoded(&brand)))
                .collect(),
            addresses: (texts("base_url").iter().zip(texts("handle")))
                .map(|(base_url, handle)| format!("{base_url}/products/{handle}"))
                .collect(),
            brands: texts("brand_slug"),
            categories: Vec::new(),
        })
    }

    /// Adds the categories that the server lists, both large and small.
    fn with_categories(mut self, client: &mut Client) -> anyhow::Result<Self> {
        fn gather(nodes: &Value, slugs: &mut Vec<String>) {
            for node in nodes.as_array().into_iter().flatten() {
                slugs.extend(node["slug"].as_str().map(str::to_owned));
                gather(&node["children"], slugs);
            }
        }
        let (_, body) = client.get("/v1/categories")?;
        gather(&serde_json::from_slice::<Value>(body)?["data"], &mut self.categories);
        Ok(self)
    }
}

/// Returns one to three words of a title.
fn words(at: usize, title: &str) -> Option<String> {
    let title = title.to_lowercase();
    let words = title
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.len() > 2);
    let words: Vec<&str> = words.skip(at % 2).take(1 + at % 3).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Swaps two adjacent letters of the query's longest word. Returns `None` if no word is long enough.
fn mistyped(query: &str) -> Option<String> {
    let long = query.split(' ').max_by_key(|word| word.len())?;
    let letters: Vec<char> = long.chars().collect();
    let middle = letters.len() / 2;
    if letters.len() < 6
        || letters[middle] == letters[middle - 1]
        || !letters.iter().all(|letter| letter.is_alphabetic())
    {
        return None;
    }
    let mut swapped = letters;
    swapped.swap(middle, middle - 1);
    Some(query.replace(long, &swapped.into_iter().collect::<String>()))
}

/// Returns the query without the end of its last word, as while typing.
fn beginning(query: &str) -> String {
    let letters = query.chars().count();
    let last = query.rsplit(' ').next().map_or(0, |word| word.chars().count());
    query.chars().take(letters - last / 2).collect()
}

/// Percent-encodes a value for a query string.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let asked = RequestSet::of(bench)?;
    let begun = Instant::now();
    let server = bench.serve(bench.home(), &["query-server", "--listen", "127.0.0.1:0"])?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    let mut client = Client::connect(&address)?;
    while client.get("/readyz")?.0 != 200 {
        std::thread::yield_now();
    }
    Figure::alone("reads.start_to_ready_ms", begun.elapsed().as_secs_f64() * 1e3, "ms").print()?;
    let asked = asked.with_categories(&mut client)?;
    let search = |rest: &str, queries: &[String]| -> Vec<String> {
        queries
            .iter()
            .map(|query| format!("/v1/search?limit=20{rest}&q={}", encoded(query)))
            .collect()
    };
    let each = |path: &str, values: &[String]| -> Vec<String> {
        values.iter().map(|value| path.replace("{}", &encoded(value))).collect()
    };
    let kinds: [(&str, Vec<String>); 16] = [
        ("nothing", vec!["/healthz".to_owned(); REQUESTS]),
        ("stats", vec!["/v1/stats".to_owned(); REQUESTS]),
        ("lexical", search("&mode=lexical", &asked.queries)),
        ("semantic", search("&mode=semantic", &asked.queries)),
        ("hybrid", search("", &asked.queries)),
        ("hybrid_facets", search("&facet_counts=true", &asked.queries)),
        (
            "hybrid_filtered",
            search("&in_stock=true&price_max=200000", &asked.queries),
        ),
        ("typo", search("", &asked.typos)),
        ("suggest", each("/v1/suggest?q={}", &asked.beginnings)),
        ("browse_category", each("/v1/browse?category={}", &asked.categories)),
        ("browse_brand", each("/v1/brands/{}/products", &asked.brands)),
        (
            "browse_folded",
            each("/v1/browse?fold=color&category={}", &asked.categories),
        ),
        (
            "lookup_handle",
            asked.handles.iter().map(|rest| format!("/v1/lookup?{rest}")).collect(),
        ),
        ("lookup_url", each("/v1/lookup?url={}", &asked.addresses)),
        ("recommend", each("/v1/recommend?product_id={}", &asked.ids)),
        ("product", each("/v1/products/{}", &asked.ids)),
    ];
    for (kind, paths) in &kinds {
        measure(&server, &mut client, kind, paths)?;
    }
    crate::constants::compare(&server, &address)?;
    let (own, mapped) = memory_of_process(server.child.id())?;
    Figure::alone("reads.memory_own_mib", own / 1048576.0, "MiB").print()?;
    Figure::alone("reads.memory_mapped_mib", mapped / 1048576.0, "MiB").print()
}

/// Requests the paths in rotation, `REQUESTS` times in all, and prints the cost per request.
fn measure(server: &ServerProcess, client: &mut Client, kind: &str, paths: &[String]) -> anyhow::Result<()> {
    anyhow::ensure!(!paths.is_empty(), "nothing to ask for {kind}");
    let paths = || paths.iter().cycle().take(REQUESTS);
    for path in paths().take(200) {
        client.get(path)?;
    }
    let cpu = cpu_of_process(server.child.id())?;
    let mut times = Vec::with_capacity(REQUESTS);
    let mut empty = 0_u32;
    for path in paths() {
        let begun = Instant::now();
        let (status, body) = client.get(path)?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
        anyhow::ensure!(status == 200, "{path}: {status}");
        empty += u32::from(body.starts_with(b"{\"data\":[]"));
    }
    let cpu = cpu_of_process(server.child.id())?.saturating_sub(cpu);
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let count = REQUESTS as f64;
    let print =
        |what: &str, value: f64, unit: &'static str| Figure::named(format!("reads.{kind}.{what}"), value, unit).print();
    print("server_cpu_us", cpu.as_secs_f64() * 1e6 / count, "µs")?;
    print("p50_us", quantile(&mut times, 0.5), "µs")?;
    print("p99_us", quantile(&mut times, 0.99), "µs")?;
    print("empty_share", f64::from(empty) / count, "")
}
