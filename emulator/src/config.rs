use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::generated::Drift;

/// The source of the stores' products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Folder with a subfolder for each store, which has `products*.json` pages and optionally a `meta.json`.
    /// Subfolders without product pages are skipped. At epoch 0 every product is served byte for byte as it was
    /// recorded.
    Recorded(PathBuf),
    /// Stores generated from a seed.
    Generated {
        /// Total number of products in all stores.
        products: u64,
        /// The number of stores.
        stores: u32,
        /// Seed of the generator. The same seed produces the same stores on any machine.
        seed: u64,
    },
}

/// The way in which a client addresses one of the stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addressing {
    /// `http://127.1.0.1:PORT`, `http://127.1.0.2:PORT`, …: one loopback address for each store, all on one listening
    /// socket. Loopback addresses per store need no name resolution and one file descriptor for any number of stores,
    /// and a crawler sees one host per store. They work on Linux only, where all of 127.0.0.0/8 is loopback. The socket
    /// is bound to the loopback device, so that other machines cannot reach it.
    IpPerStore,
    /// `http://127.0.0.1:PORT`, with one port for each store. Ports per store work on every system, need one file
    /// descriptor for each store, and allow at most 500 stores.
    PortPerStore,
    /// `http://{slug}.localhost:PORT`: one port, where the `Host` header names the store. Many resolvers do not know
    /// `*.localhost`; [`StoreAddress::connect`](crate::StoreAddress::connect) is the address to connect to.
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
    /// Brotli or gzip, as the client prefers. Without a preference it is gzip, which costs the emulator less.
    #[default]
    AsAsked,
    /// No content coding, whatever the client accepts, for benchmarks that measure something else.
    Identity,
}

/// Configuration of an emulator.
#[derive(Debug, Clone)]
pub struct EmulatorConfig {
    /// The source of the stores' products.
    pub source: Source,
    /// The way in which clients address a store.
    pub addressing: Addressing,
    /// Loopback address to listen on. Port 0 means any free port. [`Addressing::IpPerStore`] uses only the port. With
    /// [`Addressing::PortPerStore`] the stores use consecutive ports from this one on, or any free ports if the port is
    /// 0.
    pub bind: SocketAddr,
    /// Epoch at which the stores start.
    pub epoch: u64,
    /// Rates at which the catalogues change from epoch to epoch.
    pub drift: Drift,
    /// Number of generated stores, at the end of the list, that also sell products of other stores.
    pub resellers: u32,
    /// ISO 4217 currency code for recorded stores that do not state their own.
    pub recorded_currency: String,
    /// Content codings of the responses.
    pub encoding: Encoding,
    /// Delay before the first byte of every response.
    pub latency: Duration,
    /// Time limit for the head of a request, and for an idle connection.
    pub header_timeout: Duration,
    /// Number of open connections above which a connection is closed after one response. Otherwise the idle connections
    /// of thousands of well-behaved clients would use up the process's file descriptors.
    pub keep_alive_max: usize,
    /// Number of requests per store that are logged in detail. Requests are counted without a limit.
    pub request_log_max: usize,
    /// Lifetime of a cart after its last change, measured by the emulator's clock.
    pub cart_ttl: Duration,
    /// Maximum number of carts in one store. Above it, the carts that were idle for longest are dropped.
    pub carts_max: usize,
    /// True to enable `POST /emulator/change`, at which stores accept a [`Change`](crate::Change).
    pub control: bool,
    /// True to let generated stores in India differ in their shipping and describe it in their policies. Otherwise all
    /// stores have one fee, an express rate and similar policies.
    pub varied_shipping: bool,
    /// Gives stores review apps, which have their own addresses.
    pub widgets: bool,
    /// True to let GraphQL state the products' categories at generated stores: at some for all products, at some for a
    /// part, at others for none. Otherwise every category is null.
    pub categories: bool,
}

impl EmulatorConfig {
    /// Returns the default settings for a source of products.
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
            categories: false,
        }
    }
}
