//! Answers from stored data: search, products, reviews, brands, categories, totals, and the page that shows them.
//!
//! In: releases, as `data-index` publishes them, when crawls last asked each store (`data-checks`), and requests. Out:
//! JSON in the envelope of the contract, each answer from exactly one release, which its provenance and entity tag name. A newer release is fetched, verified
//! and asked a few questions before it replaces the one that is served, without a request being dropped.
//! It never crawls, never reads the lake, never asks a brand's store, and holds nothing that is in neither.

mod browse;
mod checks;
mod config;
mod cursor;
mod follow;
mod hosts;
mod hybrid;
mod lexical;
pub mod operations;
mod page;
mod recommend;
mod render;
mod repeats;
mod routes;
pub mod schema;
mod searches;
mod semantic;
mod served;
mod server;
mod shipping;
mod suggest;

pub use config::{CursorKey, QueryConfig};
pub use cursor::Cursor;
pub use follow::{FollowError, Followed};
pub use lexical::{Order, Synonyms, SynonymsError};
pub use recommend::Intent;
pub use served::PrepareError;
pub use server::QueryServer;
