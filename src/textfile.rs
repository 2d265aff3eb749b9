//! Metrics of a short command in a file for the textfile collector of Prometheus, because a process that has ended
//! cannot be scraped.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use data_model::Timestamp;
use pipeline_refresh::RunReport;

use crate::exit::plain;
use crate::wiring::Context;

/// Metrics from this value's creation on, written when the crawl ends.
pub(crate) struct Textfile {
    path: PathBuf,
    rendered: Box<dyn Fn() -> String + Send>,
    begun: Timestamp,
}

impl Textfile {
    /// Returns `None` if no file is configured.
    ///
    /// # Errors
    /// Fails if another metrics recorder is already installed.
    pub(crate) fn open(context: &Context) -> anyhow::Result<Option<Self>> {
        let path = &context.config.metrics.textfile;
        if path.is_empty() {
            return Ok(None);
        }
        let handle = api::install_metrics(env!("CARGO_PKG_VERSION"))?;
        Ok(Some(Self {
            path: PathBuf::from(path),
            rendered: Box::new(move || handle.render()),
            begun: context.clock.now(),
        }))
    }

    /// Writes the metrics of a crawl that ended with `exit_code`. A failure is only a warning, because the crawl is
    /// done.
    pub(crate) fn write(&self, context: &Context, report: Option<&RunReport>, exit_code: u8) {
        record(report, self.begun, context.clock.now(), exit_code);
        if let Err(error) = replaced(&self.path, &(self.rendered)()) {
            tracing::warn!("metrics.textfile: {}", plain(&error));
        }
    }
}

fn record(report: Option<&RunReport>, begun: Timestamp, ended: Timestamp, exit_code: u8) {
    // Prometheus expects times in seconds. An `f64` is exact to the microsecond for some 200 years.
    let seconds = |moment: Timestamp| moment.micros() as f64 / 1e6;
    let gauges = [
        (
            "crawl_last_start_timestamp_seconds",
            "Start of the last crawl, in seconds since 1970",
            seconds(begun),
        ),
        (
            "crawl_last_end_timestamp_seconds",
            "End of the last crawl, whether it succeeded or failed, in seconds since 1970",
            seconds(ended),
        ),
        (
            "crawl_last_duration_seconds",
            "Duration of the last crawl, including the release after it",
            seconds(ended) - seconds(begun),
        ),
        (
            "crawl_last_exit_code",
            "Exit code of the last crawl: 0 done, 1 failed, 2 wrong usage, 3 done in part, 4 another writer was first",
            f64::from(exit_code),
        ),
    ];
    for (name, meaning, value) in gauges {
        metrics::describe_gauge!(name, meaning);
        metrics::gauge!(name).set(value);
    }
    // An aborted crawl has no counts, and those of another run would be wrong.
    let Some(report) = report else { return };
    let totals = &report.totals;
    metrics::describe_gauge!("crawl_last_stores", "Number of stores in the last run, by outcome");
    for (outcome, count) in [
        ("changed", totals.changed),
        ("unchanged", totals.unchanged),
        ("held_back", totals.held_back),
        ("failed", totals.failed),
        ("skipped", totals.skipped),
    ] {
        metrics::gauge!("crawl_last_stores", "outcome" => outcome).set(count as f64);
    }
    for (name, meaning, value) in [
        (
            "crawl_last_products",
            "Number of products of the stores in the last run",
            totals.products,
        ),
        (
            "crawl_last_requests",
            "Number of requests in the last run",
            totals.requests,
        ),
        (
            "crawl_last_received_bytes",
            "Number of decoded bytes received in the last run",
            totals.bytes,
        ),
        (
            "crawl_last_commits",
            "Number of commits to the lake in the last run",
            report.commits,
        ),
    ] {
        metrics::describe_gauge!(name, meaning);
        metrics::gauge!(name).set(value as f64);
    }
}

/// Replaces the file atomically, so that the collector never reads half of it.
fn replaced(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path
        .file_name()
        .with_context(|| format!("{} names no file", path.display()))?;
    // The collector reads only files that end in `.prom`. The file is no private temporary file, because the collector
    // runs as another user.
    let beside = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // The file may not exist.
        let _ = std::fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
