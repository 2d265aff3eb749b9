use pipeline_reviews::{RereadReviews, ReviewsOptions, ReviewsReport, refresh_reviews, reread_reviews};
use pipeline_task::{RereadOptions, RereadOutcome, StoreDeps};
use serde_json::json;

use super::stores::{StoreSession, refused, slugs};
use crate::cli::backfill::BackfillArgs;
use crate::cli::reviews::{RefreshReviewsArgs, ReviewsCommand};
use crate::exit::Outcome;
use crate::output::counted;
use crate::wiring::{Context, until_signal};

pub(crate) async fn run(command: ReviewsCommand, context: Context) -> anyhow::Result<Outcome> {
    let ReviewsCommand::Refresh(args) = command;
    refresh(&args, &context).await
}

async fn refresh(args: &RefreshReviewsArgs, context: &Context) -> anyhow::Result<Outcome> {
    let options = ReviewsOptions {
        only: Some(slugs(&args.brands)?).filter(|only| !only.is_empty()),
        sweep: args.sweep,
        keep_days: context.config.landing.keep_days,
        dry_run: args.dry_run,
    };
    let widgets = context.widgets()?;
    let stores = StoreSession::open(context).await?;
    let refreshed = refresh_reviews(&options, &stores.deps, &widgets).await;
    stores.close().await;
    print(context, &refreshed.map_err(refused)?)
}

/// Runs `haat backfill --stage reviews`: parses landed responses of review apps into reviews and ratings.
pub(super) async fn reread(args: &BackfillArgs, options: &RereadOptions, context: &Context) -> anyhow::Result<Outcome> {
    let (cancel, _listener) = until_signal();
    let deps = StoreDeps {
        cancel,
        ..context.store_deps(&context.storage()?).await?
    };
    let report = reread_reviews(options, &deps).await.map_err(refused)?;
    let document = json!({ "stage": args.stage, "report": report });
    context.output.print(&document, |out| write_reread(out, &report))?;
    let is_partial = report.interrupted || report.brands.iter().any(|one| one.outcome.is_left());
    Ok(Outcome::partial_if(is_partial))
}

fn write_reread(out: &mut dyn std::io::Write, report: &RereadReviews) -> std::io::Result<()> {
    for one in &report.brands {
        let told = match (one.outcome, one.asked_at) {
            (RereadOutcome::Changed, Some(at)) => format!(
                "{} reviews added, {} changed, {} removed, {} unchanged; {} ratings and {} refused records changed; \
                 read {at}",
                one.added, one.changed, one.gone, one.same, one.ratings_changed, one.refused_changed
            ),
            (RereadOutcome::Older, Some(at)) => {
                format!("read {at}, and again after the range: use --older to apply it anyway")
            }
            (RereadOutcome::NotWhole, _) => {
                "no complete list of its reviews is landed: `haat reviews refresh --sweep` reads it".to_owned()
            }
            (RereadOutcome::Unclear, _) => {
                "a landed answer cannot be parsed: `haat reviews refresh --sweep` requests it again".to_owned()
            }
            (RereadOutcome::Damaged, _) => "some of its rows are missing or damaged: run `haat lake repair`".to_owned(),
            (RereadOutcome::NotInLake, _) => "no crawl has added it to the lake yet".to_owned(),
            (RereadOutcome::NothingLanded, _) => "no answer of a review app is landed".to_owned(),
            _ => continue,
        };
        writeln!(out, "{:32} {told}", one.brand.as_str())?;
    }
    let totals = &report.totals.counts;
    let verb = if report.dry_run { "would change" } else { "changed" };
    writeln!(
        out,
        "reviews of {}: {} {verb}, {} unchanged, {} left; reviews in product pages are part of --stage parse",
        counted(totals.brands, "brand"),
        totals.changed,
        totals.unchanged,
        totals.left
    )?;
    if report.interrupted {
        writeln!(out, "interrupted: run the same command again to continue")?;
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
                    "{}, {} new, {} changed, {} removed, {} refused",
                    counted(one.reviews, "review"),
                    one.added,
                    one.edited,
                    one.removed,
                    one.refused.len()
                ),
            };
            writeln!(out, "{:32} {source:8} {:9} {detail}", one.brand.as_str(), one.outcome)?;
        }
        let what = if report.run.dry_run {
            "nothing written".to_owned()
        } else {
            counted(report.commits, "commit")
        };
        let stores = counted(report.asked.len(), "store");
        let requests = counted(report.requests, "request");
        writeln!(out, "{stores} read of {}, {requests}: {what}", report.run.brands)
    })?;
    let is_partial = report.run.interrupted
        || report
            .asked
            .iter()
            .any(|one| matches!(one.outcome, "failed" | "partial" | "skipped"));
    Ok(Outcome::partial_if(is_partial))
}
