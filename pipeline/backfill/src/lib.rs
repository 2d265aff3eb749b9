//! Rebuilds the current state of the lake from landed pages, without querying stores. A backfill is for a change of the
//! parsing rules, or for a lake that lost data that the landing area still has.
//!
//! Input: landed crawls, the registry and the lake. Output: each store's current rows according to its newest landed
//! crawl in a time range, the changes ([`Difference`]), and `backfills/{id}.json`, from which a killed backfill is
//! resumed.
//!
//! This crate never queries a store, never adds to or changes a history, and never accepts a crawl that was held back.
//! A landed crawl older than the lake's current data is used only on request.

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
