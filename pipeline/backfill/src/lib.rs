//! Makes the present state of the lake anew from landed pages, without asking a store: after a change of how pages are
//! understood, or when the lake lost something that the landing still has.
//!
//! In: what crawls landed, the registry, the lake. Out: each store's present rows as its newest landing in a range of time
//! says, what became of them ([`Difference`]), and `backfills/{id}.json`, by which a backfill that was killed is gone on
//! with.
//!
//! It never asks a store, never adds to or changes a history, never takes in a crawl that was held back, and takes an older
//! landing than the lake's present one only on demand.

mod choice;
mod difference;
mod error;
mod estimate;
mod groups;
mod inventory;
mod ledger;
mod options;
mod range;
mod report;
mod run;
mod stage;
mod store;
mod text;

pub use choice::SkipReason;
pub use difference::{Difference, VariantMove};
pub use error::BackfillError;
pub use estimate::Estimate;
pub use options::BackfillOptions;
pub use range::{Range, RangeError};
pub use report::{Backfill, BackfillState, StoreOutcome, StoreReport, Totals};
pub use run::{BackfillDeps, NoWatch, Watch, backfill};
pub use stage::Stage;
pub use text::write_report;
