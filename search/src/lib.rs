//! Search over one release: products for a query, pages of lists with counts of their facets, what goes with a product, and
//! what somebody who types may mean.
//!
//! In: an opened release, an embedder where one is set, and typed requests. Out: rows, ids and counts; whoever asks makes
//! answers of them. [`SearchContext`] is what is made once for a release, [`search()`] takes a request through plan, retrieval
//! and counts. It never reads a parameter, writes JSON, waits for a task, or knows a server.

mod browse;
mod context;
mod decent;
mod delivery;
mod find;
mod hybrid;
mod lexical;
mod plan;
mod recommend;
mod request;
mod semantic;
mod siblings;
mod sized;
mod suggest;
mod told;

pub use browse::{
    Asked, Bin, BrowseIndex, Browsed, Counted, Counts, FacetCounts, FacetValue, FacetWindow, Prices, Scope,
};
pub use context::SearchContext;
pub use delivery::{Day, DeliveryTo};
pub use find::{Conditions, Searched, search};
pub use hybrid::{Answer, ByWords, FusedRow};
pub use lexical::{Correction, Order, Relaxed, Synonym, Synonyms, SynonymsError, coded, tier};
pub use recommend::{Intent, Recommended, recommend};
pub use request::{FacetFilter, Filters, Fold, Limit, Mode, Named, PriceBounds, SearchLimit, SearchRequest, Text};
pub use semantic::{Lacking, Semantic};
pub use siblings::{Family, Member};
pub use suggest::{Suggested, suggest};
pub use told::{Told, ToldFilter};
