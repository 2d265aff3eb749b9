use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use data_model::{BAD_RATES_MAX, BadRate, Day, ExchangeRate, read_rates};
use serde_json::json;
use storefront::{Accept, FetchOutcome};
use url::Url;

use crate::cli::rates::RatesCommand;
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::Context;

/// Maximum size of the CSV text.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// Maximum number of wrong rows that an error shows.
const SHOWN_MAX: usize = 10;

pub(crate) async fn run(command: RatesCommand, context: Context) -> anyhow::Result<Outcome> {
    let RatesCommand::Import { from, dry_run } = command;
    let (text, source) = match from.split_once("://") {
        Some(("http" | "https", _)) => Box::pin(asked(&context, &from)).await?,
        _ => read(&from).map_err(usage)?,
    };
    let newest = Day::newest_at(context.clock.now());
    let parsed = tokio::task::spawn_blocking(move || read_rates(&text, newest)).await?;
    let rates: Vec<ExchangeRate> = parsed.map_err(|bad| usage(wrong(&source, &bad)))?;
    let lake = context.lake().await?;
    let report = Box::pin(lake.commit_rates(&rates, &source, dry_run)).await?;
    let document = json!({
        "source": source,
        "dry_run": dry_run,
        "added": report.added,
        "corrected": report.corrected,
        "unchanged": report.unchanged,
        "tick": report.tick,
    });
    context.output.print(&document, |out| {
        let verb = if dry_run { "would be " } else { "" };
        writeln!(
            out,
            "{} {verb}added, {} {verb}corrected, {} already present",
            counted(report.added, "rate"),
            report.corrected,
            report.unchanged
        )
    })?;
    Ok(Outcome::Done)
}

/// Reads a file or standard input. Also returns its name for messages.
fn read(from: &str) -> anyhow::Result<(String, String)> {
    let mut text = String::new();
    let (source, bytes) = if from == "-" {
        let read = std::io::stdin().take(TEXT_BYTES_MAX + 1).read_to_string(&mut text);
        ("standard input".to_owned(), read.context("standard input")?)
    } else {
        let file = std::fs::File::open(from).with_context(|| from.to_owned())?;
        let read = file.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text);
        let name = Path::new(from).file_name().unwrap_or_default();
        (
            name.to_string_lossy().into_owned(),
            read.with_context(|| from.to_owned())?,
        )
    };
    if bytes as u64 > TEXT_BYTES_MAX {
        bail!("{source}: the text is larger than {TEXT_BYTES_MAX} bytes");
    }
    Ok((text, source))
}

/// Fetches the text at a URL. Also returns the URL's host and path without the query, which may contain a key.
async fn asked(context: &Context, address: &str) -> anyhow::Result<(String, String)> {
    let url: Url = address.parse().with_context(|| address.to_owned()).map_err(usage)?;
    let origin = url.join("/").with_context(|| address.to_owned()).map_err(usage)?;
    let source = format!("{}{}", url.host_str().unwrap_or_default(), url.path());
    let store = context.storefront()?.store(&origin).with_context(|| source.clone())?;
    let path = url
        .query()
        .map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    match store.get(&path, Accept::Any).await.with_context(|| source.clone())? {
        FetchOutcome::Body(page) => {
            let text = String::from_utf8(page.bytes.to_vec()).with_context(|| source.clone())?;
            Ok((text, source))
        }
        FetchOutcome::NotModified => bail!("{source}: the server answered that nothing has changed"),
    }
}

fn wrong(source: &str, bad: &[BadRate]) -> anyhow::Error {
    let shown: Vec<String> = bad.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
    let count = if bad.len() < BAD_RATES_MAX {
        counted(bad.len(), "wrong row")
    } else {
        format!("{BAD_RATES_MAX} or more wrong rows")
    };
    let more = if bad.len() > shown.len() { "; …" } else { "" };
    anyhow::anyhow!("{source}: {count}, nothing is imported: {}{more}", shown.join("; "))
}
