//! Measures the precision of the first five results for queries of shoppers, by class of query. The products come from
//! the emulator's market or from recorded stores.
//!
//! `cargo run -p query-server --example shoppers -- [--recorded DIR [--currency EUR]] [--queries FILE] [--also
//! understand=false] [--verbose] [--list WORD]`
//!
//! `queries.tsv` beside this file has one query per line: its class, the round in which it was written (1: before the
//! rules that interpret queries, 2: after them), the query, and a condition for correct products. Code checks the
//! conditions, so every run gives the same figures. The score of a query is the share of correct products among the
//! first five results, or among fewer if the market has fewer. An empty position counts as wrong. `--recorded` uses the
//! stores of a folder (see `market.rs`) with the queries of `recorded.tsv`, whose rounds are by the stores of a query.
//! `--queries` uses another file. `--also` adds parameters to every request, `--verbose` prints wrong results, `--list`
//! prints titles with a word.

mod market;
mod predicate;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use axum::body::Body;
use data_model::CurrencyCode;
use http_body_util::BodyExt;
use serde_json::Value;

use market::Stores;
use predicate::{FoldedProduct, Predicate};

/// Number of top results that count.
const FIRST: usize = 5;

#[derive(Debug, Default)]
struct Options {
    also: String,
    recorded: Option<PathBuf>,
    currency: Option<CurrencyCode>,
    queries: Option<String>,
    verbose: bool,
    list: Option<String>,
}

/// Query, with the condition for correct products.
#[derive(Debug)]
struct Query<'a> {
    class: &'a str,
    round: &'a str,
    text: &'a str,
    answers: Predicate,
}

fn main() -> anyhow::Result<()> {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{name} without a value"));
        match name.as_str() {
            "--also" => options.also = format!("&{}", value()?),
            "--queries" => options.queries = Some(std::fs::read_to_string(value()?)?),
            "--recorded" => options.recorded = Some(value()?.into()),
            "--currency" => options.currency = Some(value()?.parse()?),
            "--list" => options.list = Some(value()?),
            "--verbose" => options.verbose = true,
            _ => anyhow::bail!("{name} is unknown: --recorded, --currency, --also, --queries, --list, --verbose"),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(&options))
}

async fn run(options: &Options) -> anyhow::Result<()> {
    let currency = match (options.currency, &options.recorded) {
        (Some(currency), _) => currency,
        (None, Some(_)) => "EUR".parse()?,
        (None, None) => "INR".parse()?,
    };
    let stores = match &options.recorded {
        Some(folder) => market::recorded(folder, currency)?,
        None => market::stores().await?,
    };
    if let Some(word) = &options.list {
        return list(&stores, word);
    }
    let home = tempfile::tempdir()?;
    let router = market::serve(&stores, currency, home.path()).await?;
    let judged = judged(&stores);
    let shipped = match options.recorded {
        Some(_) => include_str!("recorded.tsv"),
        None => include_str!("queries.tsv"),
    };
    let text = options.queries.as_deref().unwrap_or(shipped);
    let mut shares: BTreeMap<&str, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    let queries = read(text)?;
    let is_answered = |query: &&Query<'_>| judged.values().any(|product| query.answers.holds(product));
    let unanswered: Vec<&str> = queries
        .iter()
        .filter(|query| !is_answered(query))
        .map(|query| query.text)
        .collect();
    anyhow::ensure!(
        unanswered.is_empty(),
        "the market has nothing that answers {unanswered:?}"
    );
    for query in queries {
        let share = ask(options, &router, &judged, &query).await?;
        let class = shares.entry(query.class).or_default();
        class.entry(query.round).or_default().push(share);
    }
    report(&shares)
}

fn read(text: &str) -> anyhow::Result<Vec<Query<'_>>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let query = |line| {
        let fields: Vec<&str> = str::split(line, '\t').collect();
        let [class, round, text, answers] = fields.as_slice() else {
            anyhow::bail!("four fields: {line}");
        };
        let answers = Predicate::read(answers).with_context(|| line.to_owned())?;
        Ok(Query {
            class,
            round,
            text,
            answers,
        })
    };
    lines.map(query).collect()
}

fn judged(stores: &Stores) -> BTreeMap<String, FoldedProduct> {
    let products = stores
        .iter()
        .flat_map(|(facts, products)| products.iter().map(move |product| (facts, product)));
    let judged = products.map(|(facts, product)| {
        let id = product.key.id().to_string();
        (id, FoldedProduct::of(product, facts.brand.slug.as_str()))
    });
    judged.collect()
}

/// Sends a query and returns the share of correct products among the top results.
async fn ask(
    options: &Options,
    router: &api::EdgeRouter,
    judged: &BTreeMap<String, FoldedProduct>,
    query: &Query<'_>,
) -> anyhow::Result<f64> {
    let right = judged.values().filter(|product| query.answers.holds(product)).count();
    let answer = get(router, &path(query.text, &options.also)).await?;
    let (mut found, mut wrong) = (0, Vec::new());
    for card in answer["data"].as_array().into_iter().flatten().take(FIRST) {
        let id = card["id"].as_str().context("a card without an id")?;
        let product = judged.get(id).context("a product of no store")?;
        if query.answers.holds(product) {
            found += 1;
        } else {
            wrong.push(format!(
                "{} ({} {})",
                card["title"], card["price_min_minor"], card["currency"]
            ));
        }
    }
    let share = found as f64 / right.min(FIRST) as f64;
    if options.verbose && share < 1.0 {
        let provenance = &answer["provenance"];
        writeln!(
            std::io::stdout(),
            "{share:.1} {} {} {:?}: {right} right; {}; {} {} {} {}",
            query.class,
            query.round,
            query.text,
            wrong.join(", "),
            provenance["relaxed"],
            provenance["corrections"],
            provenance["synonyms"],
            provenance["understood"],
        )?;
    }
    Ok(share.min(1.0))
}

fn path(text: &str, also: &str) -> String {
    let encoded: String = text
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    format!("/v1/search?limit=20&q={encoded}{also}")
}

async fn get(router: &api::EdgeRouter, path: &str) -> anyhow::Result<Value> {
    let answer = router.answer(axum::http::Request::get(path).body(Body::empty())?).await;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    anyhow::ensure!(
        status.is_success(),
        "{path}: {status}: {}",
        String::from_utf8_lossy(&body)
    );
    Ok(serde_json::from_slice(&body)?)
}

fn report(shares: &BTreeMap<&str, BTreeMap<&str, Vec<f64>>>) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    let mean = |shares: &[&f64]| shares.iter().copied().sum::<f64>() / shares.len().max(1) as f64;
    let mut line = |name: &str, shares: Vec<(&str, Vec<&f64>)>| -> anyhow::Result<()> {
        let all: Vec<&f64> = shares.iter().flat_map(|(_, shares)| shares.iter().copied()).collect();
        write!(out, "{name:<12} P@5 {:.3} of {:>3}", mean(&all), all.len())?;
        for (round, shares) in &shares {
            write!(out, "   round {round} {:.3} of {:>3}", mean(shares), shares.len())?;
        }
        writeln!(out)?;
        Ok(())
    };
    let mut rounds: BTreeMap<&str, Vec<&f64>> = BTreeMap::new();
    for (class, of_class) in shares {
        line(
            class,
            of_class
                .iter()
                .map(|(round, shares)| (*round, shares.iter().collect()))
                .collect(),
        )?;
        for (round, shares) in of_class {
            rounds.entry(round).or_default().extend(shares);
        }
    }
    line("all", rounds.into_iter().collect())
}

/// Prints products whose titles contain a word, to help in writing conditions.
fn list(stores: &Stores, word: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    for (facts, products) in stores {
        for product in products
            .iter()
            .filter(|product| product.title.to_lowercase().contains(word))
        {
            let category = product
                .category
                .and_then(data_index::taxonomy::by_id)
                .map_or("-", |category| category.path);
            let price = product
                .variants
                .iter()
                .map(|variant| variant.price_minor)
                .min()
                .unwrap_or(0);
            let (title, currency, kind) = (&product.title, product.currency.as_str(), &product.product_type);
            writeln!(
                out,
                "{}\t{title}\t{price} {currency}\t{category}\t{kind:?}",
                facts.brand.slug.as_str()
            )?;
        }
    }
    Ok(())
}
