mod show;

use data_storage::Storage;
use pipeline_shipping::{RereadShipping, ShippingOptions, ShippingReport, refresh_shipping, reread_shipping};
use pipeline_task::{RereadOptions, RereadOutcome};
use serde_json::json;

use super::stores::{StoreSession, refused, slugs};
use crate::cli::backfill::BackfillArgs;
use crate::cli::shipping::{RefreshShippingArgs, ShippingCommand};
use crate::exit::Outcome;
use crate::output::counted;
use crate::wiring::Context;

pub(crate) async fn run(command: ShippingCommand, context: Context) -> anyhow::Result<Outcome> {
    match command {
        ShippingCommand::Refresh(args) => refresh(&args, &context).await,
        ShippingCommand::Show(args) => show::show(&args, &context).await,
    }
}

async fn refresh(args: &RefreshShippingArgs, context: &Context) -> anyhow::Result<Outcome> {
    let options = ShippingOptions {
        only: Some(slugs(&args.brands)?).filter(|only| !only.is_empty()),
        after_s: u64::from(args.after_hours) * 3600,
        keep_days: context.config.landing.keep_days,
        dry_run: args.dry_run,
    };
    let model = context.terms_model()?;
    let stores = StoreSession::open(context).await?;
    let refreshed = refresh_shipping(&options, &stores.deps, model.as_deref()).await;
    stores.close().await;
    print(context, &refreshed.map_err(refused)?)
}

/// Reads the shipping terms of all stores into the lake, as `haat shipping refresh` does.
pub(crate) async fn read_terms(context: &Context, storage: &Storage) -> anyhow::Result<()> {
    let model = context.terms_model()?;
    let deps = context.store_deps(storage).await?;
    let report = refresh_shipping(&ShippingOptions::default(), &deps, model.as_deref()).await?;
    tracing::info!(changed = report.changed, "shipping terms read");
    Ok(())
}

/// Runs `haat backfill --stage shipping`: parses landed responses of stores into shipping terms.
pub(super) async fn reread(args: &BackfillArgs, options: &RereadOptions, context: &Context) -> anyhow::Result<Outcome> {
    let deps = context.store_deps(&context.storage()?).await?;
    let report = reread_shipping(options, &deps).await.map_err(refused)?;
    let document = json!({ "stage": args.stage, "report": report });
    context.output.print(&document, |out| write_reread(out, &report))?;
    Ok(Outcome::partial_if(
        report.brands.iter().any(|one| one.outcome.is_left()),
    ))
}

fn write_reread(out: &mut dyn std::io::Write, report: &RereadShipping) -> std::io::Result<()> {
    for one in &report.brands {
        let told = match (one.outcome, one.asked_at) {
            (RereadOutcome::Changed, Some(at)) => {
                format!(
                    "{} facts added, {} removed, asked at {at}",
                    one.facts_added, one.facts_gone
                )
            }
            (RereadOutcome::Older, Some(at)) => {
                format!("asked at {at}, but the lake has newer terms: use --older to apply these anyway")
            }
            (RereadOutcome::Unclear, _) => {
                "its texts contain no terms now: `haat shipping refresh` asks the store again".to_owned()
            }
            (RereadOutcome::NotInLake, _) => "no crawl has added it to the lake yet".to_owned(),
            (RereadOutcome::NothingLanded, _) => "none of its answers is kept".to_owned(),
            _ => continue,
        };
        writeln!(out, "{:32} {told}", one.brand.as_str())?;
    }
    let totals = &report.totals.counts;
    let verb = if report.dry_run { "would change" } else { "changed" };
    writeln!(
        out,
        "terms of {}: {} {verb}, {} unchanged, {} left",
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
        let verb = if report.run.dry_run {
            "nothing written"
        } else {
            "terms changed"
        };
        writeln!(
            out,
            "{} asked of {}, {}: {verb} of {}",
            counted(report.asked.len(), "store"),
            report.run.brands,
            counted(report.requests, "request"),
            report.changed
        )?;
        let Some(proposals) = &report.proposals else {
            return Ok(());
        };
        let told = proposals.named().map(|(outcome, count)| format!("{count} {outcome}"));
        writeln!(out, "proposals of the language model: {}", told.join(", "))
    })?;
    let is_partial = report.run.interrupted
        || report
            .asked
            .iter()
            .any(|one| matches!(one.outcome, "failed" | "skipped"));
    Ok(Outcome::partial_if(is_partial))
}
