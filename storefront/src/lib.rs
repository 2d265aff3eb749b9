//! Client for the public storefronts of stores, used by the crawl and the live gateway.
//!
//! Input: a store's address and the request. Output: the bytes of its public pages with their validators, its JSON and
//! GraphQL responses, or an error. An error states who must act and whether a later attempt can help.
//!
//! This crate implements politeness for every caller in the process. Each host has a rate limiter that slows down
//! immediately after "too many requests", its `robots.txt` (RFC 9309), a retry budget and a circuit breaker.
//! Interactive calls ([`Priority::Interactive`]) share the rate limit with a crawl but go first, and wait for at most
//! one request of the crawl.
//!
//! This crate also implements safety. Every address is checked before and while connecting ([`address`]). Every body,
//! redirect chain and wait is bounded. A call declares its effect at the store ([`Effect`]): a call that must not be
//! made twice is sent once.
//!
//! This crate does not interpret products and does not drive a checkout. The only HTTP methods are GET, HEAD and POST.
//! The client does not follow a store to a non-public address, use a system proxy, or store cookies.

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
mod home;
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
