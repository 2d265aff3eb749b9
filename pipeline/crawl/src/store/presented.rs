//! The currency of a store's amounts, where its pages do not name it: nobody asked for a country's prices, so the store
//! chose by the place where it takes us to be.

use data_model::CurrencyCode;
use serde::Deserialize;
use storefront::{FetchOutcome, StoreError};
use url::Url;

use super::is_only_this_page;
use super::page::{Content, ObtainedPage};
use super::walk::{FrontCurrency, Walk};
use crate::{CrawlError, PageTarget};

impl<T: Send + Sync + 'static> Walk<'_, T> {
    /// The page with the currency of its amounts: where it names none, the front page's. That is asked for once in a crawl, and
    /// only where a page was read.
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
        // The front page needs memory too: whoever waits for it holds none, else many could wait for each other.
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

/// `None` where the store shows no front page of its own, or one that names no currency.
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

/// The currency of the script that the platform puts into the head of every page for people:
/// `Shopify.currency = {"active":"USD","rate":"0.0119"};`.
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
