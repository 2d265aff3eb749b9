//! Finds the currency of a store's amounts if its pages do not state it. Without a requested country, the store chooses
//! the currency by our apparent location.

use data_model::CurrencyCode;
use serde::Deserialize;
use storefront::{FetchOutcome, StoreError};
use url::Url;

use super::is_only_this_page;
use super::page::{Content, ObtainedPage};
use super::walk::Walk;

impl<T: Send + Sync + 'static> Walk<'_, T> {
    /// Adds the currency that the store's front page showed to a page that states none. Without it the currency of the
    /// page stays unknown.
    pub(super) fn with_currency(&self, obtained: ObtainedPage) -> ObtainedPage {
        let is_silent = obtained.currency.is_none() && !matches!(obtained.content, Content::Unchanged { .. });
        let shown = self.job.shown.filter(|_| is_silent && self.crawler.country().is_none());
        ObtainedPage {
            currency: obtained.currency.or(shown),
            ..obtained
        }
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

/// Returns the currency from the script that Shopify adds to the head of every HTML page: `Shopify.currency =
/// {"active":"USD","rate":"0.0119"};`.
pub(crate) fn presented_by(html: &[u8]) -> Option<CurrencyCode> {
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
