//! Answers from stored data: search, products, reviews, brands, categories, totals, and the page that shows them.
//!
//! In: releases, as `data-release` publishes them, when crawls last asked each store (`data-checks`), tests of codes
//! (`data-codes`), and requests. Out: JSON in the envelope of the contract, each answer from exactly one release, which its
//! provenance and entity tag name. A newer release is fetched, verified and asked a few questions before it replaces the
//! one that is served, without a request being dropped. The operations lie in [`operations`], typed and without HTTP;
//! routes read parameters, call one and write its answer. The gateway asks some of them over a listener of its own, or in
//! the same process. It never crawls, never reads the lake, never asks a brand's store, and holds nothing that is in
//! neither.

mod checks;
mod config;
mod cursor;
mod delivery;
mod discounts;
mod error;
mod follow;
mod holidays;
mod hosts;
mod lookup;
pub mod operations;
mod page;
mod pictures;
mod promise;
mod reach;
mod reads;
mod render;
mod routes;
pub mod schema;
mod searches;
mod served;
mod server;
mod shipping;

pub use config::{CursorKey, QueryConfig};
pub use cursor::Cursor;
pub use follow::{FollowError, Followed};
pub use holidays::{Holidays, HolidaysError};
pub use lookup::LookupKey;
pub use reads::{GroupBy, ReadError, ReadFuture, Reads};
pub use search::{FacetWindow, Intent, Order, Synonyms, SynonymsError};
pub use served::PrepareError;
pub use server::QueryServer;
