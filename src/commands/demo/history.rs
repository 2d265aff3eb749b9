//! A market with a past: the stores are crawled day by day, each day by a clock that shows it.

use std::io::IsTerminal as _;
use std::sync::Arc;

use data_model::{BrandSlug, Clock, Timestamp};
use data_storage::Storage;
use pipeline_crawl::Registry;
use pipeline_refresh::RunOptions;
use tokio_util::sync::CancellationToken;

use crate::commands::crawl;
use crate::exit::usage;
use crate::progress::DayBar;
use crate::wiring::Context;

const DAY_MS: i64 = 86_400_000;

/// Another clock, so much earlier.
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

/// Refuses a history where a home has one: the days of the demo would come after it.
pub(super) async fn possible(storage: &Storage, days: u32, home: &str) -> anyhow::Result<()> {
    if days > 1 && !Registry::load(storage).await?.is_empty() {
        return Err(usage(anyhow::anyhow!(
            "--days: the home {home} has a market already; name one that is empty"
        )));
    }
    Ok(())
}

/// The context of a day that was so many days ago.
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

/// Crawls the stores once a day for so many days, of which the last is today. Between two days the stores go on: prices move,
/// products come and go, and stock changes.
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
    let bar = DayBar::new(context.quiet || days == 1, days);
    for day in 0..days {
        stores.advance(u64::from(day));
        let mut then = days_ago(context, days - 1 - day);
        // One bar for all days, rather than one a day.
        then.quiet |= days > 1;
        // A signal ends the demo, and with it the crawl. Boxed: a run is a large future.
        Box::pin(crawl::crawl(&then, storage, &options, None, &CancellationToken::new())).await?;
        bar.crawled();
        if days > 1 && !context.quiet && !std::io::stderr().is_terminal() {
            tracing::info!("crawled day {} of {days}", day + 1);
        }
    }
    Ok(())
}
