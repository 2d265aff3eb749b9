//! Finds products for a sentence and gives reasons for them (`POST /v1/discover`).
//!
//! Input: a sentence, optionally with a budget, a brand and a context; a [`Catalogue`] that searches; and optionally a
//! language model behind an OpenAI-compatible endpoint. Output: cards of products that satisfy all constraints of the
//! sentence, or else the nearest products with the constraints that they violate. Each product has factual reasons and
//! the request that adds it to a cart.
//!
//! Rules interpret the sentence first (`data-understanding`). The model sees only the sentence. The model's answer is
//! checked against the sentence and the catalogue, and may narrow the rules' interpretation but never loosen it. If the
//! model is slow, wrong or unavailable, the rules' result is returned after at most the model's time limit with
//! `degraded: true`.
//!
//! The crate has no index, store access or cart of its own.

mod catalogue;
mod config;
mod discover;
mod intent;
mod model;
mod request;
mod routes;
mod rules;
mod schema;

pub use catalogue::{
    Attributes, BrandList, BrandOfList, Card, Catalogue, CatalogueError, CatalogueHits, Category, Detail, Offer,
    SearchFor, SearchOrder, UnderstoodSpan, Variant,
};
pub use config::DiscoverConfig;
pub use discover::Discover;
pub use intent::{Constraints, Reply, ReplyError};
pub use language_model::ModelConfig;
pub use model::Model;
pub use routes::{open_router, openapi};
