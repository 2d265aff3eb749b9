//! Wires statements that analysts send over the wire: to the release that is served and the lake beside it, or to the lake.

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

/// The default address of `haat lake serve`.
const LAKE_LISTEN: &str = "127.0.0.1:8083";
/// The time that the head of an answer may take beside its statement, in milliseconds.
const BESIDE_MS: u64 = 1_000;

/// Statements over the release that is served.
#[derive(Debug, Default)]
pub(crate) struct ReleaseSql {
    /// For keys that the operator allowed, beside the market's own routes; nothing where there are none.
    pub(crate) routes: OpenRouter,
    /// The listener of its own, where there is one.
    pub(crate) aside: Option<SideListener>,
}

/// The protocols of a listener for statements, for people.
pub(crate) const PROTOCOLS: &str = if cfg!(feature = "flight") {
    "POST /v1/sql and Arrow Flight SQL"
} else {
    "POST /v1/sql; for Arrow Flight SQL build with `--features flight`"
};

impl ReleaseSql {
    /// Starts what the configuration asks for. No worker is started before the first statement.
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
        let listener = listen_aside(&given.listen, "sql.listen").await?;
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
                // The edge gives up on an answer after the whole time, and would not say why.
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

/// Keeps workers that are of the release that is served.
async fn renew(engine: SqlEngine, server: QueryServer) {
    let mut releases = server.releases();
    while releases.changed().await.is_ok() {
        engine.renew().await;
    }
}

/// A listener for statements alone, which no client of the market can keep busy, and which keeps no client of the market
/// waiting.
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
            "{local} is reached from other machines, and anybody could send statements: set sql.keys to the keys that \
             may, or listen on 127.0.0.1"
        )));
    }
    let given = &context.config.sql;
    // Without keys it is reached by this machine alone: no caller is limited. A key that is sent all the same is told
    // from one that is not valid.
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
        // A page in a browser on this machine reaches it too, under whatever name it makes stand for this machine.
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

/// `haat lake serve`: answers statements over the lake until it is told to stop.
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
