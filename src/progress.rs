//! Progress on standard error: bars on a terminal. Without a terminal, a crawl logs one line per minute.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use data_model::{BrandSlug, RunId};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use pipeline_backfill::{Estimate, Watch};
use pipeline_crawl::Progress;
use pipeline_release::BuildProgress;
use tokio_util::task::AbortOnDropHandle;

use crate::output::counted;

/// Interval between the progress lines of a crawl without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
struct Counts {
    stores: AtomicU64,
    through: AtomicU64,
    failed: AtomicU64,
    held_back: AtomicU64,
    products: AtomicU64,
}

impl Counts {
    fn line(&self, elapsed: Duration) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (hours, minutes) = (elapsed.as_secs() / 3600, elapsed.as_secs() / 60 % 60);
        format!(
            "crawling for {hours} h {minutes:02} min: {} of {} finished, {} failed, {} held back; {} read",
            of(&self.through),
            counted(of(&self.stores), "store"),
            of(&self.failed),
            of(&self.held_back),
            counted(of(&self.products), "product"),
        )
    }
}

/// Logs the progress of a crawl at intervals until the returned handle is dropped.
fn said_each(
    counts: &Arc<Counts>,
    every: Duration,
    mut say: impl FnMut(String) + Send + 'static,
) -> AbortOnDropHandle<()> {
    let counts = Arc::clone(counts);
    let begun = Instant::now();
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(every).await;
            say(counts.line(begun.elapsed()));
        }
    }))
}

/// Bar of a crawl over its stores, with the products and bytes read so far.
#[derive(Debug)]
pub(crate) struct CrawlBar {
    stores: ProgressBar,
    products: ProgressBar,
    counts: Arc<Counts>,
    // Task that logs progress until the bar is dropped.
    _said: Option<AbortOnDropHandle<()>>,
    // One owner draws both lines, so that they do not overwrite each other.
    _lines: indicatif::MultiProgress,
}

/// Formats a rate with a sensible number of digits.
fn rate(per_second: f64) -> String {
    let digits = usize::from(per_second < 10.0);
    format!("{per_second:.digits$}/s")
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        // If the write fails, the bar has no rate.
        let _ = out.write_str(&rate(state.per_sec()));
    })
}

impl CrawlBar {
    /// Creates a bar, or log lines if there is no terminal. Must be called within the runtime.
    pub(crate) fn new(quiet: bool) -> Self {
        let lines = indicatif::MultiProgress::new();
        if quiet {
            lines.set_draw_target(ProgressDrawTarget::hidden());
        }
        let stores = lines.add(ProgressBar::new(0));
        stores.set_style(style("{bar:32.cyan/blue} {pos}/{len} stores  {elapsed}  {msg}"));
        let products = lines.add(ProgressBar::new_spinner());
        products.set_style(style("{human_pos} products, {rate}"));
        let counts = Arc::default();
        let silent = quiet || std::io::stderr().is_terminal();
        let said = (!silent).then(|| said_each(&counts, LINE_EVERY, |line| tracing::info!("{line}")));
        Self {
            stores,
            products,
            counts,
            _said: said,
            _lines: lines,
        }
    }
}

impl Progress for CrawlBar {
    fn run_started(&self, _run: &RunId, stores: usize, done: usize) {
        self.counts.stores.store(stores as u64, Ordering::Relaxed);
        self.counts.through.store(done as u64, Ordering::Relaxed);
        self.stores.set_length(stores as u64);
        self.stores.set_position(done as u64);
        self.stores.enable_steady_tick(Duration::from_millis(200));
    }

    fn page(&self, _brand: &BrandSlug, _page: u32, _bytes: u64, products: u32) {
        self.counts.products.fetch_add(u64::from(products), Ordering::Relaxed);
        self.products.inc(u64::from(products));
    }

    fn store_finished(&self, brand: &BrandSlug, outcome: &str, detail: Option<&str>) {
        self.counts.through.fetch_add(1, Ordering::Relaxed);
        match outcome {
            "failed" => self.counts.failed.fetch_add(1, Ordering::Relaxed),
            "held_back" => self.counts.held_back.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        self.stores.inc(1);
        match detail {
            Some(detail) => self.stores.set_message(format!("{brand}: {outcome} ({detail})")),
            None => self.stores.set_message(format!("{brand}: {outcome}")),
        }
    }

    fn run_finished(&self, _run: &RunId) {
        self.stores.finish();
        self.products.finish();
    }
}

/// Bar of a long step over its items. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct StepBar {
    bar: ProgressBar,
    quiet: bool,
}

impl StepBar {
    fn new(quiet: bool, items: u64, template: &str) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(items)
        };
        bar.set_style(style(&format!("{{bar:32.cyan/blue}} {template}")));
        Self { bar, quiet }
    }

    /// Creates the bar of a backfill over its stores.
    pub(crate) fn of_backfill(quiet: bool) -> Self {
        Self::new(quiet, 0, "{pos}/{len} stores read again  {elapsed}, {eta} left")
    }

    /// Creates the bar of the crawls of several days.
    pub(crate) fn of_days(quiet: bool, days: u32) -> Self {
        let days = Self::new(quiet, u64::from(days), "{pos}/{len} days crawled  {elapsed}");
        days.bar.enable_steady_tick(Duration::from_millis(200));
        days
    }

    /// Creates the bar of the probing of stores.
    pub(crate) fn of_probes(quiet: bool, stores: usize) -> Self {
        Self::new(quiet, stores as u64, "{pos}/{len} stores probed  {elapsed}  {msg}")
    }

    /// Creates the bar of a build over its products.
    pub(crate) fn of_build(quiet: bool) -> Self {
        Self::new(quiet, 0, "{human_pos}/{human_len} products indexed  {elapsed}  {rate}")
    }

    /// Creates the bar of a copy over its bytes. `done` is the verb to show, such as copied or verified.
    pub(crate) fn of_copy(quiet: bool, done: &str) -> Self {
        let template = format!("{{bytes}}/{{total_bytes}} {done}  {{elapsed}}  {{bytes_per_sec}}");
        Self::new(quiet, 0, &template)
    }

    /// Counts one item, with a text if there is one to show.
    pub(crate) fn step(&self, text: Option<String>) {
        self.bar.inc(1);
        if let Some(text) = text {
            self.bar.set_message(text);
        }
    }
}

impl Drop for StepBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for StepBar {
    fn planned(&self, estimate: &Estimate, through: u64) {
        self.bar.set_length(through + estimate.stores);
        self.bar.set_position(through);
        if self.quiet {
            return;
        }
        let minutes = estimate
            .minutes
            .map_or("unknown".to_owned(), |minutes| format!("{minutes:.1}"));
        let (stores, pages) = (counted(estimate.stores, "store"), counted(estimate.pages, "page"));
        let (megabytes, products) = (estimate.bytes >> 20, counted(estimate.products, "product"));
        tracing::info!(
            "about to read {stores}: {pages}, {megabytes} MiB, {products}; estimated minutes from the first pages: \
             {minutes}"
        );
        self.bar.enable_steady_tick(Duration::from_millis(200));
    }

    fn through(&self, stores: u64, _products: u64) {
        self.bar.inc(stores);
    }
}

impl BuildProgress for StepBar {
    fn planned(&self, products: u64) {
        self.bar.set_length(products);
    }

    fn indexed(&self, products: u64) {
        self.bar.inc(products);
    }
}

impl data_backup::CopyProgress for StepBar {
    fn total(&self, _objects: u64, bytes: u64) {
        self.bar.inc_length(bytes);
    }

    fn done(&self, bytes: u64) {
        self.bar.inc(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_rounded() {
        assert_eq!([0.123_4, 9.87, 1_234.567_8].map(rate), ["0.1/s", "9.9/s", "1235/s"]);
    }

    #[tokio::test]
    async fn a_crawl_without_a_terminal_says_again_and_again_how_far_it_is() {
        let counts = Arc::new(Counts::default());
        counts.stores.store(40, Ordering::Relaxed);
        counts.through.store(12, Ordering::Relaxed);
        counts.failed.store(1, Ordering::Relaxed);
        counts.products.store(1_234, Ordering::Relaxed);
        let (sender, mut said) = tokio::sync::mpsc::unbounded_channel();
        let saying = said_each(&counts, Duration::from_millis(1), move |line| {
            let _ = sender.send(line);
        });
        for _ in 0..2 {
            assert_eq!(
                said.recv().await.unwrap(),
                "crawling for 0 h 00 min: 12 of 40 stores finished, 1 failed, 0 held back; 1234 products read"
            );
        }
        drop(saying);
        // The bar is silent after the end of the crawl.
        while said.recv().await.is_some() {}
        let hours = Duration::from_secs(2 * 3600 + 7 * 60 + 59);
        assert!(counts.line(hours).starts_with("crawling for 2 h 07 min: "));
    }
}
