//! Search over one release: products for a query, pages of lists with facet counts, recommendations, and suggestions
//! for a typed text.
//!
//! Input: an opened release, an embedder if one is configured, and typed requests. Output: rows, ids and counts, which
//! the caller formats as responses. [`SearchContext`] is built once per release, and [`search()`] plans a request,
//! retrieves products and counts facets. The crate reads no HTTP parameters, writes no JSON and awaits nothing.

mod browse;
mod context;
mod delivery;
mod find;
mod hybrid;
mod lexical;
mod names;
mod phrase;
mod plan;
mod recommend;
mod request;
mod safe_search;
mod semantic;
mod siblings;
mod size_search;
mod suggest;

pub use browse::{
    Bin, BrowseIndex, BrowseResult, CountOptions, Counts, FacetCounts, FacetValue, FacetWindow, PageRequest, Prices,
    Scope,
};
pub use context::SearchContext;
pub use delivery::{Day, DeliveryTo};
pub use find::{SearchResult, search};
pub use hybrid::{Answer, ByWords, FusedRow};
pub use lexical::{Correction, Order, Relaxation, Synonym, Synonyms, SynonymsError, coded, tier};
pub use phrase::{PhraseFilter, PhraseReading};
pub use recommend::{Intent, RecommendResult, recommend};
pub use request::{
    Conditions, FacetFilter, Filters, Fold, Limit, Mode, ParsedName, PriceBounds, SearchLimit, SearchRequest, Text,
};
pub use semantic::{DegradedReason, Semantic};
pub use siblings::{Family, Member};
pub use suggest::{SuggestResult, suggest};
