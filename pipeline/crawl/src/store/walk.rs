use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use data_model::{CurrencyCode, Timestamp};
use storefront::{Store, StoreError};

use super::identity::Identity;
use super::obtain::{Content, ObtainedPage};
use super::presented::FrontCurrency;
use super::{CrawlJob, Crawler};
use crate::landing::{compress, landed_at, landed_pages, page_file, put_compressed};
use crate::place::Place;
use crate::scan::{PageReader, PageScan, ReadPage};
use crate::{CrawlError, LandingError, LastListed, PageMark, PageTarget, Progress, StoreCrawl, StoreFacts, Verdict};

/// Most products of one store. The platform lists 25,000, and some more by collections; the ids of all are in memory.
const PRODUCTS_MAX: usize = 250_000;

/// One crawl in the making.
pub(super) struct Walk<'a, T> {
    pub(super) crawler: &'a Crawler,
    pub(super) job: CrawlJob<'a>,
    pub(super) place: Place,
    pub(super) store: Store,
    pub(super) identity: Identity,
    pub(super) facts: &'a StoreFacts,
    pub(super) progress: &'a dyn Progress,
    /// The store is asked only for what changed.
    pub(super) validators: bool,
    /// The pages of the last crawl.
    pub(super) known: HashMap<&'a PageTarget, &'a PageMark>,
    /// Pages found to be as they were in the last crawl, with the validator they have now.
    pub(super) confirmed: HashMap<PageTarget, Option<String>>,
    /// A page that was read and found changed, before anyone asked for its content.
    pub(super) pending: Option<(PageTarget, ObtainedPage)>,
    /// The page that was asked for last.
    pub(super) asked: PageTarget,
    pub(super) marks: Vec<PageMark>,
    reader: &'a Arc<PageReader<T>>,
    /// What the reader made of the landed pages of products.
    pub(super) kept: Vec<Option<T>>,
    /// The currency of the pages' amounts, by their own word or the front page's.
    presented: Option<CurrencyCode>,
    pub(super) front: FrontCurrency,
    /// An empty page had products behind it.
    pub(super) has_hole: bool,
    /// The listing ended with a page that repeats what was read.
    pub(super) has_repeated: bool,
    /// A listing could not be read.
    pub(super) has_unread: bool,
    /// The fate of the products of the last crawl.
    pub(super) last: Option<LastListed>,
    pub(super) seen: HashSet<u64>,
    /// The products that the first page of the listing listed when it was read.
    pub(super) first_ids: HashSet<u64>,
    /// A page listed a product that a page before it had listed.
    pub(super) doubled: bool,
    hashes: HashSet<String>,
    collection_files: u32,
    again_files: u32,
    /// Pages of the whole listing that this run had landed before it was interrupted.
    pub(super) resumed: u32,
    /// Of these, those that were gone on from.
    pub(super) reused_pages: u32,
    /// The moment at which the first page was asked for, by an interrupted crawl where this one goes on with its pages.
    pub(super) read_since: Timestamp,
    pub(super) requests: u32,
    /// Decoded bytes received, of all readings.
    pub(super) bytes: u64,
    /// Of these, before the listing was read once more.
    pub(super) bytes_before: u64,
}

/// The result of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Records on it.
    pub(super) records: u32,
    /// Products on it that no page before it listed.
    pub(super) fresh: u32,
    /// A page before it was the same to the byte.
    pub(super) repeated: bool,
}

impl<'a, T: Send + Sync + 'static> Walk<'a, T> {
    pub(super) fn new(
        crawler: &'a Crawler,
        job: CrawlJob<'a>,
        reader: &'a Arc<PageReader<T>>,
        (store, identity, place): (Store, Identity, Place),
        facts: &'a StoreFacts,
        validators: bool,
        progress: &'a dyn Progress,
    ) -> Self {
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
            front: FrontCurrency::default(),
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

    /// Pages of the whole listing that an interrupted crawl of this run left and that are recent enough to go on from.
    pub(super) async fn find_resumable(&mut self) -> Result<u32, CrawlError> {
        let config = &self.crawler.config;
        let since = self.crawler.resumable_since();
        let landed = landed_pages(&self.crawler.storage, self.job.run, &self.job.brand.store, since).await;
        landed
            .map(|pages| pages.min(config.pages_max))
            .map_err(|source| self.job.landing(source))
    }

    /// True where the last crawl was read for the same purpose, and of a store that presented itself the same way.
    pub(super) fn is_comparable(&self) -> bool {
        let comparable = self.job.known.filter(|_| !self.job.anew);
        comparable.is_some_and(|known| known.context == self.job.context && known.facts.same_brand(self.facts))
    }

    /// Asks for the pages of the last crawl, in their order, until one differs; `true` when none does. Nothing is
    /// landed meanwhile.
    pub(super) async fn compare(&mut self) -> Result<bool, CrawlError> {
        let again = |mark: &PageMark| matches!(mark.target, PageTarget::Again { .. });
        // A listing that moved while it was read is read in full the next time, and so is one that could not be read.
        let readable = |known: &&StoreCrawl| !known.unread && !known.pages.iter().any(again);
        let Some(known) = self.job.known.filter(readable) else {
            return Ok(false);
        };
        for mark in &known.pages {
            let obtained = match self.fetch(&mark.target, self.validators).await {
                Ok(obtained) => obtained,
                // The listing may end or be capped elsewhere now; a whole reading shows it.
                Err(CrawlError::Store(StoreError::PageCap)) => return Ok(false),
                Err(error) => return Err(error),
            };
            let obtained = if obtained.sha256 == mark.sha256 && mark.records > 0 {
                self.with_currency(&mark.target, obtained).await?
            } else {
                obtained
            };
            let same = obtained.sha256 == mark.sha256;
            // The same numbers in another currency are other prices.
            let same_money = mark.records == 0 || obtained.currency.is_none_or(|code| Some(code) == mark.currency);
            if !same || !same_money {
                let kept = self.packed(obtained).await?;
                self.pending = kept.map(|obtained| (mark.target.clone(), obtained));
                return Ok(false);
            }
            self.confirmed.insert(mark.target.clone(), obtained.etag.clone());
            self.progress
                .page(&self.job.brand.slug, mark.target.page(), mark.bytes, mark.fresh);
        }
        // A crawl that never saw the end of the listing has nothing to compare.
        Ok(!known.pages.is_empty())
    }

    /// The parts of a page that paging needs to know.
    async fn scan(&self, target: &PageTarget, obtained: &ObtainedPage) -> Result<ReadPage<T>, CrawlError> {
        let unread = |records| {
            let (scan, kept) = (
                PageScan {
                    records,
                    ids: Vec::new(),
                },
                None,
            );
            Ok(ReadPage { scan, kept })
        };
        let body = match &obtained.content {
            Content::Unchanged { records } => return unread(*records),
            // A page is unpacked when it is obtained.
            Content::Packed => return unread(0),
            Content::Body(body) => body.clone(),
        };
        // A page that is as it was when it was read before has nothing new.
        let same = |mark: &&PageMark| mark.sha256 == obtained.sha256;
        if matches!(target, PageTarget::Again { .. })
            && let Some(mark) = self.marks.iter().find(same)
        {
            return unread(mark.records);
        }
        let facts = StoreFacts {
            presented: obtained.currency.or(self.presented),
            ..self.facts.clone()
        };
        let reader = Arc::clone(self.reader);
        // Never closed, so the permits are always given.
        let _turn = self
            .crawler
            .scans
            .acquire_many(self.crawler.scan_permits(obtained.bytes))
            .await;
        let read = tokio::task::spawn_blocking(move || reader(&facts, &body)).await?;
        let page = target.page();
        read.map_err(|source| CrawlError::NotACatalogue { page, source })
    }

    /// Holds what a page says that its amounts are in against what the pages before it said. A page without products has
    /// no amounts, and is the same in any currency.
    fn note_currency(&mut self, obtained: &ObtainedPage, records: u32) -> Result<(), CrawlError> {
        let Some(other) = obtained.currency.filter(|_| records > 0) else {
            return Ok(());
        };
        match *self.presented.get_or_insert(other) {
            one if one == other => Ok(()),
            one => Err(CrawlError::CurrencyMixed { one, other }),
        }
    }

    /// Reads one page of products, lands it if it lists any that are new, and takes note of it.
    pub(super) async fn visit(&mut self, target: PageTarget) -> Result<Step, CrawlError> {
        let obtained = self.obtain(&target).await?;
        let obtained = self.with_currency(&target, obtained).await?;
        let ReadPage { scan, kept } = self.scan(&target, &obtained).await?;
        self.note_currency(&obtained, scan.records)?;
        let nameless = scan
            .records
            .saturating_sub(u32::try_from(scan.ids.len()).unwrap_or(u32::MAX));
        if target == (PageTarget::Products { page: 1 }) {
            self.first_ids.extend(&scan.ids);
        }
        let new_ids = scan.ids.iter().filter(|id| self.seen.insert(**id)).count();
        let repeated = !self.hashes.insert(obtained.sha256.clone());
        let lists = matches!(obtained.content, Content::Body(_)) && !repeated;
        // Read once more, every product stands there twice.
        let is_again = matches!(target, PageTarget::Again { .. });
        self.doubled |= new_ids < scan.ids.len() && !is_again;
        // Records without an id may be anything; they go to the parser once.
        let fresh = if lists {
            u32::try_from(new_ids).unwrap_or(u32::MAX).saturating_add(nameless)
        } else {
            0
        };
        if self.seen.len() > PRODUCTS_MAX {
            return Err(self.endless(u32::try_from(self.marks.len()).unwrap_or(u32::MAX)));
        }
        let step = Step {
            records: scan.records,
            fresh,
            repeated,
        };
        let file = self.land(&target, &obtained, step).await?;
        self.progress
            .page(&self.job.brand.slug, target.page(), obtained.bytes, fresh);
        if fresh == 0 && is_again {
            return Ok(step);
        }
        if file.is_some() {
            self.kept.push(kept);
        }
        self.marks.push(PageMark {
            target,
            file,
            etag: obtained.etag,
            currency: obtained.currency,
            sha256: obtained.sha256,
            bytes: obtained.bytes,
            records: step.records,
            fresh,
        });
        Ok(step)
    }

    async fn land(
        &mut self,
        target: &PageTarget,
        obtained: &ObtainedPage,
        step: Step,
    ) -> Result<Option<String>, CrawlError> {
        let Content::Body(body) = &obtained.content else {
            return Ok(None);
        };
        if step.fresh == 0 {
            return Ok(None);
        }
        let file = match target {
            PageTarget::Products { page } => page_file("products", *page),
            PageTarget::Again { .. } => {
                self.again_files += 1;
                page_file("products-again", self.again_files)
            }
            PageTarget::Collections { page } => page_file("collections", *page),
            PageTarget::Collection { .. } => {
                self.collection_files += 1;
                page_file("collection-products", self.collection_files)
            }
        };
        if obtained.landed {
            return Ok(Some(file));
        }
        let (run, store) = (self.job.run, &self.job.brand.store);
        let path = landed_at(run, store, &file);
        let frame = match &obtained.frame {
            Some(frame) => frame.clone(),
            None => {
                let body = body.clone();
                let frame = tokio::task::spawn_blocking(move || compress(&body)).await?;
                let path = path.clone();
                frame
                    .map_err(|source| self.job.landing(LandingError::Zstd { path, source }))?
                    .into()
            }
        };
        let page = obtained.reading(self.crawler.country()).behind(&frame);
        let page = page.ok_or_else(|| self.job.landing(LandingError::Damaged { path }))?;
        let put = put_compressed(&self.crawler.storage, run, store, &file, page).await;
        put.map_err(|source| self.job.landing(source))?;
        Ok(Some(file))
    }

    /// Takes note of a page of the list of collections, and lands it.
    pub(super) async fn note_collections(
        &mut self,
        target: PageTarget,
        obtained: ObtainedPage,
        records: u32,
    ) -> Result<bool, CrawlError> {
        let repeated = !self.hashes.insert(obtained.sha256.clone());
        let fresh = if repeated { 0 } else { records };
        let file = self
            .land(
                &target,
                &obtained,
                Step {
                    records,
                    fresh,
                    repeated,
                },
            )
            .await?;
        let ObtainedPage {
            etag, sha256, bytes, ..
        } = obtained;
        // Collections are no products: they do not count among the fresh.
        self.marks.push(PageMark {
            target,
            file,
            etag,
            currency: None,
            sha256,
            bytes,
            records,
            fresh: 0,
        });
        Ok(fresh > 0)
    }

    /// The error, with the page that it came of.
    pub(super) fn told(&self, error: CrawlError) -> CrawlError {
        match error {
            CrawlError::Store(source) => CrawlError::Page {
                page: self.asked.to_string(),
                source,
            },
            other => other,
        }
    }

    /// True where a page with this content was read.
    pub(super) fn has_read(&self, sha256: &str) -> bool {
        self.hashes.contains(sha256)
    }

    /// From here on another listing is read; that it shows a page of one before it says nothing about its end.
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
