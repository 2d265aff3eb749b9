//! Commit batches (ticks): a plan of rows becomes one commit for each table that changes, or nothing at all.

mod apply;
mod attempts;
mod batch;
mod brands;
mod delivery;
mod drops;
mod fence;
mod hash;
mod observations;
mod parts;
mod patch;
mod plan;
mod prior;
mod rates;
mod rebuild;
mod recover;
mod refused;
mod replace;
mod reviews;
mod run_row;
mod searches;
mod shipping;
mod store_update;

pub(crate) use attempts::Attempts;
pub use hash::{HashedRefresh, content_hash};
pub use observations::{CrawlSpan, ObservationReport};
pub use plan::CommitReport;
pub(crate) use plan::Plan;
pub use rates::RatesReport;
pub use rebuild::RebuiltCatalogue;
pub use reviews::{REFUSED_REVIEWS_MAX, ReviewChanges};
pub use store_update::StoreUpdate;
