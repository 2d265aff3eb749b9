use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use data_model::{CurrencyCode, Timestamp};
use storefront::Store;

use super::identity::Identity;
use super::page::ObtainedPage;
use super::{CrawlJob, Crawler};
use crate::landing::landed_pages;
use crate::place::Place;
use crate::scan::PageReader;
use crate::{CrawlError, LastListed, PageMark, PageTarget, Progress, StoreCrawl, StoreFacts, Verdict};

/// Store with the facts that it states about itself.
#[derive(Debug, Clone)]
pub(super) struct DescribedStore<'a> {
    pub(super) store: Store,
    pub(super) identity: Identity,
    pub(super) facts: &'a StoreFacts,
}

/// State of one crawl in progress.
pub(super) struct Walk<'a, T> {
    pub(super) crawler: &'a Crawler,
    pub(super) job: CrawlJob<'a>,
    pub(super) place: Place,
    pub(super) store: Store,
    pub(super) identity: Identity,
    pub(super) facts: &'a StoreFacts,
    pub(super) progress: &'a dyn Progress,
    /// True if validators are sent, so that only changed pages are received.
    pub(super) validators: bool,
    pub(super) known: HashMap<&'a PageTarget, &'a PageMark>,
    /// Pages without changes since the last crawl, with their current ETag.
    pub(super) confirmed: HashMap<PageTarget, Option<String>>,
    /// Changed page of the comparison, kept until its content is needed.
    pub(super) pending: Option<(PageTarget, ObtainedPage)>,
    /// The last requested page.
    pub(super) asked: PageTarget,
    pub(super) marks: Vec<PageMark>,
    pub(super) reader: &'a Arc<PageReader<T>>,
    /// Extracted data of each landed product page.
    pub(super) kept: Vec<Option<T>>,
    /// Currency of the amounts, from the pages or the front page.
    pub(super) presented: Option<CurrencyCode>,
    /// True if a page after an empty page listed products.
    pub(super) has_hole: bool,
    /// True if the listing ended with a page that repeats earlier ones.
    pub(super) has_repeated: bool,
    /// True if a listing could not be read.
    pub(super) has_unread: bool,
    pub(super) last: Option<LastListed>,
    pub(super) seen: HashSet<u64>,
    /// Products on the first page when it was read.
    pub(super) first_ids: HashSet<u64>,
    /// True if two pages listed the same product.
    pub(super) doubled: bool,
    pub(super) hashes: HashSet<String>,
    pub(super) collection_files: u32,
    pub(super) again_files: u32,
    /// Number of listing pages that this run landed before it was interrupted.
    pub(super) resumed: u32,
    pub(super) reused_pages: u32,
    /// Time of the first page request, of the interrupted attempt if the crawl was resumed.
    pub(super) read_since: Timestamp,
    pub(super) requests: u32,
    /// Decoded bytes of all passes.
    pub(super) bytes: u64,
    /// Decoded bytes before the current pass.
    pub(super) bytes_before: u64,
}

impl<'a, T: Send + Sync + 'static> Walk<'a, T> {
    pub(super) fn new(
        crawler: &'a Crawler,
        job: CrawlJob<'a>,
        reader: &'a Arc<PageReader<T>>,
        described: DescribedStore<'a>,
        place: Place,
        validators: bool,
        progress: &'a dyn Progress,
    ) -> Self {
        let DescribedStore { store, identity, facts } = described;
        let known = job
            .known
            .filter(|_| !job.anew)
            .map(|known| known.pages.iter().map(|mark| (&mark.target, mark)).collect());
        Self {
            crawler,
            job,
            place,
            store,
            identity,
            facts,
            progress,
            validators,
            known: known.unwrap_or_default(),
            confirmed: HashMap::new(),
            pending: None,
            asked: PageTarget::Products { page: 1 },
            marks: Vec::new(),
            reader,
            kept: Vec::new(),
            presented: None,
            has_hole: false,
            has_repeated: false,
            has_unread: false,
            last: None,
            seen: HashSet::new(),
            first_ids: HashSet::new(),
            doubled: false,
            hashes: HashSet::new(),
            collection_files: 0,
            again_files: 0,
            resumed: 0,
            reused_pages: 0,
            read_since: crawler.clock.now(),
            requests: 0,
            bytes: 0,
            bytes_before: 0,
        }
    }

    /// Counts the listing pages that an interrupted crawl of this run landed and that are recent enough to reuse.
    pub(super) async fn find_resumable(&mut self) -> Result<u32, CrawlError> {
        let config = &self.crawler.config;
        let since = self.crawler.resumable_since();
        let landed = landed_pages(&self.crawler.storage, self.job.run, &self.job.brand.store, since).await;
        landed
            .map(|pages| pages.min(config.pages_max))
            .map_err(|source| self.job.landing(source))
    }

    /// Returns true if the last crawl has the same fingerprint and the store presented itself in the same way.
    pub(super) fn is_comparable(&self) -> bool {
        let comparable = self.job.known.filter(|_| !self.job.anew);
        comparable.is_some_and(|known| known.context == self.job.context && known.facts.same_brand(self.facts))
    }

    /// Adds the page that caused the error.
    pub(super) fn told(&self, error: CrawlError) -> CrawlError {
        match error {
            CrawlError::Store(source) => CrawlError::Page {
                page: self.asked.to_string(),
                source,
            },
            other => other,
        }
    }

    pub(super) fn endless(&self, pages: u32) -> CrawlError {
        CrawlError::Endless {
            pages,
            seen: self.seen.len() as u64,
            stated: self.facts.published_products,
        }
    }

    pub(super) fn has_read(&self, sha256: &str) -> bool {
        self.hashes.contains(sha256)
    }

    /// Called before another listing is read. A page that was seen in an earlier listing is not the end of this one.
    pub(super) fn forget_repeats(&mut self) {
        self.hashes.clear();
    }

    pub(super) fn finish(self, unchanged: bool, truncated: bool) -> StoreCrawl {
        let Self { job, confirmed, .. } = self;
        let (verdict, landing, pages, presented) = match job.known {
            Some(known) if unchanged => {
                let etag_now = |mark: &PageMark| confirmed.get(&mark.target).cloned().flatten();
                let pages = known.pages.iter().map(|mark| PageMark {
                    etag: etag_now(mark),
                    ..mark.clone()
                });
                let presented = known.facts.presented;
                (Verdict::Unchanged, known.landing.clone(), pages.collect(), presented)
            }
            _ => (Verdict::Landed, job.run.clone(), self.marks, self.presented),
        };
        StoreCrawl {
            store: job.brand.store.clone(),
            run: job.run.clone(),
            landing,
            verdict,
            context: job.context.to_owned(),
            started_at: self.read_since,
            ended_at: Timestamp::default(),
            verified_at: Timestamp::default(),
            facts: StoreFacts {
                presented,
                ..self.facts.clone()
            },
            pages,
            truncated,
            unread: self.has_unread,
            last: self.last,
            reused_pages: self.reused_pages,
            requests: self.requests,
            bytes: self.bytes,
        }
    }
}
