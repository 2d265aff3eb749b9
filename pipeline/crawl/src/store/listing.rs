use std::collections::HashSet;

use storefront::{FetchOutcome, StoreError};

use super::page::Content;
use super::walk::Walk;
use crate::landing::read_page;
use crate::scan::scan_products;
use crate::{CrawlError, LastListed, PageTarget, StoreCrawl};

/// Maximum number of times that a changing listing is read again while products are missing.
const READINGS_MAX: u32 = 3;

enum End {
    /// The last page was read.
    Reached,
    /// Shopify lists no further pages, although there are more products.
    Capped,
}

impl<T: Send + Sync + 'static> Walk<'_, T> {
    /// Returns `true` if a limit was reached before the catalogue's end.
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
                // An empty page is the end of a Shopify listing. A short page is not, because stores choose their page
                // size. A page without new products comes from a store that repeats pages.
                self.has_repeated = step.records > 0 && page > 1;
                if step.records > 0 || page == 1 || doubted || !self.misses_some() {
                    return Ok(End::Reached);
                }
                // Products may also be missing because a page failed. This page and the next one are therefore
                // requested again.
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
        // Shopify refuses a page beyond its cap. A store that generates endless pages does not.
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

    /// Requests an empty page again, and then the next page. Returns the first of the two with new products.
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

    /// Reads what a complete listing may have missed. Returns `true` if products are still missing.
    pub(super) async fn read_rest(&mut self) -> Result<bool, CrawlError> {
        let last = self.missed_of_last().await?;
        self.read_while_missing(last.as_ref()).await?;
        let mut is_short = self.falls_short();
        if is_short && self.has_repeated {
            // A store that ignores the number of the page shows one page of each collection.
            self.bytes_before = self.bytes;
            let crawler = self.crawler;
            is_short = crawler.timely(crawler.deadline(), self.read_collections()).await?;
        }
        self.last = self.job.known.zip(last).map(|(known, missed)| LastListed {
            products: known.products(),
            gone: missed.iter().filter(|id| !self.seen.contains(id)).count() as u64,
        });
        Ok(is_short)
    }

    /// Returns true if a page in the middle was empty, or if the listing ended at least a page earlier than the last
    /// crawl and the store's own count suggest. If the last page repeats earlier pages, only the store's own count
    /// decides, because the store may limit the number of pages.
    fn falls_short(&self) -> bool {
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

    /// Reads a complete listing again if it changed during the crawl or lacks products of the last crawl. A product
    /// that moves to an already read page is missed, so that reading repeats while new products appear. Products
    /// missing in two consecutive readings count as removed. The full byte and time limits apply to each reading.
    async fn read_while_missing(&mut self, last: Option<&HashSet<u64>>) -> Result<(), CrawlError> {
        let listed = self.marks.iter().filter(|mark| mark.file.is_some()).count();
        let listed_last = self.job.known.map_or(0, |known| known.landed().count());
        // A listing of one page cannot move products between pages. A listing of two pages may have shrunk to one.
        if listed.max(listed_last) < 2 {
            return Ok(());
        }
        let mut missed = self.count_missed(last);
        // Products that appear and disappear during the crawl shift the listing without changing its first page.
        let moved = missed > 0 || (self.doubled && self.misses_some()) || (listed > 1 && self.has_moved().await?);
        if !moved {
            return Ok(());
        }
        for _ in 0..READINGS_MAX {
            let seen_before = self.seen.len();
            self.crawler.timely(self.crawler.deadline(), self.read_again()).await?;
            let missed_before = std::mem::replace(&mut missed, self.count_missed(last));
            // Products missing in two consecutive readings are gone. After a reading without new products, further
            // readings are useless.
            let gone = self.seen.len() == seen_before || (missed > 0 && missed == missed_before);
            if gone || (missed == 0 && !self.misses_some()) {
                break;
            }
        }
        Ok(())
    }

    /// Returns the products of the last crawl that this one did not find. `None` if the landed pages are not available.
    async fn missed_of_last(&mut self) -> Result<Option<HashSet<u64>>, CrawlError> {
        let Some(known) = self.job.known else {
            return Ok(None);
        };
        let mut missed = HashSet::new();
        for (file, mark) in known.landed() {
            // An unchanged page lists only products that were already seen.
            if self.has_read(&mark.sha256) {
                continue;
            }
            let (storage, memory) = (&self.crawler.storage, self.crawler.storefront.memory());
            let page = read_page(storage, &known.landing, &known.store, file, mark, memory);
            let page = self.place.during(page).await;
            // If the landing is unreadable, the product counts are used instead.
            let Ok(page) = page else { return Ok(None) };
            let Ok(scan) = tokio::task::spawn_blocking(move || scan_products(&page)).await? else {
                return Ok(None);
            };
            missed.extend(scan.ids.into_iter().filter(|id| !self.seen.contains(id)));
        }
        Ok(Some(missed))
    }

    /// Counts earlier products that no reading has found yet. If `missed` is unknown, product counts are compared.
    fn count_missed(&self, missed: Option<&HashSet<u64>>) -> u64 {
        let seen = self.seen.len() as u64;
        let by_count = |before: Option<u64>| before.unwrap_or(0).saturating_sub(seen);
        let of_last = match missed {
            Some(missed) => missed.iter().filter(|id| !self.seen.contains(id)).count() as u64,
            None => by_count(self.job.known.map(StoreCrawl::products)),
        };
        of_last.max(by_count(self.job.products_before))
    }

    /// Reads the listing again from its first page, and beyond the previous last page while pages have new products.
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

    /// Returns true if the last crawl, the caller or the store's own count has more products. Each of these counts may
    /// be wrong. Without any count, returns true if the pages contained duplicates.
    fn misses_some(&self) -> bool {
        let before = self.job.known.map(StoreCrawl::products);
        let expected = before.max(self.job.products_before).max(self.facts.published_products);
        expected.map_or(self.doubled, |expected| (self.seen.len() as u64) < expected)
    }

    /// Returns true if the first page has new products since it was read. The total number of products does not show
    /// this, because new products may hide missing ones.
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
                // A response that is no longer a product page shows nothing.
                Ok(scan.is_ok_and(|scan| scan.ids.iter().any(|id| !self.first_ids.contains(id))))
            }
        }
    }
}
