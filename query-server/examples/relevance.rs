//! Runs judged queries over folders of stores through the HTTP routes, and writes run files for a scorer.
//!
//! `cargo run -p query-server --example relevance -- --set FOLDER --mode lexical --out RUNS`
//!
//! `stores/{brand}/products-N.json` and `meta.json` are parsed, normalised and indexed as after a crawl, but without
//! crawling. `queries.tsv` has an id and a query per line. A run names products by their platform id.
//!
//! `--spoil first` (or `drop`, `two`, `four`: kinds of typing mistakes, see [`Mistake`]) uses only queries with a word
//! that fits the mistake. Each query is sent with correct spelling and with the mistake, whose results go to
//! `{set}.{mode}.first.tsv`. The ratio of the two scores is the share of relevance that remains despite the mistake.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use axum::body::Body;
use data_index::{BrandFacts, BuildOptions};
use data_model::{Brand, Clock, Product};
use data_release::{CheckOptions, Publication, ReleaseStore};
use data_storage::Storage;
use http_body_util::BodyExt;
use kit::SetClock;
use pipeline_normalise::{CatalogueBuilder, StoreContext};
use query_server::{QueryConfig, QueryServer};
use serde_json::Value;

/// Returns a stopped clock, which only names the release.
fn still() -> Arc<SetClock> {
    SetClock::at("2027-01-15T08:00:00Z")
}

#[derive(Debug, Clone, Default)]
struct Settings {
    /// Folder with `stores/` and `queries.tsv`.
    set: PathBuf,
    /// Search modes; each has a run of its own.
    modes: Vec<String>,
    /// Output folder of the runs: `{set}.{mode}.tsv`, with lines of query, product and rank.
    out: PathBuf,
    /// Maximum number of products in an answer. The API allows 40; more are needed to measure recall at lower ranks.
    limit: u16,
    /// Additional parameters of every request, such as `sort=newest`.
    also: String,
    /// Typing mistake with which the queries are also sent.
    mistake: Option<Mistake>,
    /// Folder that keeps the release for the next run.
    keep: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let mut asked = Settings {
        modes: vec!["lexical".to_owned()],
        limit: 40,
        ..Settings::default()
    };
    let mut sets = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{name} without a value"))?;
        match name.as_str() {
            "--set" => sets.push(PathBuf::from(value)),
            "--mode" => asked.modes = value.split(',').map(str::to_owned).collect(),
            "--out" => asked.out = PathBuf::from(value),
            "--limit" => asked.limit = value.parse().context("--limit is no number")?,
            "--also" => asked.also = format!("&{value}"),
            "--keep" => asked.keep = Some(PathBuf::from(value)),
            "--spoil" => asked.mistake = Some(Mistake::named(&value).context("--spoil: first, drop, two or four")?),
            _ => anyhow::bail!("{name} is unknown: --set, --mode, --out, --limit, --also, --spoil, --keep"),
        }
    }
    for set in sets {
        run(&Settings { set, ..asked.clone() })?;
    }
    Ok(())
}

/// Typing mistake in the longest word with a number of letters in the given range.
#[derive(Debug, Clone, Copy)]
struct Mistake {
    name: &'static str,
    letters: (usize, usize),
    make: fn(&mut Vec<char>),
}

const MISTAKES: [Mistake; 4] = [
    // Replaces the first letter.
    Mistake {
        name: "first",
        letters: (5, 14),
        make: |word| word[0] = if word[0] == 'm' { 'n' } else { 'm' },
    },
    // Drops the first letter.
    Mistake {
        name: "drop",
        letters: (5, 14),
        make: |word| {
            word.remove(0);
        },
    },
    // Replaces the second letter by a vowel, and swaps the two letters before the last one.
    Mistake {
        name: "two",
        letters: (6, 8),
        make: |word| {
            word[1] = if word[1] == 'e' { 'a' } else { 'e' };
            let last = word.len() - 1;
            word.swap(last - 1, last - 2);
        },
    },
    // Replaces the third letter of a four-letter word.
    Mistake {
        name: "four",
        letters: (4, 4),
        make: |word| word[2] = if word[2] == 'r' { 'n' } else { 'r' },
    },
];

impl Mistake {
    fn named(name: &str) -> Option<Self> {
        MISTAKES.into_iter().find(|mistake| mistake.name == name)
    }

    /// Returns the text with the mistake; `None` if no word fits.
    fn in_text(self, text: &str) -> Option<String> {
        let letters = |word: &&str| {
            let chars = word.chars().count();
            word.chars().all(char::is_alphabetic) && (self.letters.0..=self.letters.1).contains(&chars)
        };
        let longest = text
            .split(' ')
            .filter(letters)
            .max_by_key(|word| word.chars().count())?;
        let mut chars: Vec<char> = longest.chars().collect();
        (self.make)(&mut chars);
        Some(text.replacen(longest, &chars.into_iter().collect::<String>(), 1))
    }
}

fn run(asked: &Settings) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let scratch = tempfile::tempdir()?;
    let home = asked.keep.as_deref().unwrap_or(scratch.path());
    let file = home.join("platform-ids.json");
    let platform_ids: BTreeMap<String, u64> = if file.exists() {
        serde_json::from_slice(&std::fs::read(&file)?)?
    } else {
        std::fs::create_dir_all(home)?;
        let stores = stores(&asked.set.join("stores"))?;
        let products = stores.iter().flat_map(|(_, products)| products);
        let ids = products.map(|product| (product.key.id().to_string(), product.key.platform_id));
        let ids: BTreeMap<String, u64> = ids.collect();
        runtime.block_on(publish(&stores, home))?;
        std::fs::write(&file, serde_json::to_vec(&ids)?)?;
        ids
    };
    let router = runtime.block_on(serve(home, asked.limit))?;
    let queries = std::fs::read_to_string(asked.set.join("queries.tsv"))?;
    let set = asked
        .set
        .file_name()
        .context("a folder")?
        .to_string_lossy()
        .into_owned();
    std::fs::create_dir_all(&asked.out)?;
    let queries: Vec<(&str, String)> = queries
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(id, text)| (id, text.to_owned()))
        .collect();
    let spoiled: Vec<(&str, String)> = match asked.mistake {
        Some(mistake) => queries
            .iter()
            .filter_map(|(id, text)| Some((*id, mistake.in_text(text)?)))
            .collect(),
        None => Vec::new(),
    };
    let asks = |id: &str| asked.mistake.is_none() || spoiled.iter().any(|(spoiled, _)| *spoiled == id);
    let queries: Vec<(&str, String)> = queries.iter().filter(|(id, _)| asks(id)).cloned().collect();
    for mode in &asked.modes {
        let ask = |queries: &[(&str, String)], name: String| -> anyhow::Result<()> {
            ask(asked, &runtime, (&router, &platform_ids), (queries, mode), &name)
        };
        ask(&queries, format!("{set}.{mode}"))?;
        if let Some(mistake) = asked.mistake {
            ask(&spoiled, format!("{set}.{mode}.{}", mistake.name))?;
        }
    }
    Ok(())
}

/// Sends the queries in one mode and writes the run.
fn ask(
    asked: &Settings,
    runtime: &tokio::runtime::Runtime,
    (router, platform_ids): (&api::EdgeRouter, &BTreeMap<String, u64>),
    (queries, mode): (&[(&str, String)], &str),
    name: &str,
) -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(asked.out.join(format!("{name}.tsv")))?);
    let mut times = Vec::new();
    for (id, text) in queries {
        let path = path(text, mode, asked);
        let begun = Instant::now();
        let answer = runtime.block_on(get(router, &path))?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        for (rank, card) in (1..).zip(answer["data"].as_array().into_iter().flatten()) {
            let product = card["id"].as_str().and_then(|id| platform_ids.get(id));
            let product = product.with_context(|| format!("{path}: a product of no store"))?;
            writeln!(out, "{id}\t{product}\t{rank}")?;
        }
    }
    out.flush()?;
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    writeln!(
        std::io::stderr(),
        "{name}: {} queries, p50 {:.3} ms, p99 {:.3} ms",
        times.len(),
        at(50),
        at(99)
    )?;
    Ok(())
}

fn path(text: &str, mode: &str, asked: &Settings) -> String {
    let encoded: String = text
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    format!("/v1/search?mode={mode}&limit={}&q={encoded}{}", asked.limit, asked.also)
}

async fn get(router: &api::EdgeRouter, path: &str) -> anyhow::Result<Value> {
    let request = axum::http::Request::get(path).body(Body::empty())?;
    let answer = router.answer(request).await;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    anyhow::ensure!(
        status.is_success(),
        "{path}: {status}: {}",
        String::from_utf8_lossy(&body)
    );
    Ok(serde_json::from_slice(&body)?)
}

type Stores = Vec<(BrandFacts, Vec<Product>)>;

/// Reads and normalises every store below a folder.
fn stores(folder: &Path) -> anyhow::Result<Stores> {
    let mut stores = Vec::new();
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.join("meta.json").exists() {
            folders.push(path);
        }
    }
    folders.sort();
    for folder in folders {
        let meta: Value = serde_json::from_slice(&std::fs::read(folder.join("meta.json"))?)?;
        let text = |key: &str| {
            meta[key]
                .as_str()
                .with_context(|| format!("{key} of {}", folder.display()))
        };
        let domain = text("domain")?;
        let brand = Brand {
            store: domain.parse()?,
            slug: text("slug")?.parse()?,
            name: text("brand")?.to_owned(),
            domain: domain.to_owned(),
            base_url: format!("https://{domain}"),
            currency: text("currency")?.parse()?,
            country: None,
            ..kit::brand(text("slug")?)
        };
        let mut catalogue = CatalogueBuilder::new(StoreContext {
            store: brand.store.clone(),
            currency: brand.currency,
            base_url: brand.base_url.clone(),
        });
        for page in 1.. {
            let file = folder.join(format!("products-{page}.json"));
            if !file.exists() {
                break;
            }
            catalogue.page(&std::fs::read(file)?)?;
        }
        let facts = BrandFacts {
            refreshed_at: still().now(),
            ..kit::facts(brand)
        };
        stores.push((facts, catalogue.finish().products));
    }
    stores.sort_by(|one, other| one.0.brand.store.cmp(&other.0.brand.store));
    Ok(stores)
}

fn releases(home: &Path) -> anyhow::Result<ReleaseStore> {
    let storage = Storage::from_path(home)?.child("releases");
    Ok(ReleaseStore::new(storage, still()))
}

async fn publish(stores: &Stores, scratch: &Path) -> anyhow::Result<()> {
    let files = scratch.join("files");
    let catalogue: Vec<_> = stores
        .iter()
        .map(|(facts, products)| kit::StoreProducts { facts, products })
        .collect();
    let manifest = kit::build(&catalogue, &BuildOptions::default(), &files);
    releases(scratch)?
        .publish(Publication {
            manifest: &manifest,
            files: &files,
            cache: &scratch.join("publisher"),
            expected: None,
            checks: &CheckOptions::default(),
        })
        .await?;
    Ok(())
}

async fn serve(home: &Path, limit: u16) -> anyhow::Result<api::EdgeRouter> {
    let currency = "USD".parse()?;
    let server = QueryServer::new(
        releases(home)?,
        home.join("cache"),
        still(),
        QueryConfig {
            search_limit_max: limit.max(40),
            ..QueryConfig::new(currency)
        },
    );
    server.refresh().await?;
    Ok(server.router(None))
}
