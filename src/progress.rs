//! Progress bars on standard error, for people; silent when standard error is no terminal.

use std::fmt::Write;
use std::time::Duration;

use data_model::{BrandSlug, RunId};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use pipeline_crawl::Progress;
use pipeline_release::BuildProgress;

/// Draws a crawl as one bar over its stores, with products and bytes read so far.
#[derive(Debug)]
pub(crate) struct CrawlBar {
    stores: ProgressBar,
    products: ProgressBar,
    // Both lines are drawn by one owner, so that they do not overwrite each other.
    _lines: indicatif::MultiProgress,
}

/// A pace, as exact as it is worth reading.
fn rate(per_second: f64) -> String {
    let digits = usize::from(per_second < 10.0);
    format!("{per_second:.digits$}/s")
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        // A line that cannot be drawn is drawn without.
        let _ = out.write_str(&rate(state.per_sec()));
    })
}

impl CrawlBar {
    pub(crate) fn new(quiet: bool) -> Self {
        let lines = indicatif::MultiProgress::new();
        if quiet {
            lines.set_draw_target(ProgressDrawTarget::hidden());
        }
        let stores = lines.add(ProgressBar::new(0));
        stores.set_style(style("{bar:32.cyan/blue} {pos}/{len} stores  {elapsed}  {msg}"));
        let products = lines.add(ProgressBar::new_spinner());
        products.set_style(style("{human_pos} products, {rate}"));
        Self {
            stores,
            products,
            _lines: lines,
        }
    }
}

impl Progress for CrawlBar {
    fn run_started(&self, _run: &RunId, stores: usize, done: usize) {
        self.stores.set_length(stores as u64);
        self.stores.set_position(done as u64);
        self.stores.enable_steady_tick(Duration::from_millis(200));
    }

    fn page(&self, _brand: &BrandSlug, _page: u32, _bytes: u64, products: u32) {
        self.products.inc(u64::from(products));
    }

    fn store_finished(&self, brand: &BrandSlug, outcome: &str, detail: Option<&str>) {
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

/// Draws a build as one bar over its products.
#[derive(Debug)]
pub(crate) struct BuildBar(ProgressBar);

impl BuildBar {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(0)
        };
        bar.set_style(style(
            "{bar:32.cyan/blue} {human_pos}/{human_len} products indexed  {elapsed}  {rate}",
        ));
        Self(bar)
    }
}

impl BuildProgress for BuildBar {
    fn planned(&self, products: u64) {
        self.0.set_length(products);
    }

    fn indexed(&self, products: u64) {
        self.0.inc(products);
    }
}

impl Drop for BuildBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_rounded() {
        assert_eq!([0.123_4, 9.87, 1_234.567_8].map(rate), ["0.1/s", "9.9/s", "1235/s"]);
    }
}
