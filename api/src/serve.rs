mod holders;
mod stall;
mod timer;

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use futures::FutureExt;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::holders::{Holders, Seat};
use self::stall::StallGuard;
use self::timer::ConnectionTimer;
use crate::address_ranges::AddressRanges;
use crate::edge::{EdgeRouter, HostFault};

/// Limits of a server's connections.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Maximum number of open connections. At the maximum, an idle connection is closed for a new one. If none is idle,
    /// the new connection waits.
    pub connections_max: usize,
    /// Maximum number of open connections per IPv4 address or IPv6 /64 network, at least 1. Further connections are
    /// closed unread after a delay of at least `refusal_delay_ms`.
    pub connections_per_address_max: usize,
    /// Delay before a connection over the limit per address is closed. The delay grows with the number of connections
    /// that wait that way, at most `connections_max`; further ones are closed immediately.
    pub refusal_delay_ms: u64,
    /// Addresses of proxies that forward requests of many clients. Connections from these proxies are exempt from the
    /// limit per address.
    pub trusted_proxies: AddressRanges,
    /// Time limit for a connection to reveal its protocol, for a request's head to arrive, and for an idle kept-alive
    /// connection.
    pub header_read_timeout_ms: u64,
    /// Maximum time in which a client reads no byte of its response.
    pub write_stall_timeout_ms: u64,
    /// Maximum size of a request's head, including the URI.
    pub header_bytes_max: usize,
    /// Maximum number of headers of a request.
    pub headers_max: usize,
    /// Maximum number of concurrent requests on one HTTP/2 connection.
    pub streams_max: u32,
    /// Time for requests in flight to finish when the server stops, or when their connection must close for another
    /// one.
    pub drain_ms: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            connections_max: 4096,
            connections_per_address_max: 1024,
            refusal_delay_ms: 1_000,
            trusted_proxies: AddressRanges::default(),
            header_read_timeout_ms: 15_000,
            write_stall_timeout_ms: 30_000,
            header_bytes_max: 64 * 1024,
            headers_max: 100,
            streams_max: 128,
            drain_ms: 10_000,
        }
    }
}

/// Errors that end a server, or that prevent a clean stop.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The listening socket has failed.
    #[error("no further connections can be accepted")]
    Accept(#[source] std::io::Error),
    /// Some requests were still running at the end of the drain time and were aborted.
    #[error("{connections} connections were aborted after {drain_ms} ms")]
    Drain {
        /// Number of aborted connections.
        connections: usize,
        /// Time that the connections had to finish.
        drain_ms: u64,
    },
}

/// Serves `router` on `listener` until `stop`. Then no connection is accepted any more, and the running requests
/// finish.
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
    let places = Arc::new(Semaphore::new(config.connections_max.min(Semaphore::MAX_PERMITS)));
    // All connections get the signal, even if the server ends without `stop`.
    let closing = stop.child_token();
    let trusted = config.trusted_proxies.clone();
    let holders = Holders::new(config.connections_per_address_max.max(1), trusted, closing.clone());
    let refusals = Arc::new(Semaphore::new(config.connections_max.min(Semaphore::MAX_PERMITS)));
    let mut connections = JoinSet::new();
    let mut failures_in_a_row = 0_u32;
    let outcome = loop {
        let Some(accepted) = stop.run_until_cancelled(listener.accept()).await else {
            break Ok(());
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if failures_in_a_row < 1000 => {
                failures_in_a_row += 1;
                // The process has no free file descriptor, or the peer has already disconnected. A short wait avoids a
                // busy loop.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
            Err(error) => break Err(ServeError::Accept(error)),
        };
        failures_in_a_row = 0;
        while connections.try_join_next().is_some() {}
        if holders.refuses(peer.ip()) {
            refuse(stream, config, &refusals, &closing);
            continue;
        }
        let Some(place) = stop.run_until_cancelled(place(&places, &holders)).await else {
            break Ok(());
        };
        // Responses are written as a whole, so waiting for more data only delays them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection was closed before it could be served");
            continue;
        }
        let stall = Duration::from_millis(config.write_stall_timeout_ms);
        let opening = Duration::from_millis(config.header_read_timeout_ms);
        let io = TokioIo::new(StallGuard::new(stream, stall, opening));
        let seat = holders.enter(peer.ip());
        let give_way = Duration::from_millis(config.drain_ms);
        let connection = serve_connection(
            builder.clone(),
            io,
            router.clone(),
            peer.ip(),
            seat,
            closing.clone(),
            give_way,
        );
        connections.spawn(async move {
            connection.await;
            drop(place);
        });
    };
    drop(listener);
    closing.cancel();
    let ended = async { while connections.join_next().await.is_some() {} };
    let drained = tokio::time::timeout(Duration::from_millis(config.drain_ms), ended).await;
    if drained.is_err() {
        // Dropping the set aborts the remaining connections.
        outcome?;
        return Err(ServeError::Drain {
            connections: connections.len(),
            drain_ms: config.drain_ms,
        });
    }
    outcome
}

/// Number of refused connections that may be closed, and reconnect, in the time of one delay. If more wait, each waits
/// for longer.
const REFUSALS_PER_DELAY: usize = 400;

fn refusal_delay(delay_ms: u64, waiting: usize) -> Duration {
    let times = 1 + u64::try_from(waiting / REFUSALS_PER_DELAY).unwrap_or(0);
    Duration::from_millis(delay_ms.saturating_mul(times))
}

/// Closes a connection above its address's limit after a delay. A client that is refused immediately reconnects
/// immediately, and thousands of such clients would use the CPU time of all other clients. Each waiting connection
/// occupies a file descriptor, so the number of waiting connections is limited by `refusals`. Further connections are
/// closed immediately.
fn refuse(stream: TcpStream, config: &ServerConfig, refusals: &Arc<Semaphore>, closing: &CancellationToken) {
    let waiting = config.connections_max.saturating_sub(refusals.available_permits());
    let delay = refusal_delay(config.refusal_delay_ms, waiting);
    let Ok(permit) = Arc::clone(refusals).try_acquire_owned() else {
        return;
    };
    let closing = closing.clone();
    tokio::spawn(async move {
        closing.run_until_cancelled(tokio::time::sleep(delay)).await;
        drop((stream, permit));
    });
}

/// Time to wait for an idle connection to close before closing another idle connection.
const GIVE_WAY_RETRY_MS: u64 = 100;

/// Acquires a slot for a connection. If no slot is free, idle connections are closed one after another until one is.
async fn place(places: &Arc<Semaphore>, holders: &Holders) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = Arc::clone(places).try_acquire_owned() {
        return Some(place);
    }
    let mut taking = pin!(Arc::clone(places).acquire_owned());
    loop {
        holders.make_room();
        let waited = tokio::time::timeout(Duration::from_millis(GIVE_WAY_RETRY_MS), taking.as_mut()).await;
        if let Ok(place) = waited {
            // The semaphore is never closed.
            return place.ok();
        }
    }
}

/// Maximum number of headers in hyper by default (`hyper::server::conn::http1::Builder::max_headers`).
const HEADERS_MAX_UNSET: usize = 100;

fn connection_builder(config: &ServerConfig) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .header_read_timeout(Duration::from_millis(config.header_read_timeout_ms))
        .max_buf_size(config.header_bytes_max.max(8192));
    // Hyper's default limit costs nothing. With an explicit limit, hyper clears a table for each request.
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

/// Serves a connection until its client is done, or until it must close and has finished the current responses.
async fn serve_connection(
    mut builder: auto::Builder<TokioExecutor>,
    io: TokioIo<StallGuard>,
    router: EdgeRouter,
    peer: IpAddr,
    seat: Seat,
    closing: CancellationToken,
    give_way: Duration,
) {
    builder.http1().timer(ConnectionTimer::default());
    let state = Arc::clone(&seat.state);
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        // A body that has already ended needs no box.
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
        let answering = Seat::answering(&state);
        router.answer_from(Some(peer), request).map(move |answer| {
            drop(answering);
            Ok::<_, Infallible>(answer)
        })
    });
    let mut connection = pin!(builder.serve_connection(io, service).into_owned());
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = seat.state.leave.cancelled() => {
            connection.as_mut().graceful_shutdown();
            if closing.is_cancelled() {
                connection.await
            } else {
                // A client that reads its response slowly must not keep a slot that others wait for.
                match tokio::time::timeout(give_way, connection).await {
                    Ok(ended) => ended,
                    Err(_) => return tracing::debug!("a connection that did not free its slot in time is aborted"),
                }
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests;
