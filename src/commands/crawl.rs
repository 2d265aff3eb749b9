use std::fs::{File, TryLockError};
use std::sync::Arc;

use anyhow::Context as _;
use data_model::BrandSlug;
use data_storage::Storage;
use pipeline_refresh::{
    OtherCrawls, Outcome as StoreOutcome, RefreshDeps, RunOptions, RunReport, RunState, confirm, refresh,
};
use tokio_util::sync::CancellationToken;

use super::release;
use crate::cli::CrawlArgs;
use crate::exit::{Outcome, plain, usage};
use crate::progress::CrawlBar;
use crate::wiring::{Context, shutdown_signal};

/// `haat crawl`: registered brands into the lake.
pub(crate) async fn run(args: CrawlArgs, context: Context) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let slugs = |texts: &[String]| -> anyhow::Result<Vec<BrandSlug>> {
        texts
            .iter()
            .map(|text| text.parse().with_context(|| format!("{text:?}")).map_err(usage))
            .collect()
    };
    for slug in slugs(&args.confirm)? {
        confirm(&storage, &slug).await?;
    }
    let only = slugs(&args.brands)?;
    let only = if only.is_empty() { None } else { Some(only) };
    let report = crawl(
        &context,
        &storage,
        &RunOptions {
            only,
            force: args.force,
            dry_run: args.dry_run,
        },
    )
    .await?;
    let how = release::Build {
        accept_collapse: args.accept_collapse,
        ..release::Build::default()
    };
    let interrupted = report.state == RunState::Interrupted;
    let released = if args.release && !args.dry_run && !interrupted {
        // The crawl took the signals for itself: the build is given up at the first, as it would be without a crawl.
        tokio::select! {
            built = release::build(&context, &storage, &how) => Some(built),
            () = shutdown_signal() => Some(Err(anyhow::anyhow!("the build of the release was interrupted"))),
        }
    } else {
        None
    };
    // The lake has what was crawled, whatever became of the release: the result is printed before any failure.
    let (released, failure) = match released {
        Some(Ok(released)) => {
            let lost = release::lost(&released);
            (Some(released), lost)
        }
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    let mut document = serde_json::to_value(&report)?;
    document["release"] = serde_json::to_value(&released)?;
    document["release_error"] = failure.as_ref().map(plain).into();
    context.output.print(&document, |out| {
        summary(out, &report)?;
        match &released {
            Some(released) => release::write_report(out, released),
            None => Ok(()),
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    let whole = report.totals.failed + report.totals.held_back + report.totals.skipped == 0;
    Ok(if whole { Outcome::Done } else { Outcome::Partial })
}

/// Runs one refresh with a progress bar; Ctrl-C ends it after what is under way, and the next run goes on with it.
pub(crate) async fn crawl(context: &Context, storage: &Storage, options: &RunOptions) -> anyhow::Result<RunReport> {
    let cancel = CancellationToken::new();
    let lake = context.lake_in(storage).await?;
    if let Some(tick) = lake.unfinished_tick().await {
        // Nothing could be committed: no store need be asked for that.
        anyhow::bail!("tick {tick} of the lake was begun and cannot be finished; the warning above says why");
    }
    // Held until the run is over.
    let (others, _lock) = lock(storage);
    let deps = RefreshDeps {
        others,
        storage: storage.clone(),
        lake,
        storefront: context.storefront()?,
        clock: Arc::clone(&context.clock),
        progress: Arc::new(CrawlBar::new(context.quiet)),
        cancel: cancel.clone(),
    };
    let interrupted = cancel.clone();
    let listener = tokio::spawn(async move {
        shutdown_signal().await;
        interrupted.cancel();
    });
    // Boxed: a run is a large future.
    let report = Box::pin(refresh(options, &context.config.refresh, &deps)).await;
    listener.abort();
    Ok(report?)
}

/// Whether others crawl into a local storage; and the lock that tells others of this crawl as long as it is held. The
/// system gives it back however the process ends.
fn lock(storage: &Storage) -> (OtherCrawls, Option<File>) {
    let folder = storage.local_dir().map(|home| home.join("runs"));
    let opened = folder.and_then(|folder| {
        std::fs::create_dir_all(&folder).ok()?;
        File::create(folder.join("lock")).ok()
    });
    let Some(lock) = opened else {
        return (OtherCrawls::Unknown, None);
    };
    match lock.try_lock() {
        Ok(()) => (OtherCrawls::Absent, Some(lock)),
        Err(TryLockError::WouldBlock) => {
            // Shared with whoever waits too, once the one that was first is through: the next crawl is to know of these.
            if let Ok(waiting) = lock.try_clone() {
                std::thread::spawn(move || waiting.lock_shared());
            }
            (OtherCrawls::AtWork, Some(lock))
        }
        Err(TryLockError::Error(_)) => (OtherCrawls::Unknown, None),
    }
}

fn summary(out: &mut dyn std::io::Write, report: &RunReport) -> std::io::Result<()> {
    for store in &report.stores {
        if !matches!(
            store.outcome,
            StoreOutcome::Changed | StoreOutcome::Unchanged | StoreOutcome::Skipped
        ) {
            writeln!(
                out,
                "{}: {} {}",
                store.slug,
                store.outcome,
                store.outcome.detail().unwrap_or_default()
            )?;
        }
    }
    let totals = &report.totals;
    writeln!(
        out,
        "run {}: {} stores, {} changed, {} unchanged, {} held back, {} failed, {} skipped; {} products, {} quarantined, {} commits",
        report.run,
        totals.stores,
        totals.changed,
        totals.unchanged,
        totals.held_back,
        totals.failed,
        totals.skipped,
        totals.products,
        totals.quarantined,
        report.commits
    )?;
    if report.state == RunState::Interrupted {
        writeln!(out, "interrupted: the next crawl goes on with it; nothing was released")?;
    }
    if report.dry_run {
        return Ok(());
    }
    writeln!(out, "report: runs/{}.html", report.run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawl_on_a_local_home_knows_of_one_that_is_at_work_also_of_one_that_came_second() {
        assert_eq!(lock(&Storage::memory()).0, OtherCrawls::Unknown);
        let home = tempfile::tempdir().unwrap();
        let storage = Storage::from_path(home.path()).unwrap();
        let (first, held) = lock(&storage);
        let (second, waiting) = lock(&storage);
        assert_eq!((first, second), (OtherCrawls::Absent, OtherCrawls::AtWork));
        drop(held);
        // The second has the lock as soon as its thread was given it.
        let until = |wanted| {
            (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                lock(&storage).0 == wanted
            })
        };
        assert!(until(OtherCrawls::AtWork));
        drop(waiting);
        assert!(until(OtherCrawls::Absent));
    }
}
