//! Retrieval by words and by meaning together, and which of them answers what.
//!
//! Words decide what a query names: titles, codes and brands stand first, whatever the vectors say. Everything else is
//! ordered by both. What only its meaning speaks for must be near enough to be meant, so that a query which means
//! nothing finds nothing. Filters are asked inside both searches.

mod answer;
mod aside;
mod capped;
mod deep;
mod fuse;
mod meant;
mod page;
mod question;
mod reading;
mod retrieve;
mod superlative;
mod tuning;
mod turns;

pub use answer::Answer;
pub use fuse::{ByWords, FusedRow};
pub(crate) use page::{finds_any, search};
pub(crate) use question::Question;
pub(crate) use reading::{Reading, in_english, names_whole, understood};
pub(crate) use superlative::order as superlative_order;
