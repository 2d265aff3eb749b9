//! Products that go with a product: like it, cheaper than it, of its brand, of others, or its complements.
//!
//! The nearest by meaning are gathered under the intent's conditions, none that is too far off to be meant, of another kind
//! or for other people, then put in order: nearness, less what a far-off
//! price costs, in stock before sold out, and of one kind no brand alone unless the intent wants it so. What completes a
//! product is of the categories that a table says are used with its own. A release without
//! vectors is searched for the words of the title instead.

mod candidates;
mod choose;
mod kind;
mod pairs;

use data_index::RowAddress;
use data_model::Kinds;

use crate::context::SearchContext;

/// The relation to a product that a caller wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Intent {
    /// Like it, of any brand.
    #[default]
    Related,
    /// Like it, of other brands alone.
    CrossBrand,
    /// Used with it: of categories that go with its own.
    Complement,
    /// Like it, at a lower price in the same currency.
    Cheaper,
    /// Like it, of the same brand.
    SameBrand,
}

impl Intent {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Related,
        Self::CrossBrand,
        Self::Complement,
        Self::Cheaper,
        Self::SameBrand,
    ];

    /// The name that requests spell it by.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Related => "related",
            Self::CrossBrand => "cross_brand",
            Self::Complement => "complement",
            Self::Cheaper => "cheaper",
            Self::SameBrand => "same_brand",
        }
    }
}

/// Recommended products, and the engine that found them.
#[derive(Debug)]
pub struct RecommendResult {
    /// Best first; never the product itself.
    pub rows: Vec<RowAddress>,
    /// `semantic`, or `lexical` where there are no vectors.
    pub engine: &'static str,
}

/// Finds at most `limit` products, of these kinds, that go with the product at `at`.
pub fn recommend(served: &SearchContext, at: RowAddress, intent: Intent, of: Kinds, limit: usize) -> RecommendResult {
    let mut found = candidates::gather(served, at, intent, of);
    choose::rank(served, at, &mut found.near);
    let rows = choose::choose(served, at, intent, &found.near, limit);
    RecommendResult {
        rows,
        engine: found.engine,
    }
}
