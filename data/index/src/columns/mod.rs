//! Columns of a part, read in place from memory-mapped Arrow files, with one zero-copy accessor per column.
//!
//! Rows are `u32` and must be below the part's `rows`. A larger row is a programming error and panics. Rows from a
//! search, a lookup or a bitmap of the same part are always in range.

mod cards;
mod codes;
mod details;
mod facets;
mod gone;
mod history;
pub(crate) mod ipc;
mod lookup;
mod matches;
pub(crate) mod table;
mod words;

pub use cards::Cards;
pub(crate) use cards::{CARDS, CardsWriter};
pub use codes::VariantCodes;
pub(crate) use codes::{CODES, Codes, CodesWriter};
pub(crate) use details::{DETAILS, DetailsWriter, ReviewColumns, Reviews, push_review};
pub use details::{Details, DetailsRow, MediaRef, NamedValues, PAGE, ReviewRef, VariantRef};
pub(crate) use facets::{FACETS, FacetsWriter};
pub use facets::{FacetKey, Facets, fold_name};
pub(crate) use gone::GONE;
pub use gone::{GoneKind, GoneProduct, GoneProducts, GoneRef, gone_file};
pub use history::PriceRef;
pub(crate) use history::{HISTORY, History, HistoryWriter};
pub(crate) use lookup::{LOOKUP, Lookup, write_lookup};
pub(crate) use matches::MATCHES;
pub use matches::{MatchRef, MatchedPair, Matches, matches_file};
