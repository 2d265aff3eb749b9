//! Brings the catalogues of registered brands in: which brands there are, their raw pages, and what changed.
//!
//! In: registered brands and a [`storefront::Storefront`]. Out: each store's pages as it answered them, landed
//! under `landing/{run}/{store}/`, and one verdict a store ([`StoreCrawl`]): landed, or unchanged since the last
//! crawl that the lake has; and, when they are due, its front page and policies with the discount codes that they
//! state. Of a catalogue page's content it looks at nothing but how many records there are and their ids.
//!
//! It never decides how to talk to a store, never understands products, and never believes a store that failed:
//! a page that was not read is an error of that store's crawl, not the end of its catalogue.

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
pub use document::{delete_object, list_objects, load_document, save_document, save_readable};
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
