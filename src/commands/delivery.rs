use data_pincodes::directory;
use pipeline_probe::{ProbeError, ProbeOptions, ProbeOutcome, ProbeReport, probe};
use serde_json::{Value, json};

use super::stores::{StoreSession, slugs};
use crate::cli::delivery::{DeliveryCommand, ProbeArgs};
use crate::exit::{Outcome, usage};
use crate::wiring::Context;

pub(crate) async fn run(command: DeliveryCommand, context: Context) -> anyhow::Result<Outcome> {
    match command {
        // The future is boxed because it is large and would take much stack space.
        DeliveryCommand::Probe(args) => Box::pin(ask(args, context)).await,
        DeliveryCommand::Pincodes => pincodes(&context),
    }
}

async fn ask(args: ProbeArgs, context: Context) -> anyhow::Result<Outcome> {
    let only = slugs(&args.brands)?;
    let configured = context.config.delivery.options();
    let options = ProbeOptions {
        only: (!only.is_empty()).then(|| only.into_iter().collect()),
        budget_per_day: args.budget.map_or(configured.budget_per_day, usize::from),
        dry_run: args.dry_run,
        ..configured
    };
    let stores = StoreSession::open(&context).await?;
    let report = probe(&stores.deps, &options).await;
    let is_stopped = stores.deps.cancel.is_cancelled();
    stores.close().await;
    let report = report.map_err(|error| match error {
        ProbeError::UnknownBrand { .. } => usage(error.into()),
        ProbeError::Lake(_) => error.into(),
    })?;
    print(&context, &report, args.dry_run)?;
    let is_partial = is_stopped || report.count(ProbeOutcome::Failed) + report.count(ProbeOutcome::Skipped) > 0;
    Ok(Outcome::partial_if(is_partial))
}

fn print(context: &Context, report: &ProbeReport, dry_run: bool) -> anyhow::Result<()> {
    let document = json!({ "dry_run": dry_run, "asked": report.asked(), "brands": report.brands });
    context.output.print(&document, |out| {
        let verb = if dry_run { "would be asked" } else { "asked" };
        for brand in &report.brands {
            let outcome = serde_json::to_value(brand.outcome).unwrap_or_default();
            let outcome = outcome.as_str().unwrap_or_default().replace('_', " ");
            write!(
                out,
                "{:32} {:>4} {verb}, {:>4} answers, {:>3} zones  {outcome}",
                brand.brand_slug, brand.asked, brand.probes, brand.zones
            )?;
            if let Some(detail) = &brand.detail {
                write!(out, ": {detail}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "{} {verb}", report.asked())
    })
}

fn pincodes(context: &Context) -> anyhow::Result<Outcome> {
    let rows = directory()
        .pincodes()
        .filter_map(|(pincode, area)| Some((pincode, directory().get(area)?)));
    let value = |(pincode, area): (data_model::Pincode, &data_pincodes::Area)| {
        json!({
            "pincode": pincode.to_string(),
            "district": area.district,
            "state": area.state,
            "kind": area.kind.as_str(),
            "area": area.name,
        })
    };
    let document = if context.output.json {
        json!({ "pincodes": rows.clone().map(value).collect::<Vec<_>>() })
    } else {
        Value::Null
    };
    context.output.print(&document, |out| {
        writeln!(out, "pincode,district,state,kind,area")?;
        for (pincode, area) in rows.clone() {
            let (district, state) = (area.district.as_deref(), area.state.as_deref());
            let (district, state) = (district.unwrap_or_default(), state.unwrap_or_default());
            writeln!(out, "{pincode},{district},{state},{},{}", area.kind, area.name)?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}
