//! Runs the pipeline: crawl → land → parse → normalise → lake.
//!
//! Input: the registry of brands, a storefront client, a lake, live observations of stores, and counts of searched
//! words. Output: the updated lake, the discount codes that stores state (`codes/`), one summary per store,
//! `runs/{run}.json` and an HTML report, `runs/{run}.html`. The next run resumes a killed one.
//!
//! The crate storefront decides how stores are contacted. The failure of one store does not affect others. A catalogue
//! that collapsed is held back. If no catalogue changed, the lake is not written.

mod categories;
mod checked;
mod codes;
mod collapse;
mod collect;
mod config;
mod error;
mod ledger;
mod lock;
mod memory;
mod observed;
mod omitted;
mod prepare;
mod queued;
mod ratings;
mod reader;
mod remove;
mod report;
mod reread;
mod rights;
mod run;
mod searched;
mod store;
mod summary;

pub use collapse::{Affected, Changes, Example, HeldCrawl, HeldError, HoldReason, confirm, held_back};
pub use config::{CollapseConfig, RefreshConfig};
pub use error::{RefreshError, with_causes};
pub use ledger::{LedgerError, list_runs, read_run, second_of};
pub use lock::{CrawlLock, CrawlMark, crawl, lock_crawls, mark_crawl};
pub use memory::MemoryReport;
pub use queued::{
    QueuedRun, StageError, StagedResult, StagedStore, StagedStores, WorkerContext, clear_stages, commit_queued,
};
pub use remove::{RemoveError, files_of, remove_brand};
pub use report::render_html;
pub use reread::{RereadCatalogue, RereadError, Rereader};
pub use run::{OtherCrawls, RefreshDeps, RunOptions, crawl_memory, new_run_id, refresh, stores_at_once};
pub use summary::{CodesRead, ForeignPrices, LiveTotals, Outcome, RunReport, RunState, StoreSummary, Totals};
