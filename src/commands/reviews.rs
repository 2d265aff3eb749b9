use std::sync::Arc;

use anyhow::Context as _;
use data_model::BrandSlug;
use pipeline_backfill::Range;
use pipeline_reviews::{
    RefreshReviewsError, RereadReviews, RereadReviewsError, RereadReviewsOptions, RereadReviewsOutcome, ReviewsDeps,
    ReviewsOptions, ReviewsReport, refresh_reviews, reread_reviews,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::jobs::Rights;
use crate::cli::backfill::BackfillArgs;
use crate::cli::reviews::{RefreshReviewsArgs, ReviewsCommand};
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::{Context, shutdown_signal};

/// `haat reviews …`
pub(crate) async fn run(command: ReviewsCommand, context: Context) -> anyhow::Result<Outcome> {
    let ReviewsCommand::Refresh(args) = command;
    refresh(&args, &context).await
}

async fn refresh(args: &RefreshReviewsArgs, context: &Context) -> anyhow::Result<Outcome> {
    let parsed = args
        .brands
        .iter()
        .map(|text| text.parse().with_context(|| format!("{text:?}")));
    let only: Vec<BrandSlug> = parsed.collect::<anyhow::Result<_>>().map_err(usage)?;
    let options = ReviewsOptions {
        only: Some(only).filter(|only| !only.is_empty()),
        sweep: args.sweep,
        keep_days: context.config.landing.keep_days,
        dry_run: args.dry_run,
    };
    if let Some(warning) = context.unnamed_crawler() {
        tracing::warn!("{warning}");
    }
    let storage = context.storage()?;
    let cancel = CancellationToken::new();
    let rights = Rights::open(context).await?;
    let deps = ReviewsDeps {
        rights: rights.given.clone(),
        lake: context.lake_in(&storage).await?,
        storage,
        storefront: context.storefront()?,
        widgets: context.widgets()?,
        clock: Arc::clone(&context.clock),
        cancel: cancel.clone(),
    };
    let listener = tokio::spawn(async move {
        shutdown_signal().await;
        cancel.cancel();
    });
    let refreshed = Box::pin(refresh_reviews(&options, &deps)).await;
    listener.abort();
    rights.close().await;
    let report = refreshed.map_err(|error| match error {
        RefreshReviewsError::Brand(_) => usage(error.into()),
        error => error.into(),
    })?;
    print(context, &report)
}

/// `haat backfill --stage reviews`: what review apps answered before, into reviews and ratings.
pub(super) async fn reread(
    args: &BackfillArgs,
    only: Option<Vec<BrandSlug>>,
    range: Range,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let lake = context.lake_in(&storage).await?;
    let options = RereadReviewsOptions {
        only,
        from: range.from,
        until: range.until,
        older: args.older,
        dry_run: args.dry_run,
    };
    let cancel = CancellationToken::new();
    let listener = tokio::spawn({
        let told = cancel.clone();
        async move {
            shutdown_signal().await;
            told.cancel();
        }
    });
    let read = Box::pin(reread_reviews(&options, (&storage, &lake), &cancel)).await;
    listener.abort();
    let report = read.map_err(|error| match error {
        RereadReviewsError::Brand(_) => usage(error.into()),
        error => error.into(),
    })?;
    let document = json!({ "stage": args.stage, "report": report });
    context.output.print(&document, |out| write_reread(out, &report))?;
    let is_left = |outcome| {
        matches!(
            outcome,
            RereadReviewsOutcome::NotWhole
                | RereadReviewsOutcome::Older
                | RereadReviewsOutcome::Unclear
                | RereadReviewsOutcome::Damaged
        )
    };
    let is_partial = report.interrupted || report.brands.iter().any(|one| is_left(one.outcome));
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

fn write_reread(out: &mut dyn std::io::Write, report: &RereadReviews) -> std::io::Result<()> {
    for one in &report.brands {
        let told = match (one.outcome, one.asked_at) {
            (RereadReviewsOutcome::Changed, Some(at)) => format!(
                "{} reviews added, {} changed, {} gone, {} the same; {} ratings and {} refused records otherwise; read {at}",
                one.added, one.changed, one.gone, one.same, one.ratings_changed, one.refused_changed
            ),
            (RereadReviewsOutcome::Older, Some(at)) => {
                format!("read {at}, and again after the range: --older takes it")
            }
            (RereadReviewsOutcome::NotWhole, _) => {
                "no whole list of its reviews is landed: `haat reviews refresh --sweep` reads it".to_owned()
            }
            (RereadReviewsOutcome::Unclear, _) => {
                "a landed answer cannot be understood now: `haat reviews refresh --sweep` asks again".to_owned()
            }
            (RereadReviewsOutcome::Damaged, _) => "rows of it are missing or damaged: `haat lake repair`".to_owned(),
            (RereadReviewsOutcome::NotInLake, _) => "no crawl brought it yet".to_owned(),
            (RereadReviewsOutcome::NothingLanded, _) => "no answer of a review app is landed".to_owned(),
            _ => continue,
        };
        writeln!(out, "{:32} {told}", one.brand.as_str())?;
    }
    let totals = &report.totals;
    let verb = if report.dry_run { "would change" } else { "changed" };
    writeln!(
        out,
        "reviews of {}: {} {verb}, {} are as they were, {} left; reviews in product pages are part of --stage parse",
        counted(totals.brands, "brand"),
        totals.changed,
        totals.unchanged,
        totals.left
    )?;
    if report.interrupted {
        writeln!(out, "interrupted: the same command goes on with it")?;
    }
    let Some(at) = report.undo_as_of.filter(|_| !report.dry_run && totals.changed > 0) else {
        return Ok(());
    };
    let has_refused = report.brands.iter().any(|one| one.refused_changed > 0);
    let more = if has_refused { " --table quarantine" } else { "" };
    writeln!(
        out,
        "undo: haat lake restore --as-of {at} --table widget_reviews --table widget_ratings{more}"
    )
}

fn print(context: &Context, report: &ReviewsReport) -> anyhow::Result<Outcome> {
    context.output.print(report, |out| {
        for one in &report.asked {
            let source = one.source.map_or("", data_model::ReviewWidget::as_str);
            let detail = match &one.error {
                Some(error) => error.clone(),
                None if one.source.is_none() => String::new(),
                None => format!(
                    "{}, {} new, {} changed, {} gone, {} refused",
                    counted(one.reviews, "review"),
                    one.added,
                    one.edited,
                    one.removed,
                    one.refused.len()
                ),
            };
            writeln!(out, "{:32} {source:8} {:9} {detail}", one.brand.as_str(), one.outcome)?;
        }
        let what = if report.dry_run {
            "nothing written".to_owned()
        } else {
            counted(report.commits, "commit")
        };
        let stores = counted(report.asked.len(), "store");
        let requests = counted(report.requests, "request");
        writeln!(out, "{stores} read of {}, {requests}: {what}", report.brands)
    })?;
    let is_partial = report.interrupted
        || report
            .asked
            .iter()
            .any(|one| matches!(one.outcome, "failed" | "partial" | "skipped"));
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}
