use anyhow::Context as _;
use data_storage::Storage;
use query_server::Followed;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cli::QueryServerArgs;
use crate::exit::{Outcome, plain};
use crate::listen::Listen;
use crate::wiring::{Context, shutdown_signal};

/// `haat query-server`: serves the current release until it is told to stop.
pub(crate) async fn run(args: QueryServerArgs, context: Context) -> anyhow::Result<Outcome> {
    // Serving never makes a home: a mistyped one would answer 503 for ever.
    let storage = context.storage()?;
    let listen = args.listen.as_ref().unwrap_or(&context.config.query_server.listen);
    let server = start(&context, &storage, listen).await?;
    let address = server.address.clone();
    let mut told = std::pin::pin!(shutdown_signal());
    // Whoever waits for the line can send requests; without a release yet, or with a broken one, the follower tries on,
    // and tells of a failure itself.
    tokio::select! {
        opened = server.refresh() => match opened {
            Ok(Followed::Nothing) => tracing::warn!(
                "nothing is released under {} yet: requests are answered with 503 until `haat crawl --release` or \
                 `haat release build` has published something",
                context.config.home
            ),
            Ok(_) => {}
            Err(error) => tracing::debug!("{}", plain(&error)),
        },
        () = &mut told => return Ok(Outcome::Done),
    }
    server.follow();
    let ops = server.ops_address.clone();
    let told_addresses = json!({ "address": address, "ops_address": ops });
    context.output.print(&told_addresses, |out| {
        if let Some(ops) = &ops {
            writeln!(out, "probes and metrics on {ops}")?;
        }
        writeln!(out, "serving on {address}; Ctrl-C stops it")
    })?;
    server.until(told).await?;
    Ok(Outcome::Done)
}

/// A server that answers in the background.
#[derive(Debug)]
pub(crate) struct Serving {
    /// Its base URL.
    pub(crate) address: String,
    /// The base URL of its probes and metrics, where they have a listener of their own.
    pub(crate) ops_address: Option<String>,
    server: query_server::QueryServer,
    stop: CancellationToken,
    served: Listening,
    ops: Option<Ops>,
}

type Listening = JoinHandle<Result<(), api::ServeError>>;

/// The listener of probes and metrics.
#[derive(Debug)]
struct Ops {
    stop: CancellationToken,
    served: Listening,
}

/// Most connections to the listener of probes and metrics.
const OPS_CONNECTIONS_MAX: usize = 64;

/// Binds, and serves in the background: nothing until it is told to look for a release.
pub(crate) async fn start(context: &Context, storage: &Storage, listen: &Listen) -> anyhow::Result<Serving> {
    let given = &context.config.query_server;
    let listener = listen.bind().await?;
    let ops_listener = match given.ops_listen.as_str() {
        "" => None,
        name => {
            let bound = TcpListener::bind(name).await;
            Some(bound.with_context(|| format!("query_server.ops_listen {name:?}"))?)
        }
    };
    let local = listener.local_addr()?;
    let metrics = api::install_metrics(env!("CARGO_PKG_VERSION"))?;
    let server = context.query_server(storage)?;
    let stop = CancellationToken::new();
    tokio::spawn(api::run_metrics_upkeep(metrics.clone(), stop.clone()));
    let config = context.server_config()?;
    let (ops_address, ops) = match ops_listener {
        Some(listener) => {
            let address = format!("http://{}", listener.local_addr()?);
            let router = server.ops_router(metrics.clone());
            (Some(address), Some(serve_ops(listener, router, &config)))
        }
        None => (None, None),
    };
    // Whoever may ask the market a question need not see how busy it is: a proxy on this machine hands on all requests.
    let shown = given.metrics_public || (ops.is_none() && local.ip().to_canonical().is_loopback());
    let (router, until) = (server.router(shown.then_some(metrics)), stop.clone());
    let served = tokio::spawn(async move { api::serve(listener, router, &config, until).await });
    Ok(Serving {
        address: format!("http://{local}"),
        ops_address,
        server,
        stop,
        served,
        ops,
    })
}

/// Serves probes and metrics on a listener of their own, which no client of the market can keep busy.
fn serve_ops(listener: TcpListener, router: api::EdgeRouter, config: &api::ServerConfig) -> Ops {
    let config = api::ServerConfig {
        connections_max: OPS_CONNECTIONS_MAX,
        ..config.clone()
    };
    let stop = CancellationToken::new();
    let until = stop.clone();
    let served = tokio::spawn(async move { api::serve(listener, router, &config, until).await });
    Ops { stop, served }
}

impl Serving {
    /// Serves what was published a moment ago, without waiting for the next poll.
    pub(crate) async fn refresh(&self) -> anyhow::Result<Followed> {
        let (opened, ()) = tokio::join!(self.server.refresh(), self.server.refresh_checks());
        Ok(opened?)
    }

    /// From now on looks for newer releases by itself.
    pub(crate) fn follow(&self) {
        let (server, stop) = (self.server.clone(), self.stop.clone());
        tokio::spawn(async move { server.follow(stop).await });
    }

    /// Waits until it is told to stop, then for the requests in flight; ends at once with an error if the server fails.
    /// Probes are answered until the last request is.
    pub(crate) async fn until(self, told: impl Future<Output = ()>) -> anyhow::Result<()> {
        let Self {
            stop,
            mut served,
            mut ops,
            ..
        } = self;
        let probed = async {
            match &mut ops {
                Some(ops) => (&mut ops.served).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = told => {
                stop.cancel();
                served.await.context("query server")?.context("query server")?;
            }
            failed = &mut served => return failed.context("query server")?.context("query server"),
            failed = probed => return failed.context("probes and metrics")?.context("probes and metrics"),
        }
        if let Some(ops) = ops {
            ops.stop.cancel();
            ops.served
                .await
                .context("probes and metrics")?
                .context("probes and metrics")?;
        }
        Ok(())
    }
}
