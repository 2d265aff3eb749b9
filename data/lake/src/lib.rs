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

mod apply;
mod checkpoint;
mod compact;
mod config;
mod create;
mod damage;
mod delivery;
mod delta;
mod drops;
mod error;
mod facts;
mod fence;
mod files;
mod hash;
mod history;
mod lake;
mod layout;
mod live_files;
mod log;
mod log_repair;
mod lost;
mod merge_observations;
mod offering;
mod parts;
mod patch;
mod plan;
mod portion;
mod prior;
mod products;
mod rates;
mod readable;
mod rebuild;
mod recover;
mod rejected_reviews;
mod repair;
mod replace;
mod restore;
mod rows;
mod schema;
mod session;
mod shipping;
mod snapshot;
mod split;
mod staging;
mod table;
mod tick;
mod vacuum;
mod widgets;

pub use compact::{CompactReport, FileMerge};
pub use config::LakeConfig;
pub use delivery::OnSale;
pub use error::LakeError;
pub use hash::{HashedRefresh, content_hash};
pub use history::StoreHistory;
pub use lake::{CommitReport, Lake};
pub use live_files::{LiveFile, LiveTable, PartitionColumn};
pub use merge_observations::{CrawlSpan, ObservationReport};
pub use offering::Offering;
pub use rates::RatesReport;
pub use readable::LostFile;
pub use rebuild::{RebuildReport, RebuiltCatalogue};
pub use rejected_reviews::REFUSED_REVIEWS_MAX;
pub use repair::{LogRepair, LostData, RepairKind, RepairReport, UnrepairableObject};
pub use restore::{RestoreReport, RestoredTable};
pub use rows::barcodes::StatedBarcode;
pub use rows::brands::BrandRow;
pub use rows::catalogue::{CatalogueRows, ProductColumns, ProductRatings, ProductState};
pub use rows::runs::{RunSummaryRow, TickCounts};
pub use snapshot::{AsOf, LakeSnapshot};
pub use table::TableName;
pub use vacuum::{VacuumKeep, VacuumReport};
pub use widgets::{ReviewChanges, ShownRatings};
