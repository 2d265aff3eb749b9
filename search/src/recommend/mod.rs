//! Products that go with a product: like it, cheaper than it, of its brand, of others, or what completes it.
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

/// What a caller wants beside a product.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Intent {
    /// What is like it, of any brand.
    #[default]
    Related,
    /// What is like it, of other brands alone.
    CrossBrand,
    /// Used with it: of categories that go with its own.
    Complement,
    /// What is like it at a lower price in the same currency.
    Cheaper,
    /// What is like it of the same brand.
    SameBrand,
}

impl Intent {
    /// The names that requests spell them by.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("related", Self::Related),
        ("cross_brand", Self::CrossBrand),
        ("complement", Self::Complement),
        ("cheaper", Self::Cheaper),
        ("same_brand", Self::SameBrand),
    ];

    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::NAMED
            .iter()
            .find(|(_, intent)| *intent == self)
            .map_or("", |(name, _)| name)
    }
}

/// What is recommended, and by what it was found.
#[derive(Debug)]
pub struct Recommended {
    /// Best first; never the product itself.
    pub rows: Vec<RowAddress>,
    /// `semantic`, or `lexical` where there are no vectors.
    pub engine: &'static str,
}

/// Finds at most `limit` products, of these kinds, that go with the product at `at`.
pub fn recommend(served: &SearchContext, at: RowAddress, intent: Intent, of: Kinds, limit: usize) -> Recommended {
    let mut found = candidates::gather(served, at, intent, of);
    choose::rank(served, at, &mut found.near);
    let rows = choose::choose(served, at, intent, &found.near, limit);
    Recommended {
        rows,
        engine: found.engine,
    }
}
