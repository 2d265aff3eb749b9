//! The lake: everything that the crawls found, in open Delta tables that change together.
//!
//! In: [`data_model::BrandRefresh`]es, whole catalogues of brands, and [`data_model::Observation`]s,
//! what stores said live. Out: tables that any Delta reader reads as they stand, consistent snapshots of them, complete products as a stream, and SQL. A tick, one call of
//! [`Lake::commit`], lands as a whole or not at all, however the process ends; content that is already there
//! writes nothing. The lake never crawls, never indexes, and never removes a file that a state to be kept needs.
//!
//! # How a tick lands
//! 1. The files that it adds are written, the rest of its rows is staged, then its record is written under the next
//!    number by a conditional create. The rows that it rewrites were read by then: a file that is lost fails the tick
//!    before it is begun.
//! 2. Each table gets at most one commit, which carries the tick's number; a table that has the number is done.
//! 3. The tick's end names the version of every table. Readers go by it, so they never see half a tick.
//!
//! A process that finds a record without its end first finishes that tick from its staged rows, or gives it up where
//! that can never be done and no table has it.

mod commit;
mod compaction;
mod config;
mod delta;
mod error;
mod files;
mod lake;
mod repair;
mod restore;
mod rows;
mod schema;
mod setup;
mod snapshot;
mod table;
mod ticks;

pub use commit::{
    CommitReport, CrawlSpan, HashedRefresh, ObservationReport, REFUSED_REVIEWS_MAX, RatesReport, RebuildReport,
    RebuiltCatalogue, ReviewChanges, StoreUpdate, content_hash,
};
pub use compaction::{CompactReport, FileMerge, VacuumKeep, VacuumReport};
pub use config::LakeConfig;
pub use error::LakeError;
pub use lake::Lake;
pub use repair::{LogRepair, LostData, RepairKind, RepairReport, UnrepairableObject};
pub use restore::{RestoreReport, RestoredTable};
pub use rows::barcodes::StatedBarcode;
pub use rows::brands::BrandRow;
pub use rows::catalogue::{CatalogueRows, ProductColumns, ProductRatings, ProductState};
pub use rows::offers::StoreHistory;
pub use rows::place::RowPlace;
pub use rows::runs::{RunSummaryRow, TickCounts};
pub use snapshot::{
    AsOf, GoneRow, LakeSnapshot, LiveFile, LiveTable, LostFile, Offering, OnSale, PartitionColumn, ShownRatings,
};
pub use table::TableName;
