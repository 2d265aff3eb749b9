//! Crawls the catalogues of registered brands. Keeps the registry of brands, lands raw pages and detects changes.
//!
//! Input: registered brands and a [`storefront::Storefront`]. Output: each store's pages verbatim, under
//! `landing/{run}/{store}/`, and one [`StoreCrawl`] per store, either landed or unchanged since the last crawl in the
//! lake. If due, the front page and policies are also landed, with the discount codes in them.
//!
//! Of a catalogue page, this crate reads only the number of records and their ids. The crate storefront decides how
//! stores are contacted. A page that could not be read is an error of the store's crawl, and never counts as the end of
//! the catalogue.

mod answers;
mod codes;
mod config;
mod document;
mod error;
mod facts;
mod hold;
mod landing;
mod place;
mod probe;
mod progress;
mod registry;
mod scan;
mod state;
mod store;

pub use answers::AnswerFolder;
pub use codes::{CodesCrawl, CodesStop};
pub use config::CrawlConfig;
pub use document::{list_objects, load_document, load_packed, packed_at, save_document, save_packed, save_readable};
pub use error::{CrawlError, OVER_MEMORY};
pub use facts::StoreFacts;
pub use hold::hold_at;
pub use landing::{
    LandingError, LastListed, PageMark, PageTarget, PruneReport, StoreCrawl, Verdict, drop_run, landed_before,
    landed_policies, prune_landing, read_done, read_page, read_policies,
};
pub use probe::{Catalogue, Probe, probe};
pub use progress::{NoProgress, Progress};
pub use registry::{
    Addition, DisplayNames, NewBrand, NotRegistered, RegisteredBrand, Registry, RegistryError, RegistryRepair,
    StatedFacts,
};
pub use scan::{PageReader, PageScan, ReadPage, scan_only};
pub use state::{CrawlState, Peak, load_state, save_state, state_at};
pub use store::{CrawlJob, CrawledStore, Crawler};
