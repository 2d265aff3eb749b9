mod stall;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::Service;

use self::stall::StallGuard;
use crate::edge::HostFault;

/// Limits of the connections that a server holds.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Most connections at the same time; others wait in the kernel's queue.
    pub connections_max: usize,
    /// Longest time for a connection to tell its protocol, for a request's head to arrive, and for a kept connection to
    /// stay idle.
    pub header_read_timeout_ms: u64,
    /// Longest time in which a client takes no byte of its answer.
    pub write_stall_timeout_ms: u64,
    /// Largest head of a request.
    pub header_bytes_max: usize,
    /// Most headers of a request.
    pub headers_max: usize,
    /// Most requests at the same time on one HTTP/2 connection.
    pub streams_max: u32,
    /// How long requests in flight may take to end once the server is told to stop.
    pub drain_ms: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            connections_max: 4096,
            header_read_timeout_ms: 15_000,
            write_stall_timeout_ms: 30_000,
            header_bytes_max: 32 * 1024,
            headers_max: 100,
            streams_max: 128,
            drain_ms: 10_000,
        }
    }
}

/// Why a server stopped without being told to, or did not stop cleanly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The listening socket is of no use any more.
    #[error("no more connections can be accepted")]
    Accept(#[source] std::io::Error),
    /// Some requests were still in flight when the time to drain was over; they were cut off.
    #[error("{connections} connections were cut off after {drain_ms} ms")]
    Drain {
        /// Connections cut off.
        connections: usize,
        /// The time they were given.
        drain_ms: u64,
    },
}

/// Serves `router` on `listener` until `stop`, then takes no more connections and lets the requests in flight end.
/// Handlers find the peer's address as `ConnectInfo<SocketAddr>`.
///
/// # Errors
/// See [`ServeError`].
pub async fn serve(
    listener: TcpListener,
    router: Router,
    config: &ServerConfig,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let builder = Arc::new(connection_builder(config));
    let slots = Arc::new(Semaphore::new(config.connections_max.min(Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let cut_off = CancellationToken::new();
    let mut failures_in_a_row = 0_u32;
    let outcome = loop {
        let accepted = stop.run_until_cancelled(async {
            // The semaphore is never closed.
            let slot = Arc::clone(&slots).acquire_owned().await.ok();
            (slot, listener.accept().await)
        });
        let Some((slot, accepted)) = accepted.await else {
            break Ok(());
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if failures_in_a_row < 1000 => {
                failures_in_a_row += 1;
                // Out of file descriptors, or a peer that left again: wait a little rather than spin.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
            Err(error) => break Err(ServeError::Accept(error)),
        };
        failures_in_a_row = 0;
        // Answers are written whole; waiting for more to send only delays them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection is gone already");
            continue;
        }
        let stall = Duration::from_millis(config.write_stall_timeout_ms);
        let opening = Duration::from_millis(config.header_read_timeout_ms);
        let io = TokioIo::new(StallGuard::new(stream, stall, opening));
        let connection = serve_connection(Arc::clone(&builder), io, peer, router.clone(), graceful.watcher());
        let cut_off = cut_off.clone();
        tokio::spawn(async move {
            cut_off.run_until_cancelled(connection).await;
            drop(slot);
        });
    };
    drop(listener);
    let open = graceful.count();
    let drained = tokio::time::timeout(Duration::from_millis(config.drain_ms), graceful.shutdown()).await;
    if drained.is_err() {
        let connections = config
            .connections_max
            .saturating_sub(slots.available_permits())
            .min(open);
        cut_off.cancel();
        outcome?;
        return Err(ServeError::Drain {
            connections,
            drain_ms: config.drain_ms,
        });
    }
    outcome
}

fn connection_builder(config: &ServerConfig) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(config.header_read_timeout_ms))
        .max_buf_size(config.header_bytes_max.max(8192))
        .max_headers(config.headers_max);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(config.streams_max)
        .max_header_list_size(u32::try_from(config.header_bytes_max).unwrap_or(u32::MAX))
        .keep_alive_interval(Duration::from_millis(config.header_read_timeout_ms))
        .keep_alive_timeout(Duration::from_millis(config.write_stall_timeout_ms));
    builder
}

async fn serve_connection(
    builder: Arc<auto::Builder<TokioExecutor>>,
    io: TokioIo<StallGuard>,
    peer: SocketAddr,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut request = request.map(Body::new);
        if let Some(fault) = HostFault::of(&request) {
            request.extensions_mut().insert(fault);
        }
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().call(request)
    });
    let connection = builder.serve_connection(io, service).into_owned();
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests;
