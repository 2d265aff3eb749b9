mod show;

use std::sync::Arc;

use anyhow::Context as _;
use data_model::BrandSlug;
use data_storage::Storage;
use pipeline_backfill::Range;
use pipeline_shipping::{
    RefreshShippingError, RereadOutcome, RereadShipping, RereadShippingError, RereadShippingOptions, ShippingDeps,
    ShippingOptions, ShippingReport, refresh_shipping, reread_shipping,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::jobs::Rights;
use crate::cli::backfill::BackfillArgs;
use crate::cli::shipping::{RefreshShippingArgs, ShippingCommand};
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::{Context, shutdown_signal};

/// `haat shipping …`
pub(crate) async fn run(command: ShippingCommand, context: Context) -> anyhow::Result<Outcome> {
    match command {
        ShippingCommand::Refresh(args) => refresh(&args, &context).await,
        ShippingCommand::Show(args) => show::show(&args, &context).await,
    }
}

async fn refresh(args: &RefreshShippingArgs, context: &Context) -> anyhow::Result<Outcome> {
    let parsed = args
        .brands
        .iter()
        .map(|text| text.parse().with_context(|| format!("{text:?}")));
    let only: Vec<BrandSlug> = parsed.collect::<anyhow::Result<_>>().map_err(usage)?;
    let options = ShippingOptions {
        only: Some(only).filter(|only| !only.is_empty()),
        after_s: u64::from(args.after_hours) * 3600,
        keep_days: context.config.landing.keep_days,
        dry_run: args.dry_run,
    };
    if let Some(warning) = context.unnamed_crawler() {
        tracing::warn!("{warning}");
    }
    let model = context.terms_model()?;
    let storage = context.storage()?;
    let cancel = CancellationToken::new();
    let rights = Rights::open(context).await?;
    let deps = ShippingDeps {
        rights: rights.given.clone(),
        model,
        lake: context.lake_in(&storage).await?,
        storage,
        storefront: context.storefront()?,
        clock: Arc::clone(&context.clock),
        cancel: cancel.clone(),
    };
    let listener = tokio::spawn(async move {
        shutdown_signal().await;
        cancel.cancel();
    });
    let refreshed = Box::pin(refresh_shipping(&options, &deps)).await;
    listener.abort();
    rights.close().await;
    let report = refreshed.map_err(|error| match error {
        RefreshShippingError::Brand(_) => usage(error.into()),
        error => error.into(),
    })?;
    print(context, &report)
}

/// Reads what all stores say of shipping into the lake, as `haat shipping refresh` does.
pub(crate) async fn read_terms(context: &Context, storage: &Storage) -> anyhow::Result<()> {
    let deps = ShippingDeps {
        rights: None,
        model: context.terms_model()?,
        lake: context.lake_in(storage).await?,
        storage: storage.clone(),
        storefront: context.storefront()?,
        clock: Arc::clone(&context.clock),
        cancel: CancellationToken::new(),
    };
    // Boxed: it asks many stores at once.
    let report = Box::pin(refresh_shipping(&ShippingOptions::default(), &deps)).await?;
    tracing::info!(changed = report.changed, "shipping terms read");
    Ok(())
}

/// `haat backfill --stage shipping`: what stores answered before, into terms.
pub(super) async fn reread(
    args: &BackfillArgs,
    only: Option<Vec<BrandSlug>>,
    range: Range,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let lake = context.lake_in(&storage).await?;
    let options = RereadShippingOptions {
        only,
        from: range.from,
        until: range.until,
        older: args.older,
        dry_run: args.dry_run,
    };
    let read = reread_shipping(&options, &storage, &lake).await;
    let report = read.map_err(|error| match error {
        RereadShippingError::Brand(_) => usage(error.into()),
        error => error.into(),
    })?;
    let document = json!({ "stage": args.stage, "report": report });
    context.output.print(&document, |out| write_reread(out, &report))?;
    let is_left = |outcome| matches!(outcome, RereadOutcome::Older | RereadOutcome::Unclear);
    Ok(if report.brands.iter().any(|one| is_left(one.outcome)) {
        Outcome::Partial
    } else {
        Outcome::Done
    })
}

fn write_reread(out: &mut dyn std::io::Write, report: &RereadShipping) -> std::io::Result<()> {
    for one in &report.brands {
        let told = match (one.outcome, one.asked_at) {
            (RereadOutcome::Changed, Some(at)) => {
                format!(
                    "{} facts more, {} fewer, asked at {at}",
                    one.facts_added, one.facts_gone
                )
            }
            (RereadOutcome::Older, Some(at)) => {
                format!("asked at {at}, the lake has something newer: --older takes it")
            }
            (RereadOutcome::Unclear, _) => {
                "its texts say nothing now: `haat shipping refresh` asks it again".to_owned()
            }
            (RereadOutcome::NotInLake, _) => "no crawl brought it yet".to_owned(),
            (RereadOutcome::NothingLanded, _) => "nothing that it answered is kept".to_owned(),
            _ => continue,
        };
        writeln!(out, "{:32} {told}", one.brand.as_str())?;
    }
    let totals = &report.totals;
    let verb = if report.dry_run { "would change" } else { "changed" };
    writeln!(
        out,
        "terms of {}: {} {verb}, {} are as they were, {} left",
        counted(totals.brands, "brand"),
        totals.changed,
        totals.unchanged,
        totals.left
    )?;
    match report.undo_as_of.filter(|_| !report.dry_run && totals.changed > 0) {
        Some(at) => writeln!(out, "undo: haat lake restore --as-of {at} --table shipping_policies"),
        None => Ok(()),
    }
}

fn print(context: &Context, report: &ShippingReport) -> anyhow::Result<Outcome> {
    context.output.print(report, |out| {
        for one in &report.asked {
            let detail = match (&one.error, &one.source_url) {
                (Some(error), _) => error.clone(),
                (None, Some(url)) => format!("{} from {url}", counted(one.facts, "fact")),
                (None, None) => String::new(),
            };
            writeln!(out, "{:32} {:8} {detail}", one.brand.as_str(), one.outcome)?;
        }
        let verb = if report.dry_run {
            "nothing written"
        } else {
            "terms changed"
        };
        writeln!(
            out,
            "{} asked of {}, {}: {verb} of {}",
            counted(report.asked.len(), "store"),
            report.brands,
            counted(report.requests, "request"),
            report.changed
        )?;
        let Some(proposals) = &report.proposals else {
            return Ok(());
        };
        let told = proposals.named().map(|(outcome, count)| format!("{count} {outcome}"));
        writeln!(out, "proposals of the language model: {}", told.join(", "))
    })?;
    let is_partial = report.interrupted
        || report
            .asked
            .iter()
            .any(|one| matches!(one.outcome, "failed" | "skipped"));
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}
