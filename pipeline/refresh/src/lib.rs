//! One run of the pipeline: crawl → land → parse → normalise → lake.
//!
//! In: the registry of brands, a storefront to crawl by, a lake, and what stores said live meanwhile. Out: the lake brought up to date, what
//! stores state of discount codes (`codes/`), one summary a store, `runs/{run}.json` and a report to read, `runs/{run}.html`. A run that is killed at any moment is gone on
//! with by the next one.
//!
//! It never decides how to talk to a store, never lets one store's failure cost another, never believes at once a
//! catalogue that collapsed, and never writes to the lake when nothing changed.

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
mod prepare;
mod queued;
mod ratings;
mod reader;
mod remove;
mod report;
mod reread;
mod rights;
mod run;
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
