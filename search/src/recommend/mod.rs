//! Recommendations for a product: similar products, cheaper products, products of the same brand or of other brands,
//! and complements.
//!
//! The nearest products by vector are gathered under the intent's conditions. Products that are too dissimilar, of
//! another kind or for other people are rejected. The others are ranked by similarity minus a deduction for a distant
//! price, in stock first. Among similar products, no brand dominates unless the intent requires a single brand. A table
//! pairs categories for complements. Without vectors, the words of the title are searched instead.

mod candidates;
mod choose;
mod kind;
mod pairs;

use data_index::RowAddress;
use data_model::Kinds;

use crate::context::SearchContext;

/// Relation of the recommended products to the given product.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Intent {
    /// Similar products of any brand.
    #[default]
    Related,
    /// Similar products of other brands.
    CrossBrand,
    /// Products used together with it, from paired categories.
    Complement,
    /// Similar products at a lower price in the same currency.
    Cheaper,
    /// Similar products of the same brand.
    SameBrand,
}

impl Intent {
    /// All intents.
    pub const ALL: [Self; 5] = [
        Self::Related,
        Self::CrossBrand,
        Self::Complement,
        Self::Cheaper,
        Self::SameBrand,
    ];

    /// Returns the name in requests.
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
    /// Products, best first, without the product itself.
    pub rows: Vec<RowAddress>,
    /// The engine is `semantic`, or `lexical` if there are no vectors.
    pub engine: &'static str,
}

/// Returns at most `limit` products of these kinds to recommend with the product at `at`.
pub fn recommend(served: &SearchContext, at: RowAddress, intent: Intent, of: Kinds, limit: usize) -> RecommendResult {
    let mut found = candidates::gather(served, at, intent, of);
    choose::rank(served, at, &mut found.near);
    let rows = choose::choose(served, at, intent, &found.near, limit);
    RecommendResult {
        rows,
        engine: found.engine,
    }
}
