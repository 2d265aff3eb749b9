//! The lake: all crawl results, in open Delta tables that change together.
//!
//! Input: [`data_model::BrandRefresh`]es, which are whole catalogues of brands, and [`data_model::Observation`]s, which
//! are live responses of stores. Output: tables that any Delta reader can read, consistent snapshots of the tables, a
//! stream of complete products, and SQL. A commit batch (tick in the code) is one call of [`Lake::commit`]. A batch
//! lands completely or not at all, even if the process is killed. Content that is already stored is not written again.
//! The lake never crawls or indexes, and never removes a file that a retained state needs.
//!
//! # Steps of a commit batch
//! 1. The data files that the batch adds are written, and its other rows are staged. The record of the batch is then
//!    written under the next number by a conditional create. The rows to be rewritten are read before that, so a lost
//!    file fails the batch before it begins.
//! 2. Each table gets at most one commit, which carries the batch's number. A table that already has the number is
//!    skipped.
//! 3. The batch's end record lists the version of every table. Readers use these versions, so they never see half of a
//!    batch.
//!
//! A process that finds a record without an end record first finishes that batch from its staged rows. If the batch can
//! never be finished and no table has it, the process gives the batch up.

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
    CommitReport, CrawlSpan, HashedRefresh, ObservationReport, REFUSED_REVIEWS_MAX, RatesReport, RebuiltCatalogue,
    ReviewChanges, StoreUpdate, content_hash,
};
pub use compaction::{CompactReport, FileMerge, VacuumKeep, VacuumReport};
pub use config::LakeConfig;
pub use error::LakeError;
pub use lake::Lake;
pub use repair::{LogRepair, LostData, RepairKind, RepairReport, UnrepairableObject};
pub use restore::{RestoreReport, RestoredTable};
pub use rows::brands::BrandRow;
pub use rows::catalogue::{CatalogueRows, ProductColumns, ProductRatings, ProductState};
pub use rows::offers::StoreHistory;
pub use rows::place::RowPlace;
pub use rows::runs::{RunSummaryRow, TickCounts};
pub use snapshot::{
    AsOf, GoneRow, LakeSnapshot, LiveFile, LiveTable, LostFile, Offering, OnSale, PartitionColumn, ShownRatings,
};
pub use table::TableName;
