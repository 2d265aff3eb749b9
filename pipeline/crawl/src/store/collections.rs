use std::collections::HashSet;

use storefront::StoreError;

use super::is_only_this_page;
use super::page::Content;
use super::walk::Walk;
use crate::scan::{Collection, scan_collections};
use crate::{CrawlError, PageTarget};

/// A page of the list has 250 collections.
const LIST_PAGES_MAX: u32 = 20;
const HANDLE_BYTES_MAX: usize = 255;

impl<T: Send + Sync + 'static> Walk<'_, T> {
    /// Reads the collections of a store with a capped listing, to find the products that the listing did not reach.
    /// Returns `true` if a limit was reached or a collection could not be read.
    pub(super) async fn read_collections(&mut self) -> Result<bool, CrawlError> {
        if self.has_just_all() {
            return Ok(false);
        }
        let collections = self.list_collections().await?;
        let mut pages_left = self.crawler.config.collection_pages_max;
        let mut truncated = false;
        for collection in collections {
            if self.has_just_all() {
                return Ok(false);
            }
            if pages_left == 0 {
                return Ok(true);
            }
            match self.read_collection(&collection, &mut pages_left).await {
                Ok(complete) => truncated |= !complete,
                Err(CrawlError::NotACatalogue { .. }) => (truncated, self.has_unread) = (true, true),
                Err(CrawlError::Store(error)) if is_only_this_page(&error) => {
                    (truncated, self.has_unread) = (true, true);
                }
                Err(error) => return Err(error),
            }
        }
        // Products outside of all collections cannot be reached.
        let stated = self.facts.published_products;
        let reached = stated.is_some_and(|stated| self.seen.len() as u64 >= stated);
        Ok(truncated || !reached)
    }

    /// Returns true if the crawl has seen exactly as many products as the store reports. If it has seen more, the
    /// reported count is wrong and is ignored.
    fn has_just_all(&self) -> bool {
        self.facts.published_products == Some(self.seen.len() as u64)
    }

    async fn read_collection(&mut self, collection: &Collection, pages_left: &mut u32) -> Result<bool, CrawlError> {
        let mut listed = 0_u64;
        self.forget_repeats();
        for page in 1..=self.crawler.config.pages_max {
            if *pages_left == 0 {
                return Ok(false);
            }
            *pages_left -= 1;
            let target = PageTarget::Collection {
                handle: collection.handle.clone(),
                page,
            };
            let step = match self.visit(target).await {
                Err(CrawlError::Store(StoreError::PageCap)) => return Ok(false),
                step => step?,
            };
            listed += u64::from(step.records);
            // The reported count may be wrong, and a page in the middle may be short. Only both together show the end.
            let stated = collection.products.is_some_and(|stated| listed >= stated);
            let short = step.records < u32::from(self.crawler.config.page_limit);
            if step.records == 0 || step.repeated || (stated && short) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn list_collections(&mut self) -> Result<Vec<Collection>, CrawlError> {
        let mut collections: Vec<Collection> = Vec::new();
        let mut handles = HashSet::new();
        for page in 1..=LIST_PAGES_MAX {
            let target = PageTarget::Collections { page };
            let obtained = match self.obtain(&target).await {
                Err(CrawlError::Store(StoreError::PageCap)) => break,
                Err(CrawlError::Store(error)) if is_only_this_page(&error) => {
                    self.has_unread = true;
                    break;
                }
                obtained => obtained?,
            };
            let Content::Body(body) = &obtained.content else {
                // The empty last page has not changed.
                self.note_collections(target, obtained, 0).await?;
                break;
            };
            let Some((records, listed)) = scan_collections(body) else {
                self.has_unread = true;
                break;
            };
            let usable = |listed: &Collection| listed.products != Some(0) && listed.handle.len() <= HANDLE_BYTES_MAX;
            let known = handles.len();
            let mut listed = listed;
            listed.retain(|listed| handles.insert(listed.handle.clone()));
            collections.extend(listed.into_iter().filter(usable));
            let records = u32::try_from(records).unwrap_or(u32::MAX);
            let more = self.note_collections(target, obtained, records).await?;
            if !more || handles.len() == known {
                break;
            }
        }
        Ok(collections)
    }
}
