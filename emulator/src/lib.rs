//! Emulated stores on loopback, for the demo, for tests and for benchmarks.
//!
//! In: a folder of recorded product pages, or a seed and two numbers. Out: stores that answer over HTTP as the storefront
//! platform does to a third party: the catalogue's JSON views, pages with structured data, `meta.json`, robots.txt,
//! sitemaps, policies and pictures, with validators and content codings; on demand they change from epoch to epoch and
//! go wrong in every way that is known of real ones.
//!
//! Generated products are pure functions of seed, store, place and epoch: nothing is kept of them, a million cost no more
//! memory than a dozen. Never: listens on anything but loopback, fetches anything, or has a part in production.

mod address;
mod answer;
mod catalogue;
mod config;
mod error;
mod fault;
mod generated;
mod json;
mod log;
mod market;
mod picture;
mod recorded;
mod running;
mod serve;
mod server;
mod shop;
mod socket;

pub use config::{Addressing, EmulatorConfig, Encoding, Source};
pub use error::EmulatorError;
pub use fault::{Fault, FaultRule};
pub use generated::Drift;
pub use log::{RequestRecord, Requests};
pub use running::{Emulator, Running};
pub use shop::StoreAddress;
