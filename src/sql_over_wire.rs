//! Wiring of SQL over the network: statements run on the served release and its lake, or on the lake alone.

mod lake;
mod market;
pub(crate) mod worker;

use std::sync::Arc;

use anyhow::Context as _;
use api::{EdgeConfig, Guard, OpenRouter, OriginPolicy};
use data_storage::Storage;
use query_server::QueryServer;
use serde_json::json;
use sql::{AllowedKeys, Door, SqlEngine};
use tokio::net::TcpListener;

use self::worker::WorkerPrograms;
use crate::access::{Doors, public_url};
use crate::config::cors_origins;
use crate::exit::usage;
use crate::listen::ListenAddress;
use crate::listeners::{SideListener, listen_aside};
use crate::state::state_for;
use crate::wiring::{Context, shutdown_signal};

/// Default address of `haat lake serve`.
const LAKE_LISTEN: &str = "127.0.0.1:8083";
/// Time for the head of a response in addition to the statement's own time, in milliseconds.
const BESIDE_MS: u64 = 1_000;

#[derive(Debug, Default)]
pub(crate) struct ReleaseSql {
    /// Routes for keys that the operator allowed, beside the market's own routes; empty if no key is allowed.
    pub(crate) routes: OpenRouter,
    /// Separate listener for SQL, if configured.
    pub(crate) aside: Option<SideListener>,
}

/// Protocols of an SQL listener, as text for people.
pub(crate) const PROTOCOLS: &str = if cfg!(feature = "flight") {
    "POST /v1/sql and Arrow Flight SQL"
} else {
    "POST /v1/sql; build with `--features flight` for Arrow Flight SQL"
};

impl ReleaseSql {
    /// Starts the configured SQL endpoints. The first statement starts the first worker process.
    pub(crate) async fn start(
        context: &Context,
        server: &QueryServer,
        doors: &Doors,
        config: &api::ServerConfig,
    ) -> anyhow::Result<Self> {
        let given = &context.config.sql;
        let allowed: AllowedKeys = given.keys.parse()?;
        let of_market = match given.keys.as_str() {
            "" => AllowedKeys::granted(),
            _ => allowed.clone(),
        };
        let listener = listen_aside(None, &given.listen, "sql.listen").await?;
        if listener.is_none() && of_market.is_empty() {
            return Ok(Self::default());
        }
        let workers = WorkerPrograms::of_market(&context.config, server)?;
        let engine = SqlEngine::new(given, Arc::new(workers))?;
        tokio::spawn(renew(engine.clone(), server.clone()));
        let mut started = Self::default();
        if !of_market.is_empty() {
            let door = Door {
                engine: engine.clone(),
                allowed: Some(Arc::new(of_market)),
                guard: doors.guard(),
                // The edge aborts a response at its own timeout without a reason, so statements end earlier.
                timeout_ms: context.config.query_server.request_timeout_ms * 9 / 10,
                origin_policy: None,
            };
            started.routes = sql::open_router(door);
        }
        if let Some(listener) = listener {
            let guard = doors.guard();
            started.aside = Some(aside(context, listener, engine, allowed, guard, config)?);
        }
        Ok(started)
    }
}

/// Replaces the workers whenever a new release is served.
async fn renew(engine: SqlEngine, server: QueryServer) {
    let mut releases = server.releases();
    while releases.changed().await.is_ok() {
        engine.renew().await;
    }
}

/// Creates a listener for SQL alone, so that SQL clients and clients of the market do not slow each other down.
fn aside(
    context: &Context,
    listener: TcpListener,
    engine: SqlEngine,
    allowed: AllowedKeys,
    guard: Arc<Guard>,
    config: &api::ServerConfig,
) -> anyhow::Result<SideListener> {
    let local = listener.local_addr()?;
    if allowed.is_empty() && !local.ip().to_canonical().is_loopback() {
        return Err(usage(anyhow::anyhow!(
            "other machines can reach {local}, and anybody could send statements: set sql.keys to the permitted keys, \
             or listen on 127.0.0.1"
        )));
    }
    let given = &context.config.sql;
    // Without keys only this machine reaches the listener, so callers have no limit. A key that is sent anyway is still
    // checked.
    let guard = if allowed.is_empty() {
        Arc::new(Guard {
            identify: Arc::clone(&guard.identify),
            ..Guard::default()
        })
    } else {
        guard
    };
    let door = Door {
        engine,
        allowed: (!allowed.is_empty()).then(|| Arc::new(allowed)),
        guard: Arc::clone(&guard),
        timeout_ms: given.timeout_ms,
        // A page in a browser on this machine can also reach the listener, under any host name that resolves to this
        // machine.
        origin_policy: Some(OriginPolicy::new(
            &public_url(context, local),
            &cors_origins(&context.config.api.cors_origins)?,
            local.ip().to_canonical().is_loopback(),
        )),
    };
    let edge = EdgeConfig {
        guard,
        timeout_ms: given.timeout_ms + given.wait_ms + BESIDE_MS,
        ..EdgeConfig::default()
    };
    #[cfg(feature = "flight")]
    let open = sql::open_router(door.clone()).merge(sql::flight_router(door));
    #[cfg(not(feature = "flight"))]
    let open = sql::open_router(door);
    SideListener::serve(listener, open.edge(edge), config)
}

/// Runs `haat lake serve`: SQL statements over the lake until the stop signal.
pub(crate) async fn serve_lake(
    context: &Context,
    storage: &Storage,
    listen: Option<ListenAddress>,
) -> anyhow::Result<()> {
    let given = &context.config.sql;
    let allowed: AllowedKeys = given.keys.parse()?;
    let name = match (listen, given.listen.as_str()) {
        (Some(listen), _) => listen,
        (None, "") => LAKE_LISTEN.parse().map_err(anyhow::Error::msg)?,
        (None, name) => name
            .parse()
            .map_err(|error: String| usage(anyhow::anyhow!("sql.listen: {error}")))?,
    };
    let listener = name.bind().await?;
    let workers = WorkerPrograms::of_lake(&context.config)?;
    let engine = SqlEngine::new(given, Arc::new(workers))?;
    let doors = if allowed.is_empty() {
        None
    } else {
        let state = state_for(context, storage).await?;
        Some(Doors::open(context, state, listener.local_addr()?).await?)
    };
    let guard = doors.as_ref().map(Doors::guard).unwrap_or_default();
    let aside = aside(context, listener, engine, allowed, guard, &context.server_config()?)?;
    let address = aside.address().to_owned();
    context.output.print(&json!({ "address": address }), |out| {
        writeln!(out, "SQL over the lake on {address} ({PROTOCOLS}); Ctrl-C stops it")
    })?;
    shutdown_signal().await;
    aside.end().await.context("statements")?;
    match doors {
        Some(doors) => doors.close().await,
        None => Ok(()),
    }
}
