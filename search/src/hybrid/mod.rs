//! Retrieval by words and by meaning together, and the choice between them.
//!
//! Words decide about the things that a query names: titles, codes and brands stand first, whatever the vectors say.
//! Everything else is ordered by both. A product that only its meaning speaks for must be near enough to be meant, so
//! that a query which means nothing finds nothing. Filters are asked inside both searches.

mod answer;
mod capped;
mod deep;
mod demotion;
mod expanded_text;
mod fuse;
mod interleave;
mod page;
mod query;
mod reading;
mod retrieve;
mod superlative;
mod tuning;

pub use answer::Answer;
pub use fuse::{ByWords, FusedRow};
pub(crate) use page::{finds_any, search};
pub(crate) use query::SearchQuery;
pub(crate) use reading::{Reading, in_english, names_whole, understood};
pub(crate) use superlative::order as superlative_order;
