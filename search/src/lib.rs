//! Search over one release: products for a query, pages of lists with counts of their facets, products that go with a
//! product, and suggestions for a typed text.
//!
//! In: an opened release, an embedder where one is set, and typed requests. Out: rows, ids and counts; whoever asks
//! makes answers of them. [`SearchContext`] is made once for a release, [`search()`] takes a request through plan,
//! retrieval and counts. It never reads a parameter, writes JSON, waits for a task, or knows a server.

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
