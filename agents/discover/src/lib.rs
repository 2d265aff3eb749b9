//! A person's sentence becomes products with reasons: `POST /v1/discover`.
//!
//! In: a sentence with a budget, a brand and a context where the caller states them; a [`Catalogue`] that searches; a
//! language model behind any OpenAI-compatible endpoint, where one is configured. Out: cards of products that keep to
//! everything that was read out of the sentence, or where there is none the nearest with what each misses; each with why it
//! is there, in facts, and with the request that puts it into a cart.
//!
//! Rules read the sentence first (`data-understanding`). The model sees the sentence and nothing else; what it answers is
//! checked against the sentence and the catalogue, and may narrow what the rules read, never loosen it. Slow, wrong or gone,
//! it costs at most its time, and the rules' reading is answered: `degraded: true`.
//! It knows no index, no store and no cart of its own.

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
