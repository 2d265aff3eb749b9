use std::net::SocketAddr;
use std::sync::Arc;

use api::OpenRouter;
use data_searches::{SearchLog, SearchesConfig};
use data_storage::Storage;
use query_server::Followed;
use serde_json::json;
use state::State;
use tokio_util::sync::CancellationToken;

use crate::access::{Doors, public_url};
use crate::agents::{self, At};
use crate::cli::QueryServerArgs;
use crate::config::cors_origins;
use crate::discover;
use crate::exit::{Outcome, plain};
use crate::listen::ListenAddress;
use crate::listeners::{Listeners, SideListener, listen_aside};
use crate::live::{self, Brands, LiveService, SealedState, Writer};
use crate::sql_over_wire::ReleaseSql;
use crate::state::state_for;
use crate::watch;
use crate::watches::WatchService;
use crate::wiring::{Context, shutdown_signal};

/// Part of the market that a process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// Stored data only.
    Graph,
    /// Stored data, and live responses of stores.
    All,
}

/// Runs `haat query-server` or `haat up`: serves the current release until a stop signal. With all parts, the server
/// also queries stores.
pub(crate) async fn run(args: QueryServerArgs, parts: Parts, context: Context) -> anyhow::Result<Outcome> {
    // Serving never creates a home, because a mistyped path would then answer 503 for ever.
    let storage = context.storage()?;
    let listen = args.listen.as_ref().unwrap_or(&context.config.query_server.listen);
    let server = Box::pin(start(&context, &storage, listen, parts)).await?;
    let address = server.address.clone();
    let mut told = std::pin::pin!(shutdown_signal());
    // A client that waits for this line can send requests. Without an intact release, the follower retries and reports
    // failures itself.
    tokio::select! {
        opened = server.refresh() => match opened {
            Ok(Followed::Nothing) => tracing::warn!(
                "no release exists under {} yet: requests are answered with 503 until `haat crawl --release` or `haat \
                 release build` has published one",
                context.config.home
            ),
            Ok(_) => {}
            Err(error) => tracing::debug!("{}", plain(&error)),
        },
        () = &mut told => return Ok(Outcome::Done),
    }
    server.follow();
    let (ops, internal) = (server.ops_address.clone(), server.internal_address.clone());
    let sql = server.sql_address.clone();
    let mut told_addresses = json!({ "address": address, "ops_address": ops, "internal_address": internal });
    if let Some(sql) = &sql {
        told_addresses["sql_address"] = json!(sql);
    }
    context.output.print(&told_addresses, |out| {
        if let Some(ops) = &ops {
            writeln!(out, "health probes and metrics on {ops}")?;
        }
        if let Some(internal) = &internal {
            writeln!(out, "product lookups of gateways on {internal}")?;
        }
        if let Some(sql) = &sql {
            writeln!(out, "SQL on {sql} ({})", crate::sql_over_wire::PROTOCOLS)?;
        }
        writeln!(out, "serving on {address}; Ctrl-C stops it")
    })?;
    server.until(told).await?;
    Ok(Outcome::Done)
}

/// Server that runs in the background.
#[derive(Debug)]
pub(crate) struct RunningServer {
    /// Base URL of the server.
    pub(crate) address: String,
    server: query_server::QueryServer,
    listeners: Listeners,
    /// Base URL of probes and metrics, if they have a listener of their own.
    ops_address: Option<String>,
    /// Base URL of product lookups for gateways, if they have a listener.
    internal_address: Option<String>,
    /// Base URL of SQL statements, if they have a listener.
    sql_address: Option<String>,
    stop: CancellationToken,
    writers: Vec<Writer>,
    doors: Doors,
}

/// Returns the configured limits of a server, with its access checks.
pub(crate) fn edge_config(context: &Context, doors: &Doors) -> anyhow::Result<api::EdgeConfig> {
    let given = &context.config.query_server;
    Ok(api::EdgeConfig {
        guard: doors.guard(),
        cors_origins: cors_origins(&context.config.api.cors_origins)?,
        is_https: is_https(&context.config.public_url),
        timeout_ms: given.request_timeout_ms,
        in_flight_max: given.concurrency_max,
        body_timeout_ms: given.body_timeout_ms,
        bodies_max: given.bodies_max,
        bodies_per_client_max: given.bodies_per_client_max,
        ..api::EdgeConfig::default()
    })
}

/// Returns true if clients reach the servers over TLS.
fn is_https(public_url: &str) -> bool {
    url::Url::parse(public_url).is_ok_and(|url| url.scheme() == "https")
}

fn search_log(context: &Context, storage: &Storage, writers: &mut Vec<Writer>) -> Option<SearchLog> {
    context.config.query_server.count_searches.then(|| {
        let (stop, clock) = (CancellationToken::new(), Arc::clone(&context.clock));
        let (log, write) = SearchLog::start(storage, clock, &SearchesConfig::default(), stop.clone());
        writers.push(Writer::start(stop, write));
        log
    })
}

/// Binds and serves in the background. The server has no release until it is told to load one.
pub(crate) async fn start(
    context: &Context,
    storage: &Storage,
    listen: &ListenAddress,
    parts: Parts,
) -> anyhow::Result<RunningServer> {
    let given = &context.config.query_server;
    let listener = listen.bind().await?;
    let ops_listener = listen_aside(None, &given.ops_listen, "query_server.ops_listen").await?;
    let internal_listener = listen_aside(None, &given.internal_listen, "query_server.internal_listen").await?;
    let local = listener.local_addr()?;
    let metrics = api::install_metrics(env!("CARGO_PKG_VERSION"))?;
    let mut writers = Vec::new();
    let server = context.query_server(storage, search_log(context, storage, &mut writers))?;
    let stop = CancellationToken::new();
    tokio::spawn(api::run_metrics_upkeep(metrics.clone(), stop.clone()));
    watch::start(context, storage, stop.clone());
    let config = context.server_config()?;
    let ops = ops_listener.map(|listener| SideListener::serve(listener, server.ops_router(metrics.clone()), &config));
    let ops = ops.transpose()?;
    let internal = internal_listener.map(|listener| SideListener::serve(listener, server.internal_router(), &config));
    let internal = internal.transpose()?;
    // Clients of the market must not see how busy it is, and a proxy on this machine would forward their requests to
    // the metrics.
    let shown = given.metrics_public || (ops.is_none() && local.ip().to_canonical().is_loopback());
    let (state, kept) = match parts {
        Parts::Graph => (state_for(context, storage).await?, None),
        Parts::All => {
            let kept = live::kept(context).await?;
            (Some(kept.state.clone()), Some(kept))
        }
    };
    let mut doors = Doors::open(context, state, local).await?;
    let statements = Box::pin(ReleaseSql::start(context, &server, &doors, &config)).await?;
    let edge = edge_config(context, &doors)?;
    let open = server.open_router(shown.then_some(metrics)).merge(doors.take_routes());
    let open = open
        .merge(discover::open_router(context, &server, doors.guard())?)
        .merge(reference::open_router());
    let router = match kept {
        None => open.merge(statements.routes).edge(edge),
        Some(kept) => {
            let parts = LiveParts {
                context,
                storage,
                server: &server,
                doors: &doors,
                local,
                stop: &stop,
            };
            let (open, writer) = parts.added(open, kept)?;
            // SQL is not offered to agents, so its routes are added after the endpoint for agents is built.
            writers.extend(writer);
            open.merge(statements.routes).edge(edge)
        }
    };
    let address = |aside: &Option<SideListener>| aside.as_ref().map(|aside| aside.address().to_owned());
    let (ops_address, internal_address, sql_address) = (address(&ops), address(&internal), address(&statements.aside));
    let listeners = Listeners::serve(context, listener, router, stop.clone())?;
    Ok(RunningServer {
        address: format!("http://{local}"),
        server,
        listeners: listeners.beside([ops, internal, statements.aside].into_iter().flatten()),
        ops_address,
        internal_address,
        sql_address,
        stop,
        writers,
        doors,
    })
}

/// Components of live responses, watches and the endpoints for agents.
struct LiveParts<'a> {
    context: &'a Context,
    storage: &'a Storage,
    server: &'a query_server::QueryServer,
    doors: &'a Doors,
    local: SocketAddr,
    stop: &'a CancellationToken,
}

impl LiveParts<'_> {
    /// Adds the routes of live responses, watches and agents. Also returns the writer of the stores' responses.
    fn added(&self, open: OpenRouter, kept: SealedState) -> anyhow::Result<(OpenRouter, Option<Writer>)> {
        let Self { context, server, .. } = self;
        let (brands, url) = (Brands::of(server), public_url(context, self.local));
        let SealedState { state, keys } = kept.clone();
        let (watched, observations) = watches::observation_channel();
        let live = LiveService::new(
            context,
            self.storage,
            brands,
            kept,
            url.clone(),
            self.doors,
            Some(watched),
        )?;
        let watches = WatchService {
            server,
            gateway: live.gateway(),
            mailer: self.doors.mailer().cloned(),
            public_url: &url,
            observations,
            stop: self.stop.clone(),
        };
        let open = open.merge(watches.start(context, state, keys)?);
        let at = At {
            context,
            guard: self.doors.guard(),
            local: self.local,
            stop: self.stop.clone(),
        };
        let open = agents::with_agents(open.merge(live.open_router()), &at, None)?;
        Ok((open, live.into_parts().1))
    }
}

impl RunningServer {
    pub(crate) fn state(&self) -> Option<&State> {
        self.doors.state()
    }

    /// Looks for a new release at once, without waiting for the next poll.
    pub(crate) async fn refresh(&self) -> anyhow::Result<Followed> {
        let (opened, ()) = tokio::join!(self.server.refresh(), self.server.refresh_checks());
        Ok(opened?)
    }

    /// Starts to look for newer releases periodically.
    pub(crate) fn follow(&self) {
        let (server, stop) = (self.server.clone(), self.stop.clone());
        tokio::spawn(async move { server.follow(stop).await });
    }

    /// Serves until the stop signal, and then stops gracefully. Returns an error at once if the server fails.
    pub(crate) async fn until(self, told: impl Future<Output = ()>) -> anyhow::Result<()> {
        let Self {
            server,
            listeners,
            writers,
            doors,
            ..
        } = self;
        listeners.until(told, || server.leave()).await?;
        for writer in writers {
            writer.finish().await?;
        }
        doors.close().await
    }
}
