//! Worker for stores from the queue (`haat worker`), which runs until a stop signal.

use std::sync::Arc;

use jobs::{ProcessTime, QueueDeps, QueueWorker, ops_router};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::jobs::{market, worker};
use crate::cli::queue::WorkerArgs;
use crate::exit::Outcome;
use crate::listeners::{SideListener, listen_aside};
use crate::output::counted;
use crate::watch;
use crate::wiring::{Context, shutdown_signal};

pub(crate) async fn run(args: WorkerArgs, context: Context) -> anyhow::Result<Outcome> {
    if let Some(warning) = context.unnamed_crawler() {
        tracing::warn!("{warning}");
    }
    let config = context.config.queue.clone();
    let listener = listen_aside(args.ops_listen, &config.ops_listen, "queue.ops_listen").await?;
    let metrics = api::install_metrics(env!("CARGO_PKG_VERSION"))?;
    let (state, _) = context.served_state().await?;
    let name = worker();
    let deps = QueueDeps {
        state: state.clone(),
        market: Arc::new(market(&context, None)?),
        elapsed: Arc::new(ProcessTime::start()),
        name: name.clone(),
    };
    let taking = QueueWorker::new(deps, config);
    let stop = CancellationToken::new();
    tokio::spawn(api::run_metrics_upkeep(metrics.clone(), stop.clone()));
    watch::start(&context, &context.storage()?, stop.clone());
    let server = context.server_config()?;
    let ops = listener.map(|listener| SideListener::serve(listener, ops_router(taking.readiness(), metrics), &server));
    let ops = ops.transpose()?;
    let address = ops.as_ref().map(SideListener::address);
    let document = json!({ "worker": name, "ops_address": address });
    context.output.print(&document, |out| {
        if let Some(address) = address {
            writeln!(out, "health probes and metrics on {address}")?;
        }
        let home = &context.config.home;
        writeln!(out, "{name} takes stores from the queue of {home}; Ctrl-C stops it")
    })?;
    let told = stop.clone();
    let listening = tokio::spawn(async move {
        shutdown_signal().await;
        tracing::info!("stopping: unfinished stores are returned to the queue");
        told.cancel();
    });
    let report = Box::pin(taking.run(stop.clone(), args.until_empty)).await;
    let interrupted = stop.is_cancelled();
    listening.abort();
    stop.cancel();
    if let Some(ops) = ops {
        ops.end().await?;
    }
    state.close().await;
    context.output.print(&report, |out| {
        writeln!(
            out,
            "{} refreshed, {} to be retried, {}, {} lost to other workers, {} returned; {} committed",
            counted(report.staged, "store"),
            report.retried,
            counted(report.dead, "dead letter"),
            report.lost,
            report.given_back,
            counted(report.runs_closed, "run"),
        )
    })?;
    // A worker without `--until-empty` only ends after a stop signal, so this end counts as success.
    Ok(Outcome::partial_if(args.until_empty && interrupted))
}
