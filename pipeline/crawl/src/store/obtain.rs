use bytes::Bytes;
use object_store::path::Path;
use storefront::FetchOutcome;

use super::Crawler;
use super::page::{Content, ObtainedPage};
use super::walk::Walk;
use crate::landing::{PageReading, compress, landed_at, page_file, read_compressed, sha256_hex, unpack};
use crate::{CrawlError, LandingError, PageMark, PageTarget};

/// Maximum bytes of a page, uncompressed or compressed, that stays in memory while other pages are requested.
const KEPT_BYTES_MAX: usize = 64 << 10;
const KEPT_FRAME_BYTES_MAX: usize = 512 << 10;

impl<T: Send + Sync + 'static> Walk<'_, T> {
    /// The content comes from this run's landed page of before an interruption, else from the last crawl if the page is
    /// known to be unchanged, else from the store.
    pub(super) async fn obtain(&mut self, target: &PageTarget) -> Result<ObtainedPage, CrawlError> {
        if let PageTarget::Products { page } = target
            && *page <= self.resumed
        {
            match self.landed_by_this_run(*page).await? {
                Some(obtained) => return Ok(obtained),
                // The landed page is damaged, too old, or was read under other conditions. Further pages come from the
                // store.
                None => self.resumed = 0,
            }
        }
        if let Some((_, obtained)) = self.pending.take_if(|(pending, _)| pending == target) {
            return self.unpacked_or_fetched(target, Some(obtained)).await;
        }
        let etag = match self.confirmed.get(target) {
            Some(etag) => etag.clone(),
            None => {
                let obtained = self.fetch(target, self.validators).await?;
                // A page without changes since the first pass of this crawl was already parsed.
                if matches!(obtained.content, Content::Body(_)) || matches!(target, PageTarget::Again { .. }) {
                    return Ok(obtained);
                }
                obtained.etag
            }
        };
        match self.landed_last(target, etag).await? {
            Some(obtained) => Ok(obtained),
            // The content of this unchanged page is not available.
            None => self.fetch(target, false).await,
        }
    }

    /// If the store reports the page as unchanged, the result has no content.
    pub(super) async fn fetch(&mut self, target: &PageTarget, validators: bool) -> Result<ObtainedPage, CrawlError> {
        let mark = self.last_reading(target).cloned();
        let mark = mark.filter(|_| validators);
        let etag = mark.as_ref().and_then(|mark| mark.etag.as_deref());
        let (limit, read_at) = (self.crawler.config.page_limit, self.crawler.clock.now());
        self.requests += 1;
        self.asked = target.clone();
        let store = &self.store;
        let asking = Box::pin(async {
            match target {
                PageTarget::Products { page } | PageTarget::Again { page } => {
                    store.products_page(*page, limit, etag).await
                }
                PageTarget::Collections { page } => store.collections_page(*page, limit, etag).await,
                PageTarget::Collection { handle, page } => {
                    store.collection_products_page(handle, *page, limit, etag).await
                }
            }
        });
        let fetched = self.place.during(asking).await;
        match (fetched?, mark.filter(|mark| mark.etag.is_some())) {
            (FetchOutcome::NotModified, Some(mark)) => Ok(ObtainedPage {
                content: Content::Unchanged { records: mark.records },
                frame: None,
                landed: false,
                read_at,
                etag: mark.etag,
                currency: mark.currency,
                sha256: mark.sha256,
                bytes: mark.bytes,
            }),
            (FetchOutcome::NotModified, None) => Err(CrawlError::UnaskedNotModified),
            (FetchOutcome::Body(page), _) => {
                self.identity.check(&page.url)?;
                let bytes = page.bytes.len() as u64;
                self.bytes = self.bytes.saturating_add(bytes);
                let bytes_max = self.crawler.config.store_bytes_max;
                if self.bytes - self.bytes_before > bytes_max {
                    return Err(CrawlError::TooManyBytes { bytes_max });
                }
                let body = page.bytes.clone();
                let sha256 = tokio::task::spawn_blocking(move || sha256_hex(&body)).await?;
                let content = Content::Body(page.bytes);
                Ok(ObtainedPage {
                    content,
                    frame: None,
                    landed: false,
                    read_at,
                    etag: page.etag,
                    currency: page.cart_currency,
                    sha256,
                    bytes,
                })
            }
        }
    }

    /// Frees the memory reserved for a page, which is kept while other pages are requested. Returns `None` if the page
    /// is too large to keep and must be requested again.
    pub(super) async fn packed(&self, obtained: ObtainedPage) -> Result<Option<ObtainedPage>, CrawlError> {
        let Content::Body(body) = &obtained.content else {
            return Ok(Some(obtained));
        };
        if body.len() <= KEPT_BYTES_MAX {
            let content = Content::Body(Bytes::copy_from_slice(body));
            return Ok(Some(ObtainedPage { content, ..obtained }));
        }
        let body = body.clone();
        let frame = tokio::task::spawn_blocking(move || compress(&body)).await?;
        let frame = frame.ok().filter(|frame| frame.len() <= KEPT_FRAME_BYTES_MAX);
        Ok(frame.map(|frame| ObtainedPage {
            content: Content::Packed,
            frame: Some(frame.into()),
            ..obtained
        }))
    }

    /// Decompresses a kept page. If that fails, requests it again.
    pub(super) async fn unpacked_or_fetched(
        &mut self,
        target: &PageTarget,
        kept: Option<ObtainedPage>,
    ) -> Result<ObtainedPage, CrawlError> {
        let unpacked = match kept {
            Some(kept) => self.unpacked(kept).await?,
            None => None,
        };
        match unpacked {
            Some(obtained) => Ok(obtained),
            None => self.fetch(target, false).await,
        }
    }

    /// Returns `None` if the content is not available.
    async fn unpacked(&mut self, obtained: ObtainedPage) -> Result<Option<ObtainedPage>, CrawlError> {
        let (Content::Packed, Some(frame)) = (&obtained.content, obtained.frame.clone()) else {
            return Ok(Some(obtained));
        };
        let memory = self.crawler.storefront.memory();
        let room = self.place.during(memory.page(obtained.bytes)).await?;
        let body = tokio::task::spawn_blocking(move || unpack(&frame)).await?;
        Ok(body.ok().flatten().map(|body| ObtainedPage {
            content: Content::Body(room.hold(body)),
            ..obtained
        }))
    }

    async fn read_landed(&mut self, path: &Path, bytes: Option<u64>) -> Result<Option<(Bytes, Bytes)>, LandingError> {
        let Crawler {
            storage, storefront, ..
        } = self.crawler;
        self.place
            .during(read_compressed(storage, path, bytes, storefront.memory()))
            .await
    }

    /// The last reading is from this crawl if it reads the page again, otherwise from the last crawl.
    fn last_reading(&self, target: &PageTarget) -> Option<&PageMark> {
        let PageTarget::Again { page } = *target else {
            return self.known.get(target).copied();
        };
        let first = PageTarget::Products { page };
        self.marks.iter().rfind(|mark| mark.target == first)
    }

    /// Returns `None` if the page of the last crawl is missing or damaged.
    async fn landed_last(
        &mut self,
        target: &PageTarget,
        etag: Option<String>,
    ) -> Result<Option<ObtainedPage>, CrawlError> {
        let (Some(&mark), Some(known)) = (self.known.get(target), self.job.known) else {
            return Ok(None);
        };
        let (sha256, bytes, currency) = (mark.sha256.clone(), mark.bytes, mark.currency);
        let Some(file) = &mark.file else {
            // The page listed only products of other pages, but now it may be the only one that lists them.
            let content = (mark.records == 0).then_some(Content::Unchanged { records: 0 });
            return Ok(content.map(|content| ObtainedPage {
                content,
                frame: None,
                landed: false,
                read_at: self.read_since,
                etag,
                currency,
                sha256,
                bytes,
            }));
        };
        let path = landed_at(&known.landing, &self.job.brand.store, file);
        // A landed page only saves a request. If it is unreadable, the page is requested from the store.
        let Ok(Some((frame, body))) = self.read_landed(&path, Some(bytes)).await else {
            return Ok(None);
        };
        let hashed = body.clone();
        let found = tokio::task::spawn_blocking(move || sha256_hex(&hashed)).await?;
        let intact = found == sha256;
        let content = Content::Body(body);
        Ok(intact.then_some(ObtainedPage {
            content,
            frame: Some(frame),
            landed: false,
            // The page is confirmed as unchanged since this time.
            read_at: self.read_since,
            etag,
            currency,
            sha256,
            bytes,
        }))
    }

    /// Returns `None` if the landed page is damaged, too old, or was read for another country, because all pages of a
    /// catalogue must be read under the same conditions.
    async fn landed_by_this_run(&mut self, page: u32) -> Result<Option<ObtainedPage>, CrawlError> {
        let path = landed_at(self.job.run, &self.job.brand.store, &page_file("products", page));
        let Ok(Some((frame, body))) = self.read_landed(&path, None).await else {
            return Ok(None);
        };
        let Some(reading) = PageReading::of(&frame).filter(|reading| self.crawler.may_resume(self.job, reading)) else {
            return Ok(None);
        };
        let hashed = body.clone();
        let sha256 = tokio::task::spawn_blocking(move || sha256_hex(&hashed)).await?;
        self.reused_pages += 1;
        self.read_since = self.read_since.min(reading.read_at);
        let PageReading {
            read_at,
            currency,
            etag,
            ..
        } = reading;
        let bytes = body.len() as u64;
        Ok(Some(ObtainedPage {
            content: Content::Body(body),
            frame: Some(frame),
            landed: true,
            read_at,
            etag,
            currency,
            sha256,
            bytes,
        }))
    }
}
