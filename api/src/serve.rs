mod stall;
mod timer;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use futures::FutureExt;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::stall::StallGuard;
use self::timer::ConnectionTimer;
use crate::edge::{EdgeRouter, HostFault};

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
///
/// # Errors
/// See [`ServeError`].
pub async fn serve(
    listener: TcpListener,
    router: EdgeRouter,
    config: &ServerConfig,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let builder = connection_builder(config);
    let slots = Arc::new(Semaphore::new(config.connections_max.min(Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
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
        let (stream, _) = match accepted {
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
        while connections.try_join_next().is_some() {}
        // Answers are written whole; waiting for more to send only delays them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection is gone already");
            continue;
        }
        let stall = Duration::from_millis(config.write_stall_timeout_ms);
        let opening = Duration::from_millis(config.header_read_timeout_ms);
        let io = TokioIo::new(StallGuard::new(stream, stall, opening));
        let connection = serve_connection(builder.clone(), io, router.clone(), graceful.watcher());
        connections.spawn(async move {
            connection.await;
            drop(slot);
        });
    };
    drop(listener);
    let drained = tokio::time::timeout(Duration::from_millis(config.drain_ms), graceful.shutdown()).await;
    if drained.is_err() {
        while connections.try_join_next().is_some() {}
        // Dropped here, which cuts off those that are left.
        outcome?;
        return Err(ServeError::Drain {
            connections: connections.len(),
            drain_ms: config.drain_ms,
        });
    }
    outcome
}

/// Most headers of a request where hyper is told nothing (`hyper::server::conn::http1::Builder::max_headers`).
const HEADERS_MAX_UNSET: usize = 100;

fn connection_builder(config: &ServerConfig) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .header_read_timeout(Duration::from_millis(config.header_read_timeout_ms))
        .max_buf_size(config.header_bytes_max.max(8192));
    // The limit that hyper has anyway costs nothing; one that is set has a table cleared for each request.
    if config.headers_max != HEADERS_MAX_UNSET {
        builder.http1().max_headers(config.headers_max);
    }
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
    mut builder: auto::Builder<TokioExecutor>,
    io: TokioIo<StallGuard>,
    router: EdgeRouter,
    watcher: hyper_util::server::graceful::Watcher,
) {
    builder.http1().timer(ConnectionTimer::default());
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        // A body that has ended needs no box.
        let mut request = request.map(|body| {
            if body.is_end_stream() {
                Body::empty()
            } else {
                Body::new(body)
            }
        });
        if let Some(fault) = HostFault::of(&request) {
            request.extensions_mut().insert(fault);
        }
        router.answer(request).map(Ok::<_, Infallible>)
    });
    let connection = builder.serve_connection(io, service).into_owned();
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests;
