//! Search through the routes, without sockets, beside bare tantivy on the same release and the same queries.
//!
//! `cargo run -p query-server --example speed -- HOME QUERIES [MODE]`: HOME is what `--example relevance -- --keep HOME`
//! left, QUERIES a file with a query a line, after an id and a tab.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use axum::body::Body;
use data_index::{Release, ReleaseStore};
use data_model::{Clock, Timestamp};
use data_storage::Storage;
use http_body_util::BodyExt;
use query_server::{QueryConfig, QueryServer};
use std::io::Write;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tower::ServiceExt;

/// A clock that stands still.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000)
    }
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let home = arguments.next().context("HOME")?;
    let (home, queries) = (Path::new(&home), arguments.next().context("QUERIES")?);
    let mode = arguments.next().unwrap_or_else(|| "lexical".to_owned());
    let queries = std::fs::read_to_string(queries)?;
    let queries: Vec<&str> = queries.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let releases = || -> anyhow::Result<ReleaseStore> {
        let storage = Storage::from_path(home)?.child("releases");
        Ok(ReleaseStore::new(storage, Arc::new(Still)))
    };
    let server = QueryServer::new(
        releases()?,
        home.join("cache"),
        Arc::new(Still),
        QueryConfig::new("INR".parse()?),
    );
    runtime.block_on(server.refresh())?;
    let router = server.router(None);
    let release = runtime.block_on(async {
        let current = releases()?.current().await?.context("no release")?;
        let manifest = releases()?.manifest(current.id).await?;
        let local = releases()?.fetch(&manifest, &home.join("cache")).await?;
        anyhow::Ok(Release::open(local)?)
    })?;
    for round in ["first", "second"] {
        let mut ours = Vec::new();
        for query in &queries {
            let path = format!("/v1/search?mode={mode}&limit=20&q={}", query.replace(' ', "+"));
            let request = axum::http::Request::get(&path).body(Body::empty())?;
            let begun = Instant::now();
            let bytes = runtime.block_on(async {
                let answer = router.clone().oneshot(request).await?;
                anyhow::Ok(answer.into_body().collect().await?.to_bytes())
            })?;
            ours.push((begun.elapsed().as_secs_f64() * 1e6, *query));
            anyhow::ensure!(!bytes.is_empty(), "{path}");
        }
        tell(&format!("{round} {mode}"), ours)?;
        tell(&format!("{round} bare tantivy"), bare(&release, &queries)?)?;
    }
    Ok(())
}

fn tell(label: &str, mut times: Vec<(f64, &str)>) -> anyhow::Result<()> {
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let at = |per_mille: usize| times.get(times.len() * per_mille / 1000).map_or(0.0, |time| time.0);
    let mean = times.iter().map(|time| time.0).sum::<f64>() / times.len().max(1) as f64;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{label}: mean {mean:.0} µs, p50 {:.0}, p90 {:.0}, p99 {:.0}; slowest {:?}",
        at(500),
        at(900),
        at(990),
        times.iter().rev().take(3).collect::<Vec<_>>()
    )?;
    Ok(())
}

fn bare<'a>(release: &Release, queries: &[&'a str]) -> anyhow::Result<Vec<(f64, &'a str)>> {
    let fields = release.fields();
    let searched = [
        fields.title,
        fields.brand,
        fields.category,
        fields.options,
        fields.tags,
        fields.description,
    ];
    let index = release.searcher().index();
    let mut parser = QueryParser::for_index(index, searched.iter().map(|spec| spec.field).collect());
    parser.set_conjunction_by_default();
    for spec in searched {
        parser.set_field_boost(spec.field, spec.boost);
    }
    let mut times = Vec::new();
    for query in queries {
        let begun = Instant::now();
        let parsed = parser.parse_query(query)?;
        let found = release
            .searcher()
            .search(&parsed, &TopDocs::with_limit(20).order_by_score())?;
        times.push((begun.elapsed().as_secs_f64() * 1e6, *query));
        anyhow::ensure!(found.len() <= 20);
    }
    Ok(times)
}
