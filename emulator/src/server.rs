//! Listening sockets and accepted connections.

#[cfg(not(target_os = "linux"))]
use std::io;
#[cfg(target_os = "linux")]
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::EmulatorError;
use crate::address::{index_of, slug_of};
use crate::config::{Addressing, EmulatorConfig};
use crate::connection::ConnectionContext;
use crate::market::Market;
use crate::serve::{host, serve};
use crate::shop::Shop;
use crate::socket::Socket;

const BACKLOG: u32 = 1024;

pub(crate) fn listen(config: &EmulatorConfig, stores: usize) -> Result<Vec<TcpListener>, EmulatorError> {
    match config.addressing {
        Addressing::IpPerStore => Ok(vec![listen_on_loopback_device(config.bind.port())?]),
        Addressing::HostPerStore => Ok(vec![listen_on(config.bind)?]),
        Addressing::PortPerStore => (0..stores)
            .map(|nth| {
                let port = match config.bind.port() {
                    0 => 0,
                    first => u16::try_from(usize::from(first) + nth).map_err(|_| EmulatorError::TooMany {
                        what: "stores",
                        asked: stores as u64,
                        most: u64::from(u16::MAX - first) + 1,
                    })?,
                };
                listen_on(SocketAddr::new(config.bind.ip(), port))
            })
            .collect(),
    }
}

fn listen_on(address: SocketAddr) -> Result<TcpListener, EmulatorError> {
    let bind = || {
        let socket = if address.is_ipv4() {
            TcpSocket::new_v4()
        } else {
            TcpSocket::new_v6()
        }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bind().map_err(|source| EmulatorError::Listen { address, source })
}

/// Opens one socket for every address of the loopback network. The socket listens on all addresses, so that other
/// machines could reach it. Therefore the socket is bound to the loopback device, which receives no packets from them.
#[cfg(target_os = "linux")]
fn listen_on_loopback_device(port: u16) -> Result<TcpListener, EmulatorError> {
    let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let listening = |source| EmulatorError::Listen { address, source };
    let socket = TcpSocket::new_v4().map_err(listening)?;
    socket
        .bind_device(Some(b"lo"))
        .map_err(|source| EmulatorError::AddressingUnsupported { source })?;
    socket.set_reuseaddr(true).map_err(listening)?;
    socket.bind(address).map_err(listening)?;
    socket.listen(BACKLOG).map_err(listening)
}

#[cfg(not(target_os = "linux"))]
fn listen_on_loopback_device(_port: u16) -> Result<TcpListener, EmulatorError> {
    Err(EmulatorError::AddressingUnsupported {
        source: io::ErrorKind::Unsupported.into(),
    })
}

/// Accepts connections until the stop. `only` is the store of a listener that serves a single store.
pub(crate) async fn accept(context: ConnectionContext, listener: TcpListener, only: Option<usize>) {
    loop {
        let accepted = tokio::select! {
            () = context.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) if peer.ip().is_loopback() => {
                let tasks = context.tasks.clone();
                tasks.spawn(connection(context.clone(), stream, only));
            }
            Ok(_) => {}
            Err(error) => {
                // The usual cause is a lack of file descriptors, which connections release when they end.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

async fn connection(context: ConnectionContext, stream: TcpStream, only: Option<usize>) {
    let local = stream.local_addr().ok();
    // A response is written in a single call, so waiting for more data would only delay it.
    let _ = stream.set_nodelay(true);
    let reset = Arc::new(AtomicBool::new(false));
    let io = TokioIo::new(Socket::new(stream, Arc::clone(&reset), Arc::clone(&context.open)));
    let (market, open) = (Arc::clone(&context.market), Arc::clone(&context.open));
    let service = service_fn(move |request: Request<Incoming>| {
        let (market, reset, open) = (Arc::clone(&market), Arc::clone(&reset), Arc::clone(&open));
        async move {
            let (parts, body) = request.into_parts();
            let shop = find(&market, only, local, host(&parts)).cloned();
            let close = open.load(Ordering::Acquire) > market.config.keep_alive_max;
            serve(&market, shop.as_ref(), &parts, body, &reset, close).await
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(context.market.config.header_timeout)
        .max_buf_size(64 * 1024);
    let serving = builder.serve_connection(io, service);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = context.stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Finds the store that a connection or its request addresses.
fn find<'a>(
    market: &'a Market,
    only: Option<usize>,
    local: Option<SocketAddr>,
    host: Option<&str>,
) -> Option<&'a Arc<Shop>> {
    let index = match market.config.addressing {
        Addressing::PortPerStore => only,
        Addressing::IpPerStore => index_of(local?.ip()),
        Addressing::HostPerStore => market.by_slug.get(slug_of(host?)?).copied(),
    };
    market.shops.get(index?)
}
