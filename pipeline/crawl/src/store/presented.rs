//! Finds the currency of a store's amounts if its pages do not state it. Without a requested country, the store chooses
//! the currency by our apparent location.

use data_model::CurrencyCode;
use serde::Deserialize;
use storefront::{FetchOutcome, StoreError};
use url::Url;

use super::is_only_this_page;
use super::page::{Content, ObtainedPage};
use super::walk::{FrontCurrency, Walk};
use crate::{CrawlError, PageTarget};

impl<T: Send + Sync + 'static> Walk<'_, T> {
    /// Adds the currency of the page's amounts. If the page states none, the front page is requested, at most once per
    /// crawl.
    pub(super) async fn with_currency(
        &mut self,
        target: &PageTarget,
        obtained: ObtainedPage,
    ) -> Result<ObtainedPage, CrawlError> {
        let is_silent = obtained.currency.is_none() && !matches!(obtained.content, Content::Unchanged { .. });
        if !is_silent || self.crawler.country().is_some() {
            return Ok(obtained);
        }
        if let FrontCurrency::Read(currency) = self.front {
            return Ok(ObtainedPage { currency, ..obtained });
        }
        // The front page needs memory too. The task frees its own memory before it waits, because otherwise many tasks
        // could wait for each other.
        let kept = self.packed(obtained).await?;
        let currency = self.read_front().await?;
        let obtained = self.unpacked_or_fetched(target, kept).await?;
        let currency = obtained.currency.or(currency);
        Ok(ObtainedPage { currency, ..obtained })
    }

    async fn read_front(&mut self) -> Result<Option<CurrencyCode>, CrawlError> {
        self.requests += 1;
        let front = self.place.during(self.store.front_page(None)).await;
        if let Ok(FetchOutcome::Body(page)) = &front {
            self.bytes = self.bytes.saturating_add(page.bytes.len() as u64);
        }
        let is_own = |url: &Url| self.identity.check(url).is_ok();
        let currency = front_currency(front, is_own).map_err(|source| CrawlError::Page {
            page: "its front page".to_owned(),
            source,
        })?;
        self.front = FrontCurrency::Read(currency);
        Ok(currency)
    }
}

/// Returns `None` if the front page states no currency or belongs to another store.
pub(crate) fn front_currency(
    front: Result<FetchOutcome, StoreError>,
    is_own: impl FnOnce(&Url) -> bool,
) -> Result<Option<CurrencyCode>, StoreError> {
    match front {
        Ok(FetchOutcome::Body(page)) => Ok(is_own(&page.url).then(|| presented_by(&page.bytes)).flatten()),
        Ok(FetchOutcome::NotModified) => Ok(None),
        Err(error) if is_only_this_page(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Shopify adds a script to the head of every HTML page: `Shopify.currency = {"active":"USD","rate":"0.0119"};`.
fn presented_by(html: &[u8]) -> Option<CurrencyCode> {
    #[derive(Deserialize)]
    struct ShopifyCurrency {
        active: CurrencyCode,
    }
    let html = String::from_utf8_lossy(html);
    html.split("Shopify.currency").skip(1).find_map(|behind| {
        let value = behind.trim_start().strip_prefix('=')?;
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<ShopifyCurrency>();
        values.next()?.ok().map(|presented| presented.active)
    })
}
