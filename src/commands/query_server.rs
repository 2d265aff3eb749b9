use std::net::SocketAddr;

use anyhow::Context as _;
use data_storage::Storage;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cli::QueryServerArgs;
use crate::exit::Outcome;
use crate::wiring::{Context, shutdown_signal};

/// `haat query-server`: serves the current release until it is told to stop.
pub(crate) async fn run(args: QueryServerArgs, context: Context) -> anyhow::Result<Outcome> {
    let storage = context.storage_new()?;
    let listen = args.listen.unwrap_or(context.config.query_server.listen);
    let server = start(&context, &storage, listen).await?;
    let address = server.address.clone();
    let mut told = std::pin::pin!(shutdown_signal());
    // Whoever waits for the line can send requests; without a release yet, or with a broken one, the follower tries on.
    tokio::select! {
        opened = server.refresh() => if let Err(error) = opened {
            tracing::warn!("{error:#}");
        },
        () = &mut told => return Ok(Outcome::Done),
    }
    server.follow();
    context.output.print(&json!({ "address": address }), |out| {
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
    server: query_server::QueryServer,
    stop: CancellationToken,
    served: JoinHandle<Result<(), api::ServeError>>,
}

/// Binds, and serves in the background: nothing until it is told to look for a release.
pub(crate) async fn start(context: &Context, storage: &Storage, listen: SocketAddr) -> anyhow::Result<Serving> {
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("listen on {listen}"))?;
    let address = format!("http://{}", listener.local_addr()?);
    let metrics = api::install_metrics(env!("CARGO_PKG_VERSION"))?;
    let server = context.query_server(storage)?;
    let stop = CancellationToken::new();
    tokio::spawn(api::run_metrics_upkeep(metrics.clone(), stop.clone()));
    let (router, config, until) = (server.router(Some(metrics)), context.server_config(), stop.clone());
    let served = tokio::spawn(async move { api::serve(listener, router, &config, until).await });
    Ok(Serving {
        address,
        server,
        stop,
        served,
    })
}

impl Serving {
    /// Serves what was published a moment ago, without waiting for the next poll.
    pub(crate) async fn refresh(&self) -> anyhow::Result<()> {
        self.server.refresh().await?;
        Ok(())
    }

    /// From now on looks for newer releases by itself.
    pub(crate) fn follow(&self) {
        let (server, stop) = (self.server.clone(), self.stop.clone());
        tokio::spawn(async move { server.follow(stop).await });
    }

    /// Waits until it is told to stop, then for the requests in flight; ends at once with an error if the server fails.
    pub(crate) async fn until(mut self, told: impl Future<Output = ()>) -> anyhow::Result<()> {
        tokio::select! {
            () = told => {
                self.stop.cancel();
                self.served.await.context("query server")?.context("query server")
            }
            failed = &mut self.served => failed.context("query server")?.context("query server"),
        }
    }
}
