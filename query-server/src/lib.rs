//! Serves requests from stored data: search, products, reviews, brands, categories, totals, and the web page that shows
//! them.
//!
//! Input: releases published by `data-release`, the last checks of stores (`data-checks`), tests of discount codes
//! (`data-codes`), and requests. Output: JSON in the API's envelope. Each answer comes from exactly one release, which
//! its provenance and entity tag name. A newer release is downloaded, verified and tested with a few queries before it
//! is served. The switch drops no requests. The operations are in [`operations`], typed and independent of HTTP. Routes
//! read parameters, call one operation and write its answer. The gateway calls some operations through its own listener
//! or in the same process. The crate never crawls, reads the lake or contacts a store.

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
