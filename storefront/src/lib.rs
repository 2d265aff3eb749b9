//! One brand's public store as a client sees it: the one client of the crawl and of the live gateway.
//!
//! In: a store's address and what to fetch. Out: the bytes of its public pages with their validators, or an
//! error that says who must act and whether a later attempt can help.
//!
//! Politeness lives here, once, for every caller in the process: per host one pace that falls at once when the
//! store says "too many requests", its `robots.txt` (RFC 9309), a retry budget and a circuit breaker. So does
//! safety: every address is checked before and while connecting ([`address`]), every body, redirect chain and wait
//! has a bound.
//!
//! It never interprets products, never sends anything but GET, never follows a store to an address that is not
//! public, never uses a system proxy, never keeps a cookie, and never drives a checkout.

pub mod address;
mod answer;
mod body;
mod breaker;
mod charset;
mod client;
mod config;
mod error;
mod host;
mod hosts;
mod memory;
mod pace;
mod patience;
mod resolve;
mod retry;
mod robots;
mod robots_cache;
mod store;
mod transport;

pub use body::BodyLimit;
pub use client::Storefront;
pub use config::{ConfigError, StorefrontConfig};
pub use error::{RedirectFault, StoreError};
pub use memory::{MemoryBudget, MemoryUsage, OverBudget, Reservation};
pub use resolve::Lookup;
pub use robots::Robots;
pub use store::{Accept, Fetched, Page, Store};
pub use transport::{Incoming, Outgoing, Transport, TransportError};
