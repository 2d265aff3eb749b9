//! Processes the pages of a crawl: compares them with the last crawl, parses, lands and records them.

use std::sync::Arc;

use storefront::StoreError;

use super::page::{Content, ObtainedPage};
use super::walk::Walk;
use crate::landing::{compress, landed_at, page_file, put_compressed};
use crate::scan::{PageScan, ReadPage};
use crate::{CrawlError, LandingError, PageMark, PageTarget, StoreCrawl, StoreFacts};

/// Maximum number of products of one store. Shopify lists 25,000, and collections list some more. All product ids are
/// in memory.
const PRODUCTS_MAX: usize = 250_000;

#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) records: u32,
    /// Number of products that no earlier page listed.
    pub(super) fresh: u32,
    /// True if an earlier page had the same bytes.
    pub(super) repeated: bool,
}

impl<T: Send + Sync + 'static> Walk<'_, T> {
    /// Requests the pages of the last crawl in order until one differs. Returns `true` if none differs. The responses
    /// are not landed.
    pub(super) async fn compare(&mut self) -> Result<bool, CrawlError> {
        let again = |mark: &PageMark| matches!(mark.target, PageTarget::Again { .. });
        // A listing that changed during the last crawl, or could not be read, is now read in full.
        let readable = |known: &&StoreCrawl| !known.unread && !known.pages.iter().any(again);
        let Some(known) = self.job.known.filter(readable) else {
            return Ok(false);
        };
        for mark in &known.pages {
            let obtained = match self.fetch(&mark.target, self.validators).await {
                Ok(obtained) => obtained,
                // The listing may now end or be capped elsewhere.
                Err(CrawlError::Store(StoreError::PageCap)) => return Ok(false),
                Err(error) => return Err(error),
            };
            let obtained = self.with_currency(obtained);
            let same = obtained.sha256 == mark.sha256;
            // The same numbers in another currency are different prices.
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
        // A crawl without any pages cannot be compared.
        Ok(!known.pages.is_empty())
    }

    /// Parses the data that paging needs.
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
            // A page is decompressed when it is obtained.
            Content::Packed => return unread(0),
            Content::Body(body) => body.clone(),
        };
        // A page without changes since its last reading has nothing new.
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
        // The semaphore is never closed, so that the permits are always granted.
        let _turn = self
            .crawler
            .scans
            .acquire_many(self.crawler.scan_permits(obtained.bytes))
            .await;
        let read = tokio::task::spawn_blocking(move || reader(&facts, &body)).await?;
        let page = target.page();
        read.map_err(|source| CrawlError::NotACatalogue { page, source })
    }

    /// All pages of a crawl must have the same currency. A page without products has no amounts and fits any currency.
    fn note_currency(&mut self, obtained: &ObtainedPage, records: u32) -> Result<(), CrawlError> {
        let Some(other) = obtained.currency.filter(|_| records > 0) else {
            return Ok(());
        };
        match *self.presented.get_or_insert(other) {
            one if one == other => Ok(()),
            one => Err(CrawlError::CurrencyMixed { one, other }),
        }
    }

    /// Reads and records one product page, and lands it if it lists new products.
    pub(super) async fn visit(&mut self, target: PageTarget) -> Result<Step, CrawlError> {
        let obtained = self.obtain(&target).await?;
        let obtained = self.with_currency(obtained);
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
        // In a repeated reading, every product appears twice.
        let is_again = matches!(target, PageTarget::Again { .. });
        self.doubled |= new_ids < scan.ids.len() && !is_again;
        // Records without an id cannot be identified, so that the parser gets them once.
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
        // Collections are not products and do not count as fresh.
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
}
