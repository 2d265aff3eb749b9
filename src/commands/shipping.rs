use std::sync::Arc;

use anyhow::Context as _;
use data_model::BrandSlug;
use data_storage::Storage;
use pipeline_shipping::{RefreshShippingError, ShippingDeps, ShippingOptions, ShippingReport, refresh_shipping};
use tokio_util::sync::CancellationToken;

use crate::cli::shipping::{RefreshShippingArgs, ShippingCommand};
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::{Context, shutdown_signal};

/// `haat shipping …`
pub(crate) async fn run(command: ShippingCommand, context: Context) -> anyhow::Result<Outcome> {
    let ShippingCommand::Refresh(args) = command;
    refresh(&args, &context).await
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
        dry_run: args.dry_run,
    };
    if let Some(warning) = context.unnamed_crawler() {
        tracing::warn!("{warning}");
    }
    let storage = context.storage()?;
    let cancel = CancellationToken::new();
    let deps = ShippingDeps {
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
    let report = refreshed.map_err(|error| match error {
        RefreshShippingError::Brand(_) => usage(error.into()),
        error => error.into(),
    })?;
    print(context, &report)
}

/// Reads what all stores say of shipping into the lake, as `haat shipping refresh` does.
pub(crate) async fn read_terms(context: &Context, storage: &Storage) -> anyhow::Result<()> {
    let deps = ShippingDeps {
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
        )
    })?;
    let is_partial = report.interrupted || report.asked.iter().any(|one| one.outcome == "failed");
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}
