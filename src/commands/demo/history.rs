//! Demo market with a history: the stores are crawled once for each day, with the clock of that day.

use std::io::IsTerminal as _;
use std::sync::Arc;

use data_model::{BrandSlug, Clock, Timestamp};
use data_storage::Storage;
use pipeline_crawl::Registry;
use pipeline_refresh::RunOptions;
use tokio_util::sync::CancellationToken;

use crate::commands::crawl;
use crate::exit::usage;
use crate::progress::StepBar;
use crate::wiring::Context;

const DAY_MS: i64 = 86_400_000;

/// Clock that is behind another one by a fixed time.
#[derive(Debug)]
struct Earlier {
    clock: Arc<dyn Clock>,
    by_ms: i64,
}

impl Clock for Earlier {
    fn now(&self) -> Timestamp {
        self.clock.now().plus_millis(-self.by_ms)
    }
}

/// Refuses a history if the home already has one that the demo's days would overlap.
pub(super) async fn possible(storage: &Storage, days: u32, home: &str) -> anyhow::Result<()> {
    if days > 1 && !Registry::load(storage).await?.is_empty() {
        return Err(usage(anyhow::anyhow!(
            "--days: the home {home} already contains a market; choose an empty home"
        )));
    }
    Ok(())
}

/// Returns a context with a clock that is `days` days behind.
pub(super) fn days_ago(context: &Context, days: u32) -> Context {
    let mut then = context.clone();
    if days > 0 {
        then.clock = Arc::new(Earlier {
            clock: Arc::clone(&context.clock),
            by_ms: i64::from(days) * DAY_MS,
        });
    }
    then
}

/// Crawls the stores once for each of `days` days, the last of which is today. Prices, products and stock change
/// between two days.
pub(super) async fn crawl_days(
    context: &Context,
    storage: &Storage,
    stores: &emulator::RunningStores,
    slugs: Vec<BrandSlug>,
    days: u32,
) -> anyhow::Result<()> {
    let options = RunOptions {
        only: Some(slugs),
        ..RunOptions::default()
    };
    let bar = StepBar::of_days(context.quiet || days == 1, days);
    for day in 0..days {
        stores.advance(u64::from(day));
        let mut then = days_ago(context, days - 1 - day);
        // One bar shows all days.
        then.quiet |= days > 1;
        // A signal ends the demo, and its crawl with it. The future is boxed because it is large.
        Box::pin(crawl::crawl(&then, storage, &options, None, &CancellationToken::new())).await?;
        bar.step(None);
        if days > 1 && !context.quiet && !std::io::stderr().is_terminal() {
            tracing::info!("day {} of {days} crawled", day + 1);
        }
    }
    Ok(())
}
