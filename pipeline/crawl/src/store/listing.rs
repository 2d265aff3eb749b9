use std::collections::HashSet;

use storefront::{FetchOutcome, StoreError};

use super::page::Content;
use super::walk::Walk;
use crate::landing::read_page;
use crate::scan::scan_products;
use crate::{CrawlError, LastListed, PageTarget, StoreCrawl};

/// Most times that a listing that moves is read again while products are missing still.
const READINGS_MAX: u32 = 3;

/// The end of the whole listing.
enum End {
    /// At its end.
    Reached,
    /// At the platform's cap, with more behind it.
    Capped,
}

impl<T: Send + Sync + 'static> Walk<'_, T> {
    /// Reads and lands the whole catalogue; `true` when a bound was met before its end.
    pub(super) async fn read_all(&mut self, resumed: u32) -> Result<bool, CrawlError> {
        self.resumed = resumed;
        match self.read_listing().await? {
            End::Capped => self.read_collections().await,
            End::Reached => Ok(false),
        }
    }

    async fn read_listing(&mut self) -> Result<End, CrawlError> {
        let pages_max = self.crawler.config.pages_max;
        let (mut page, mut doubted) = (1, false);
        while page <= pages_max {
            let step = match self.visit(PageTarget::Products { page }).await {
                Err(CrawlError::Store(StoreError::PageCap)) => return Ok(End::Capped),
                step => step?,
            };
            if step.fresh == 0 {
                // An empty page is the platform's end of a listing. A short page is not: stores page as they like.
                // A page of nothing new is that of a store that pages no further, or in circles.
                self.has_repeated = step.records > 0 && page > 1;
                if step.records > 0 || page == 1 || doubted || !self.misses_some() {
                    return Ok(End::Reached);
                }
                // Missing products may as well mean a page that failed: it is asked once more, and then the
                // one behind it.
                doubted = true;
                self.marks.pop();
                match self.listed_after_all(page).await? {
                    Some(listed) => {
                        self.has_hole = listed != page;
                        page = listed;
                    }
                    None => return Ok(End::Reached),
                }
            }
            page += 1;
        }
        // The platform refuses the page after the last; a store that makes up pages does not.
        let beyond = PageTarget::Products {
            page: pages_max.saturating_add(1),
        };
        match self.fetch(&beyond, false).await {
            Err(CrawlError::Store(StoreError::PageCap)) => Ok(End::Capped),
            Err(error) => Err(error),
            Ok(page) => match page.content {
                Content::Body(body) if scan_products(&body).is_ok_and(|scan| scan.records == 0) => Ok(End::Reached),
                _ => Err(self.endless(pages_max)),
            },
        }
    }

    /// The one of an empty page and the page behind it that lists products when it is asked again.
    async fn listed_after_all(&mut self, empty: u32) -> Result<Option<u32>, CrawlError> {
        for page in [empty, empty.saturating_add(1)] {
            let step = match self.visit(PageTarget::Products { page }).await {
                Err(CrawlError::Store(StoreError::PageCap)) => return Ok(None),
                step => step?,
            };
            if step.fresh > 0 {
                return Ok(Some(page));
            }
            if page != empty {
                self.marks.pop();
            }
        }
        Ok(None)
    }

    /// Reads a listing that was read to its end once more if it moved meanwhile or misses products that the last crawl
    /// had, and again while that brings any to light: what moved from a page to come to a page that had been read was
    /// missed. What is on neither reading is gone. Each reading may be as large and take as long as the first: a store
    /// that just fits is no smaller for having lost a product.
    pub(super) async fn read_missed(&mut self) -> Result<(), CrawlError> {
        let last = self.missed_of_last().await?;
        self.read_while_missing(last.as_ref()).await?;
        self.last = self.job.known.zip(last).map(|(known, missed)| LastListed {
            products: known.products(),
            gone: missed.iter().filter(|id| !self.seen.contains(id)).count() as u64,
        });
        Ok(())
    }

    /// True where products seem to follow the pages that were read, as far as the last crawl and the store's own count
    /// show: a page in the middle listed nothing, or the end came a page or more before both. Where the end was a page
    /// that repeats what was read, the store's count stands alone: it may page no further than that.
    pub(super) fn falls_short(&self) -> bool {
        let seen = self.seen.len() as u64;
        let pages = self
            .marks
            .iter()
            .chain(self.job.known.into_iter().flat_map(|known| &known.pages));
        let page = pages.map(|mark| mark.records).max().unwrap_or(0);
        let lacks_a_page = |expected: Option<u64>| {
            expected.is_some_and(|expected| expected > 0 && expected >= seen.saturating_add(u64::from(page.max(1))))
        };
        let before = self.job.known.map(StoreCrawl::products).max(self.job.products_before);
        let is_short = self.has_repeated || lacks_a_page(before);
        (self.has_hole && self.misses_some()) || (is_short && lacks_a_page(self.facts.published_products))
    }

    async fn read_while_missing(&mut self, last: Option<&HashSet<u64>>) -> Result<(), CrawlError> {
        let listed = self.marks.iter().filter(|mark| mark.file.is_some()).count();
        let listed_last = self.job.known.map_or(0, |known| known.landed().count());
        // A list of one product does not move from page to page; of two, one may have come to be all.
        if listed.max(listed_last) < 2 {
            return Ok(());
        }
        let mut missed = self.count_missed(last);
        // Products that come and go while the listing is read move it without changing its first page.
        let moved = missed > 0 || (self.doubled && self.misses_some()) || (listed > 1 && self.has_moved().await?);
        if !moved {
            return Ok(());
        }
        for _ in 0..READINGS_MAX {
            let seen_before = self.seen.len();
            self.crawler.timely(self.crawler.deadline(), self.read_again()).await?;
            let missed_before = std::mem::replace(&mut missed, self.count_missed(last));
            // Products that two readings in a row miss are gone, not skipped; where nothing new came there is nothing to come.
            let gone = self.seen.len() == seen_before || (missed > 0 && missed == missed_before);
            if gone || (missed == 0 && !self.misses_some()) {
                break;
            }
        }
        Ok(())
    }

    /// The products that the last crawl listed and this one did not; `None` where its landed pages do not show them.
    async fn missed_of_last(&mut self) -> Result<Option<HashSet<u64>>, CrawlError> {
        let Some(known) = self.job.known else {
            return Ok(None);
        };
        let mut missed = HashSet::new();
        for (file, mark) in known.landed() {
            // A page that is still as it was lists nothing that was not seen.
            if self.has_read(&mark.sha256) {
                continue;
            }
            let (storage, memory) = (&self.crawler.storage, self.crawler.storefront.memory());
            let page = read_page(storage, &known.landing, &known.store, file, mark, memory);
            let page = self.place.during(page).await;
            // A landing is a convenience here: without it there are the counts.
            let Ok(page) = page else { return Ok(None) };
            let Ok(scan) = tokio::task::spawn_blocking(move || scan_products(&page)).await? else {
                return Ok(None);
            };
            missed.extend(scan.ids.into_iter().filter(|id| !self.seen.contains(id)));
        }
        Ok(Some(missed))
    }

    /// Products of before that no reading has shown yet: of those `missed` by the first, or by the count of them alone.
    fn count_missed(&self, missed: Option<&HashSet<u64>>) -> u64 {
        let seen = self.seen.len() as u64;
        let by_count = |before: Option<u64>| before.unwrap_or(0).saturating_sub(seen);
        let of_last = match missed {
            Some(missed) => missed.iter().filter(|id| !self.seen.contains(id)).count() as u64,
            None => by_count(self.job.known.map(StoreCrawl::products)),
        };
        of_last.max(by_count(self.job.products_before))
    }

    /// Reads the listing from its first page on. Beyond the pages that were there it goes on as long as there is
    /// anything new.
    async fn read_again(&mut self) -> Result<(), CrawlError> {
        self.bytes_before = self.bytes;
        let pages = u32::try_from(self.marks.len()).unwrap_or(u32::MAX).saturating_add(1);
        for page in 1..=self.crawler.config.pages_max {
            let step = match self.visit(PageTarget::Again { page }).await {
                Err(CrawlError::Store(StoreError::PageCap)) => break,
                step => step?,
            };
            if step.records == 0 || (page >= pages && step.fresh == 0) {
                break;
            }
        }
        Ok(())
    }

    /// True where the listing showed fewer products than there should be, as far as the last crawl, the caller and the
    /// store's own count show; each of them may be wrong. Without them, no product can be taken for gone.
    fn misses_some(&self) -> bool {
        let before = self.job.known.map(StoreCrawl::products);
        let expected = before.max(self.job.products_before).max(self.facts.published_products);
        expected.map_or(self.doubled, |expected| (self.seen.len() as u64) < expected)
    }

    /// True where the first page lists products now that it did not list when it was read. That as many are known as there
    /// should be says nothing: new ones may have come while others were missed.
    async fn has_moved(&mut self) -> Result<bool, CrawlError> {
        let Some(first) = self.marks.first() else {
            return Ok(false);
        };
        self.requests += 1;
        self.asked = PageTarget::Products { page: 1 };
        let limit = self.crawler.config.page_limit;
        let asking = Box::pin(self.store.products_page(1, limit, first.etag.as_deref()));
        match self.place.during(asking).await? {
            FetchOutcome::NotModified => Ok(false),
            FetchOutcome::Body(page) => {
                self.bytes = self.bytes.saturating_add(page.bytes.len() as u64);
                let scan = tokio::task::spawn_blocking(move || scan_products(&page.bytes)).await?;
                // A page that is none of products any more shows nothing.
                Ok(scan.is_ok_and(|scan| scan.ids.iter().any(|id| !self.first_ids.contains(id))))
            }
        }
    }
}
