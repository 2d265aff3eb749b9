use serde_json::json;

use super::query_server::edge_config;
use crate::access::{Doors, public_url};
use crate::agents::{self, At};
use crate::cli::LiveGatewayArgs;
use crate::exit::Outcome;
use crate::listeners::{Listeners, SideListener, listen_aside};
use crate::live::{self, LiveService, brands_elsewhere};
use crate::watch;
use crate::wiring::{Context, shutdown_signal};

/// Runs `haat live-gateway`: queries stores for clients until a stop signal.
pub(crate) async fn run(args: LiveGatewayArgs, context: Context) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let given = &context.config.live_gateway;
    let listener = args.listen.as_ref().unwrap_or(&given.listen).bind().await?;
    let local = listener.local_addr()?;
    let brands = brands_elsewhere(&context)?;
    let metrics = api::install_metrics(env!("CARGO_PKG_VERSION"))?;
    let stop = tokio_util::sync::CancellationToken::new();
    tokio::spawn(api::run_metrics_upkeep(metrics.clone(), stop.clone()));
    watch::start(&context, &storage, stop.clone());
    let kept = live::kept(&context).await?;
    let mut doors = Doors::open(&context, Some(kept.state.clone()), local).await?;
    let live = LiveService::new(
        &context,
        &storage,
        brands,
        kept,
        public_url(&context, local),
        &doors,
        None,
    )?;
    let (config, edge) = (context.server_config()?, edge_config(&context, &doors)?);
    let ops = &context.config.query_server.ops_listen;
    let ops = listen_aside(None, ops, "query_server.ops_listen")
        .await?
        .map(|listener| {
            let router = live.probes(Some(metrics.clone())).edge(api::EdgeConfig::default());
            SideListener::serve(listener, router, &config)
        });
    let ops = ops.transpose()?;
    let public = context.config.query_server.metrics_public;
    let shown = public || (ops.is_none() && local.ip().to_canonical().is_loopback());
    let at = At {
        context: &context,
        guard: doors.guard(),
        local,
        stop: stop.clone(),
    };
    let open = agents::with_agents(live.open_router(), &at, Some(agents::elsewhere(&context)?))?;
    let open = open.merge(doors.take_routes()).merge(reference::open_router());
    let router = open.merge(live.probes(shown.then_some(metrics))).edge(edge);
    let (gateway, writer) = live.into_parts();
    let address = format!("http://{local}");
    let told = shutdown_signal();
    let ops_address = ops.as_ref().map(|ops| ops.address().to_owned());
    let document = json!({ "address": address, "catalogue": given.catalogue, "ops_address": ops_address });
    context.output.print(&document, |out| {
        if let Some(ops) = &ops_address {
            writeln!(out, "health probes and metrics on {ops}")?;
        }
        writeln!(out, "live gateway on {address}; Ctrl-C stops it")
    })?;
    let listeners = Listeners::serve(&context, listener, router, stop)?.beside(ops);
    listeners.until(told, || gateway.leave()).await?;
    if let Some(writer) = writer {
        writer.finish().await?;
    }
    doors.close().await?;
    Ok(Outcome::Done)
}
