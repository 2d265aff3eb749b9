//! One brand's public store as a client sees it: the one client of the crawl and of the live gateway.
//!
//! In: a store's address and what to fetch, or what to post there. Out: the bytes of its public pages with their
//! validators, its answers in JSON and GraphQL, or an error that says who must act and whether a later attempt can help.
//!
//! Politeness lives here, once, for every caller in the process: per host one pace that falls at once when the
//! store says "too many requests", its `robots.txt` (RFC 9309), a retry budget and a circuit breaker. Who waits for an
//! answer ([`Priority::Interactive`]) goes before a crawl at the same pace, and waits for one request of it at the most.
//!
//! So does safety: every address is checked before and while connecting ([`address`]), every body, redirect chain and wait
//! has a bound, and a call says what it does at the store ([`Effect`]): what must not be done twice is sent once.
//!
//! It never interprets products, never sends anything but GET and POST, never follows a store to an address that is not
//! public, never uses a system proxy, never keeps a cookie, and never drives a checkout.

pub mod address;
mod answer;
mod body;
mod breaker;
mod call;
mod charset;
mod client;
mod config;
pub mod documents;
mod error;
mod exchange;
mod front;
mod graphql;
mod host;
mod hosts;
mod line;
mod look;
mod memory;
mod outbound;
mod pace;
mod page;
mod patience;
mod post;
mod questions;
mod resolve;
mod retry;
mod rights;
mod robots;
mod robots_cache;
mod store;
mod terms;
mod transport;

pub use body::BodyLimit;
pub use client::Storefront;
pub use config::{ConfigError, StorefrontConfig};
pub use error::{RedirectFault, StoreError};
pub use graphql::{GraphqlAnswer, GraphqlError, GraphqlErrorKind, GraphqlRequest};
pub use memory::{MemoryBudget, MemoryUsage, OverBudget, Reservation};
pub use pace::HOLD_MAX;
pub use page::{Accept, FetchOutcome, Page};
pub use resolve::Lookup;
pub use rights::{NotAsked, RightOutcome, StoreRights, under};
pub use robots::Robots;
pub use store::Store;
pub use terms::{Effect, Priority};
pub use transport::{Transport, TransportError, TransportRequest, TransportResponse};
