//! Hybrid retrieval by words and by meaning.
//!
//! Words decide for products that a query names: titles, codes and brands come first, however near other products are
//! in meaning. All other products are ranked by words and meaning. A product found only by meaning must exceed a
//! minimum similarity, so that a meaningless query finds nothing. Filters apply within both searches.

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
