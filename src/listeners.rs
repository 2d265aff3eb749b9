//! Listeners of a server, and their graceful stop.

use std::time::Duration;

use anyhow::Context as _;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::exit::usage;
use crate::listen::ListenAddress;
use crate::wiring::Context;

type ListenerTask = JoinHandle<Result<(), api::ServeError>>;

/// Main listener of the market, and its side listeners.
#[derive(Debug)]
pub(crate) struct Listeners {
    /// Time for which requests are still accepted after the stop signal.
    leave: Duration,
    stop: CancellationToken,
    served: ListenerTask,
    asides: Vec<SideListener>,
}

impl Listeners {
    /// Starts to serve in the background. `stop` stops the main listener.
    pub(crate) fn serve(
        context: &Context,
        listener: TcpListener,
        router: api::EdgeRouter,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let (config, until) = (context.server_config()?, stop.clone());
        Ok(Self {
            leave: Duration::from_millis(context.config.query_server.leave_ms),
            stop,
            served: tokio::spawn(async move { api::serve(listener, router, &config, until).await }),
            asides: Vec::new(),
        })
    }

    /// Adds side listeners, which respond until the main listener has completed its last request.
    pub(crate) fn beside(mut self, asides: impl IntoIterator<Item = SideListener>) -> Self {
        self.asides.extend(asides);
        self
    }

    /// Waits for the stop signal `told`, and announces it with `say`. Then waits until proxies use other servers and
    /// the running requests are done. Returns an error at once if a listener fails. Probes get responses until the last
    /// request is done.
    pub(crate) async fn until(self, told: impl Future<Output = ()>, say: impl FnOnce()) -> anyhow::Result<()> {
        let Self {
            leave,
            stop,
            mut served,
            mut asides,
        } = self;
        let left = async {
            told.await;
            say();
            tokio::time::sleep(leave).await;
        };
        let failed_aside = async {
            let mut ended: FuturesUnordered<_> = asides.iter_mut().map(|aside| &mut aside.served).collect();
            match ended.next().await {
                Some(ended) => ended,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = left => {
                stop.cancel();
                served.await.context("server")?.context("server")?;
            }
            failed = &mut served => return failed.context("server")?.context("server"),
            failed = failed_aside => return failed.context("probes and lookups")?.context("probes and lookups"),
        }
        for aside in asides {
            aside.end().await?;
        }
        Ok(())
    }
}

/// Listener beside the market's own, which clients of the market cannot overload.
#[derive(Debug)]
pub(crate) struct SideListener {
    address: String,
    stop: CancellationToken,
    served: ListenerTask,
}

const ASIDE_CONNECTIONS_MAX: usize = 64;

impl SideListener {
    pub(crate) fn serve(
        listener: TcpListener,
        router: api::EdgeRouter,
        config: &api::ServerConfig,
    ) -> anyhow::Result<Self> {
        let address = format!("http://{}", listener.local_addr()?);
        let config = api::ServerConfig {
            connections_max: ASIDE_CONNECTIONS_MAX,
            ..config.clone()
        };
        let stop = CancellationToken::new();
        let until = stop.clone();
        let served = tokio::spawn(async move { api::serve(listener, router, &config, until).await });
        Ok(Self { address, stop, served })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Stops the listener once its running requests are done.
    pub(crate) async fn end(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.served.await.context("probes and lookups")??)
    }
}

/// Binds a listener beside the public one: at the address of a flag, else at the configured one, if any. `key` is the
/// key of the configuration, for errors.
pub(crate) async fn listen_aside(
    flag: Option<ListenAddress>,
    configured: &str,
    key: &str,
) -> anyhow::Result<Option<TcpListener>> {
    let listen = match flag {
        Some(listen) => Some(listen),
        None => aside_address(configured, key)?,
    };
    match listen {
        Some(listen) => listen.bind().await.map(Some),
        None => Ok(None),
    }
}

/// Parses the configured address of a listener beside the public one. An empty text means none.
pub(crate) fn aside_address(configured: &str, key: &str) -> anyhow::Result<Option<ListenAddress>> {
    let parsed = (!configured.is_empty()).then(|| configured.parse()).transpose();
    parsed.map_err(|error: String| usage(anyhow::anyhow!("{key}: {error}")))
}
