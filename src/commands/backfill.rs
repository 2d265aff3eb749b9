use std::sync::Arc;

use anyhow::Context as _;
use pipeline_backfill::{Backfill, BackfillDeps, BackfillError, BackfillOptions, Range, Stage, write_report};
use pipeline_task::RereadOptions;
use serde_json::json;

use super::release;
use super::reviews::reread as reviews;
use super::shipping::reread as shipping;
use super::stores::slugs;
use crate::cli::backfill::BackfillArgs;
use crate::exit::{Outcome, usage};
use crate::progress::StepBar;
use crate::wiring::{Context, until_signal};

/// Runs `haat backfill`, which rebuilds the lake from landed pages, or a release from the lake.
pub(crate) async fn run(args: BackfillArgs, context: Context) -> anyhow::Result<Outcome> {
    if args.stage == Stage::Index {
        return index(&args, &context).await;
    }
    let range = Range::new(
        args.from.as_deref(),
        args.to.as_deref(),
        context.config.market_time_zone,
    );
    let only = slugs(&args.brands)?;
    let (only, range) = (
        Some(only).filter(|_| !args.all),
        range.context("--from and --to").map_err(usage)?,
    );
    if matches!(args.stage, Stage::Shipping | Stage::Reviews) {
        let options = RereadOptions {
            only,
            from: range.from,
            until: range.until,
            older: args.older,
            dry_run: args.dry_run,
        };
        return match args.stage {
            Stage::Shipping => shipping(&args, &options, &context).await,
            _ => reviews(&args, &options, &context).await,
        };
    }
    let options = BackfillOptions {
        only,
        range,
        stage: args.stage,
        older: args.older,
        accept_collapse: args.accept_collapse,
        dry_run: args.dry_run,
    };
    let report = read_again(&options, &context).await?;
    context.output.print(&report, |out| write_report(out, &report))?;
    Ok(Outcome::partial_if(!report.is_whole()))
}

/// Parses the landed pages again. After a signal it finishes the current page and stops.
async fn read_again(options: &BackfillOptions, context: &Context) -> anyhow::Result<Backfill> {
    let storage = context.storage()?;
    let (told, _listener) = until_signal();
    let deps = BackfillDeps {
        lake: context.lake_in(&storage).await?,
        storage,
        config: context.config.refresh.clone(),
        country: context.storefront()?.config().country.clone(),
        clock: Arc::clone(&context.clock),
        watch: Arc::new(StepBar::of_backfill(context.quiet)),
        cancel: told,
    };
    // The future is boxed because it is large and would take much stack space.
    let done = Box::pin(pipeline_backfill::backfill(options, &deps)).await;
    done.map_err(|error| match error {
        BackfillError::UnknownBrand(_) => usage(error.into()),
        error => error.into(),
    })
}

async fn index(args: &BackfillArgs, context: &Context) -> anyhow::Result<Outcome> {
    if !args.all || args.from.is_some() || args.to.is_some() || args.older {
        return Err(usage(anyhow::anyhow!(
            "--stage index rebuilds the whole release from the current lake: use --all, without --from, --to and \
             --older"
        )));
    }
    let how = release::Build {
        full: true,
        dry_run: args.dry_run,
        accept_collapse: args.accept_collapse,
        ..release::Build::default()
    };
    let storage = context.storage()?;
    let built = Box::pin(release::build(context, &storage, &how)).await?;
    let document = json!({ "stage": args.stage, "release": built });
    context
        .output
        .print(&document, |out| release::write_report(out, &built.report))?;
    if let Some(lost) = release::lost(&built.report) {
        return Err(lost);
    }
    Ok(Outcome::partial_if(built.needs_a_look()))
}
