//! Wiring of access control: API keys, sessions, rate limits, and the pages and endpoints about them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use access::schema::KeyWay;
use access::{Access, AccessParts, Credentials, LocalLimits, Plans, UsageMeter};
use agents_mcp::Mcp;
use agents_ucp::Ucp;
use anyhow::Context as _;
use api::{Guard, Limit, Meter, OpenRouter};
use dashboard::{Dashboard, DashboardConfig, Market};
use live_gateway::LiveGateway;
use live_gateway::coupons::Finder;
use mailer::Mailer;
use query_server::QueryServer;
use state::{KeyIndex, State};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::exit::usage;
use crate::running::Note;
use crate::wiring::Context;

/// Interval at which changed keys are read. A revocation takes effect on every server within this time.
const KEYS_REFRESH: Duration = Duration::from_secs(1);

/// Access checks of the servers in one process.
#[derive(Debug)]
pub(crate) struct Doors {
    guard: Arc<Guard>,
    /// Routes about plans, quota and the caller, and those of the dashboard if there is a state and a sign-in address.
    pub(crate) routes: OpenRouter,
    known: Option<KeyService>,
    mailer: Option<Mailer>,
    stop: CancellationToken,
    /// Note with the dashboard's address, for `haat keys dashboard`.
    _note: Option<Note>,
}

/// Service for keys, which stops with the servers.
#[derive(Debug)]
struct KeyService {
    state: State,
    keys: JoinHandle<()>,
    usage: JoinHandle<()>,
}

impl Doors {
    /// Creates the access checks of a server that listens on `local`. Without a state, no key is accepted.
    pub(crate) async fn open(context: &Context, state: Option<State>, local: SocketAddr) -> anyhow::Result<Self> {
        let config = &context.config;
        let plans = Plans::of(&config.limits).map_err(|error| usage(error.into()))?;
        let stop = CancellationToken::new();
        let counted_here = local_limits(context, &plans, state.as_ref()).await;
        let limits = limits(context, counted_here, &stop)?;
        let mut guard = Guard {
            limit: Some(Arc::clone(&limits)),
            anonymous: Arc::clone(plans.anonymous()),
            keyed: config.access.keyed.clone(),
            trusted_proxies: config
                .query_server
                .trusted_proxies
                .parse()
                .context("query_server.trusted_proxies")?,
            forwarded_header: config.query_server.forwarded_header,
            ..Guard::default()
        };
        check_operations(&config.access.keyed)?;
        let mut parts = AccessParts {
            plans: plans.clone(),
            keyed: config.access.keyed.clone(),
            limits: Some(limits),
            known: None,
            sign_in: Vec::new(),
            clock: Arc::clone(&context.clock),
        };
        let mut pages = None;
        let mut known = None;
        if let Some(state) = state {
            let index = KeyIndex::load(state.clone()).await.context("state")?;
            let clock = Arc::clone(&context.clock);
            guard.identify = Arc::new(Credentials::new(index.clone(), state.clone(), plans.clone(), clock));
            let (keeping, meter) = KeyService::start(context, state.clone(), index, stop.clone());
            guard.meter = Some(Arc::clone(&meter) as Arc<dyn Meter>);
            pages = dashboard_of(context, &state, &plans, local)?;
            parts.sign_in = pages.as_ref().map(ways).unwrap_or_default();
            parts.known = Some((state, meter));
            known = Some(keeping);
        }
        let mailer = pages.as_ref().and_then(Dashboard::mailer).cloned();
        let routes = access::open_router(Access::new(parts));
        let (routes, note) = match pages {
            Some(pages) => (routes.merge(pages.open_router()), noted(context, local)),
            None => (routes, None),
        };
        Ok(Self {
            guard: Arc::new(guard),
            routes,
            known,
            mailer,
            stop,
            _note: note,
        })
    }
}

impl Doors {
    /// Returns the access check that the edge runs first on each request.
    pub(crate) fn guard(&self) -> Arc<Guard> {
        Arc::clone(&self.guard)
    }

    /// Returns a token that is cancelled when the servers have stopped.
    pub(crate) fn stopped(&self) -> CancellationToken {
        self.stop.child_token()
    }

    pub(crate) fn mailer(&self) -> Option<&Mailer> {
        self.mailer.as_ref()
    }

    pub(crate) fn state(&self) -> Option<&State> {
        self.known.as_ref().map(|known| &known.state)
    }

    /// Returns the routes that the server must add. A second call returns none.
    pub(crate) fn take_routes(&mut self) -> OpenRouter {
        std::mem::take(&mut self.routes)
    }

    /// Writes the counted usage of keys once the servers have stopped.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        self.stop.cancel();
        let Some(known) = self.known else { return Ok(()) };
        known.usage.await.context("usage of keys")?;
        known.keys.await.context("changes of keys")?;
        // Closing merges SQLite's write-ahead log into the database file.
        known.state.close().await;
        Ok(())
    }
}

impl KeyService {
    /// Starts two background tasks: one reads changed keys, the other writes their usage.
    fn start(context: &Context, state: State, index: KeyIndex, stop: CancellationToken) -> (Self, Arc<UsageMeter>) {
        let keys = tokio::spawn(index.keep_fresh(KEYS_REFRESH, stop.clone()));
        let config = &context.config;
        let (meter, writing) = UsageMeter::start(
            state.clone(),
            Arc::clone(&context.clock),
            config.market_time_zone,
            &config.access,
            stop,
        );
        let usage = tokio::spawn(writing);
        let known = Self { state, keys, usage };
        (known, meter)
    }
}

/// Refuses unknown operation names, because a mistyped name would leave its operation open to everybody.
fn check_operations(keyed: &BTreeSet<String>) -> anyhow::Result<()> {
    let documents = [
        QueryServer::openapi(),
        LiveGateway::openapi(),
        Finder::openapi(),
        access::openapi(),
        Mcp::openapi(),
        agents_discover::openapi(),
        Ucp::openapi(),
        sql::openapi(),
        watches::openapi(),
    ];
    let paths = documents.iter().flat_map(|document| document.paths.paths.values());
    let operations = paths.flat_map(|item| [&item.get, &item.post, &item.put, &item.patch, &item.delete]);
    let known: BTreeSet<_> = operations
        .flatten()
        .filter_map(|one| one.operation_id.as_ref())
        .collect();
    match keyed.iter().find(|id| !known.contains(id)) {
        Some(unknown) => Err(usage(anyhow::anyhow!(
            "access.keyed: no operation has the id {unknown:?}; /openapi.json lists the ids (operationId)"
        ))),
        None => Ok(()),
    }
}

/// Creates limits in this process, which start from today's usage of each key in the state.
async fn local_limits(context: &Context, plans: &Plans, state: Option<&State>) -> LocalLimits {
    let config = &context.config;
    let local = LocalLimits::new(
        plans.clone(),
        config.limits.addresses_max,
        config.market_time_zone,
        Arc::clone(&context.clock),
    );
    if let Some(state) = state
        && let Err(error) = local.resume(state).await
    {
        let error: &dyn std::error::Error = &error;
        tracing::warn!(
            error,
            "today's usage of keys cannot be read: the daily limits of keys start again at zero"
        );
    }
    local
}

/// Checks that this program supports the configured kind of limits.
///
/// # Errors
/// Fails if shared limits are configured but the program was built without Valkey.
pub(crate) fn check_limits(context: &Context) -> anyhow::Result<()> {
    if context.config.limits.url.is_empty() || cfg!(feature = "valkey") {
        return Ok(());
    }
    Err(usage(anyhow::anyhow!(
        "limits.url is set, but this program was built without Valkey: build it with `--features valkey`, or clear \
         limits.url so that each server counts requests on its own"
    )))
}

/// Checks the settings of limits, keys, proxies and the dashboard, as a server does when it starts.
///
/// # Errors
/// Fails with the key of the first invalid setting.
pub(crate) fn check_settings(context: &Context) -> anyhow::Result<()> {
    let config = &context.config;
    check_limits(context)?;
    Plans::of(&config.limits).map_err(|error| usage(error.into()))?;
    check_operations(&config.access.keyed)?;
    let proxies = config.query_server.trusted_proxies.parse::<api::AddressRanges>();
    proxies.context("query_server.trusted_proxies")?;
    let dashboard = DashboardConfig {
        public_url: match config.public_url.as_str() {
            "" => "http://127.0.0.1:8080".to_owned(),
            url => url.to_owned(),
        },
        ..config.dashboard.clone()
    };
    Dashboard::check(&dashboard, &context.clock).map_err(|error| usage(error.into()))
}

/// Creates limits in this process, or in Valkey if its address is configured.
fn limits(context: &Context, local: LocalLimits, stop: &CancellationToken) -> anyhow::Result<Arc<dyn Limit>> {
    check_limits(context)?;
    if context.config.limits.url.is_empty() {
        return Ok(Arc::new(local));
    }
    shared_limits(context, local, stop)
}

#[cfg(feature = "valkey")]
fn shared_limits(context: &Context, local: LocalLimits, stop: &CancellationToken) -> anyhow::Result<Arc<dyn Limit>> {
    // Two crypto providers are compiled in, so rustls does not choose a default. Another module of the program may
    // already have set the default.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    let (limits, keeping) = access::SharedLimits::start(&context.config.limits, local, stop.clone())
        .map_err(|error| usage(error.into()))?;
    tokio::spawn(keeping);
    Ok(Arc::new(limits))
}

#[cfg(not(feature = "valkey"))]
#[expect(clippy::unnecessary_wraps, reason = "it stands for one that may fail")]
fn shared_limits(_: &Context, local: LocalLimits, _: &CancellationToken) -> anyhow::Result<Arc<dyn Limit>> {
    Ok(Arc::new(local))
}

/// Returns the URL at which clients reach a server that listens on `local`.
pub(crate) fn public_url(context: &Context, local: SocketAddr) -> String {
    match context.config.public_url.as_str() {
        "" => format!("http://{local}"),
        url => url.trim_end_matches('/').to_owned(),
    }
}

/// True if only this machine can reach the mails of a demo.
pub(crate) fn shows_mails(context: &Context, local: SocketAddr) -> bool {
    context.config.public_url.is_empty() && local.ip().to_canonical().is_loopback()
}

fn noted(context: &Context, local: SocketAddr) -> Option<Note> {
    let storage = context.storage().ok()?;
    Note::leave(&storage, local.port(), &public_url(context, local))
}

fn ways(dashboard: &Dashboard) -> Vec<KeyWay> {
    let provider = dashboard.has_provider().then_some(KeyWay::Provider);
    let mail = dashboard.mailer().map(|_| KeyWay::Mail);
    provider.into_iter().chain(mail).chain([KeyWay::Operator]).collect()
}

/// Creates the dashboard if its address lets browsers keep session cookies.
fn dashboard_of(
    context: &Context,
    state: &State,
    plans: &Plans,
    local: SocketAddr,
) -> anyhow::Result<Option<Dashboard>> {
    let config = &context.config;
    if config.public_url.is_empty() && !local.ip().to_canonical().is_loopback() {
        tracing::info!("there is no dashboard: set public_url to the https URL under which browsers reach it");
        return Ok(None);
    }
    let market = Market {
        time_zone: config.market_time_zone,
        free: Arc::clone(plans.of_plan(state::Plan::Free)),
        granted: Arc::clone(plans.of_plan(state::Plan::Granted)),
    };
    let mut given = DashboardConfig {
        public_url: public_url(context, local),
        ..config.dashboard.clone()
    };
    given.mail.outbox &= shows_mails(context, local);
    let made = Dashboard::new(state.clone(), Arc::clone(&context.clock), market, given);
    made.map(Some).map_err(|error| usage(error.into()))
}
