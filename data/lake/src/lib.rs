//! The lake: everything that the crawls found, in open Delta tables that change together.
//!
//! In: [`data_model::BrandRefresh`]es, whole catalogues of brands, and [`data_model::Observation`]s,
//! what stores said live. Out: tables that any Delta reader reads as they stand, consistent snapshots of them, complete products as a stream, and SQL. A tick, one call of
//! [`Lake::commit`], lands as a whole or not at all, however the process ends; content that is already there
//! writes nothing. The lake never crawls, never indexes, and never removes a file that a state to be kept needs.
//!
//! # How a tick lands
//! 1. The files that it adds are written, what they do not hold of its rows is staged, then its record is written under the
//!    next number by a conditional create. What it is to rewrite was read by then: a file that is lost fails the tick before it is begun.
//! 2. Each table gets at most one commit, which carries the tick's number; a table that has the number is done.
//! 3. The tick's end names the version of every table. Readers go by it, so they never see half a tick.
//!
//! Whoever finds a record without its end, first finishes that tick from what it staged, or gives it up where that can
//! never be done and no table has it.

mod adopt;
mod apply;
mod checkpoint;
mod compact;
mod config;
mod copies;
mod create;
mod damage;
mod delivery;
mod delta;
mod drops;
mod error;
mod evolve;
mod facts;
mod fence;
mod files;
mod fold;
mod hash;
mod history;
mod known;
mod lake;
mod layout;
mod live_files;
mod log;
mod lost;
mod mend;
mod named;
mod offering;
mod parts;
mod patch;
mod plan;
mod portion;
mod products;
mod rates;
mod readable;
mod rebuild;
mod refused;
mod repair;
mod replace;
mod restore;
mod rows;
mod schema;
mod session;
mod settle;
mod shipping;
mod snapshot;
mod split;
mod staged;
mod table;
mod tick;
mod vacuum;
mod widgets;

pub use compact::{CompactReport, Merged};
pub use config::LakeConfig;
pub use delivery::OnSale;
pub use error::LakeError;
pub use fold::{CrawlSpan, FoldReport};
pub use hash::{HashedRefresh, content_hash};
pub use history::StoreHistory;
pub use lake::{CommitReport, Lake};
pub use live_files::{LiveFile, LiveTable, PartitionColumn};
pub use offering::Offering;
pub use rates::RatesReport;
pub use readable::LostFile;
pub use rebuild::{RebuildReport, Rebuilt};
pub use refused::REFUSED_REVIEWS_MAX;
pub use repair::{LogRepair, LostData, RepairReport, Repaired, Stuck};
pub use restore::{RestoreReport, RestoredTable};
pub use rows::barcodes::StatedBarcode;
pub use rows::brands::BrandRow;
pub use rows::catalogue::{CatalogueRows, ProductColumns, ProductState, Rated};
pub use rows::runs::{RunSummaryRow, TickCounts};
pub use snapshot::{AsOf, LakeSnapshot};
pub use table::TableName;
pub use vacuum::{VacuumKeep, VacuumReport};
pub use widgets::{ReviewChanges, Shown};
