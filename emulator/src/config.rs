use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::generated::Drift;

/// The source of the stores' products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A folder with one folder a store, each with `products*.json` pages and perhaps a `meta.json`. Folders without
    /// product pages are skipped. At epoch 0 every product is served byte for byte as it was recorded.
    Recorded(PathBuf),
    /// Stores that follow from a seed.
    Generated {
        /// Products of all stores together.
        products: u64,
        /// The number of stores.
        stores: u32,
        /// The same seed gives the same stores on any machine.
        seed: u64,
    },
}

/// The way in which a client reaches one store among many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addressing {
    /// `http://127.1.0.1:PORT`, `http://127.1.0.2:PORT`, …: an address of the loopback network a store, all on one
    /// listening socket. Needs no name resolution and one file descriptor for any number of stores, and a crawler sees a
    /// host a store. Linux only, where all of 127.0.0.0/8 is loopback; the socket is bound to the loopback device, so
    /// that no other machine reaches it.
    IpPerStore,
    /// `http://127.0.0.1:PORT`, a port a store: works on every system, one file descriptor a store, at most 500 stores.
    PortPerStore,
    /// `http://{slug}.localhost:PORT`: one port, the store chosen by the `Host` header. Many resolvers do not know
    /// `*.localhost`; [`StoreAddress::connect`](crate::StoreAddress::connect) gives a client the place to connect to.
    HostPerStore,
}

impl Default for Addressing {
    fn default() -> Self {
        if cfg!(target_os = "linux") {
            Self::IpPerStore
        } else {
            Self::PortPerStore
        }
    }
}

/// The content codings that a store uses for clients that accept them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Brotli or gzip, whichever the client prefers; gzip where it does not care, which costs the emulator less.
    #[default]
    AsAsked,
    /// None, whatever the client accepts: for benchmarks that measure something else.
    Identity,
}

/// Settings of an emulator.
#[derive(Debug, Clone)]
pub struct EmulatorConfig {
    /// The source of products.
    pub source: Source,
    /// The way in which stores are distinguished.
    pub addressing: Addressing,
    /// The address to listen on: a loopback address, port 0 for any free port. [`Addressing::IpPerStore`] takes the
    /// port alone; with [`Addressing::PortPerStore`] the stores take the ports from this one on (any free ones for 0).
    pub bind: SocketAddr,
    /// The epoch to begin with.
    pub epoch: u64,
    /// The amount of change from epoch to epoch.
    pub drift: Drift,
    /// The number of generated stores, the last ones, that sell goods of the others besides their own.
    pub resellers: u32,
    /// ISO 4217 code of recorded stores that do not say theirs.
    pub recorded_currency: String,
    /// Content codings.
    pub encoding: Encoding,
    /// Time that every answer waits before its first byte.
    pub latency: Duration,
    /// Time for a connection to send a request's head, and to idle.
    pub header_timeout: Duration,
    /// Connections above this number are closed after one answer, so that thousands of polite clients' idle
    /// connections do not use up the process's file descriptors.
    pub keep_alive_max: usize,
    /// The number of requests of each store that are remembered in detail; counts go on for ever.
    pub request_log_max: usize,
    /// Lifetime of a cart after its last change, by the emulator's clock.
    pub cart_ttl: Duration,
    /// Carts of one store; where there are more, those idle for longest are dropped.
    pub carts_max: usize,
    /// True where stores take a [`Change`](crate::Change) at `POST /emulator/change`.
    pub control: bool,
    /// Generated stores of India differ in their shipping, and say so in their policies; else all have a fee, an express rate
    /// and much the same policy.
    pub varied_shipping: bool,
    /// True where stores use review apps, which answer at addresses of their own.
    pub widgets: bool,
}

impl EmulatorConfig {
    /// The usual settings for a source.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self {
            source,
            addressing: Addressing::default(),
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            epoch: 0,
            drift: Drift::default(),
            resellers: 0,
            recorded_currency: "INR".to_owned(),
            encoding: Encoding::default(),
            latency: Duration::ZERO,
            header_timeout: Duration::from_secs(10),
            keep_alive_max: 256,
            request_log_max: 10_000,
            cart_ttl: Duration::from_secs(30 * 86_400),
            carts_max: 20_000,
            control: false,
            varied_shipping: false,
            widgets: false,
        }
    }
}
