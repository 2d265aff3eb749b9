use async_recursion::async_recursion as boxed;
use data_model::CurrencyCode;
use pipeline_parse::parse_products_page;
use storefront::{FetchOutcome, StoreError, Storefront};
use url::Url;

use crate::StoreFacts;
use crate::store::{front_currency, is_only_this_page, stray};

/// Findings that decide if the store at an address can be registered.
#[derive(Debug)]
pub struct Probe {
    /// Self-description of the store, if any.
    pub facts: Option<StoreFacts>,
    /// Readability of the store's catalogue.
    pub catalogue: Catalogue,
}

/// State of a catalogue.
#[derive(Debug)]
pub enum Catalogue {
    /// The catalogue is readable.
    Open,
    /// The catalogue is readable but lists no products.
    Empty,
    /// Catalogue pages come from another address, without evidence that it belongs to the same store.
    Elsewhere(Url),
    /// The address does not belong to a Shopify store.
    NotThePlatform,
    /// The store does not publish its catalogue, needs a password, or forbids access in `robots.txt`.
    Closed(StoreError),
    /// The store could not be reached.
    Unknown(StoreError),
}

impl Probe {
    /// Returns true if a Shopify store is at the address. `None` if that is unknown.
    #[must_use]
    pub const fn is_platform(&self) -> Option<bool> {
        match (&self.facts, &self.catalogue) {
            (Some(_), _)
            | (_, Catalogue::Open | Catalogue::Empty | Catalogue::Elsewhere(_))
            | (_, Catalogue::Closed(StoreError::PasswordPage)) => Some(true),
            (None, Catalogue::NotThePlatform) => Some(false),
            (None, Catalogue::Closed(_) | Catalogue::Unknown(_)) => None,
        }
    }

    /// Returns the currency in which a crawl reads the catalogue. It is shown on the pages, else `registered` by an
    /// operator, else the store's own.
    #[must_use]
    pub fn prices_in(&self, registered: Option<CurrencyCode>) -> Option<CurrencyCode> {
        let shown = self.facts.as_ref().and_then(|facts| facts.presented);
        shown.or(registered).or_else(|| self.facts.as_ref()?.currency)
    }

    /// Returns true if the catalogue is readable and the currency of its prices is known.
    #[must_use]
    pub fn is_crawlable(&self, registered: Option<CurrencyCode>) -> bool {
        self.is_open() && self.prices_in(registered).is_some()
    }

    const fn is_open(&self) -> bool {
        matches!(self.catalogue, Catalogue::Open | Catalogue::Empty)
    }

    /// Describes the findings to an operator in one sentence.
    #[must_use]
    pub fn verdict(&self, registered: Option<CurrencyCode>) -> String {
        let stated = self.facts.as_ref().and_then(|facts| facts.published_products);
        let currency = self.prices_in(registered);
        match &self.catalogue {
            Catalogue::Open => {
                let products = stated.map_or_else(String::new, |count| format!(", {count} products"));
                let currency =
                    currency.map_or_else(|| "currency unknown".to_owned(), |code| format!("prices in {code}"));
                format!("a store with an open catalogue{products}, {currency}")
            }
            Catalogue::Empty => "a store whose catalogue is empty".to_owned(),
            Catalogue::Elsewhere(url) => format!("it leads to {url}; add that address instead"),
            Catalogue::NotThePlatform => "no Shopify store answers at this address".to_owned(),
            Catalogue::Closed(error) => format!("the catalogue cannot be read: {error}"),
            Catalogue::Unknown(error) => format!("the store could not be reached: {error}"),
        }
    }
}

/// Examines an address with at most four requests: `robots.txt`, `/meta.json`, one product of the catalogue, and the
/// front page if a crawl would need it for the currency.
///
/// # Errors
/// [`StoreError::Url`] if the address cannot be a store's. Failures of the store are part of the result, not errors.
#[boxed]
pub async fn probe(storefront: &Storefront, base_url: &Url) -> Result<Probe, StoreError> {
    let store = storefront.store(base_url)?;
    let (facts, described_at) = match store.meta().await {
        Ok(FetchOutcome::Body(page)) => match StoreFacts::read(&page.bytes) {
            Some(facts) => (Some(facts), Some(page.url)),
            None => (None, None),
        },
        Ok(FetchOutcome::NotModified) => (None, None),
        Err(error) if is_only_this_page(&error) => (None, None),
        Err(error) => {
            return Ok(Probe {
                facts: None,
                catalogue: judged(error),
            });
        }
    };
    let mut presented = None;
    let catalogue = match store.products_page(1, 1, None).await {
        Ok(FetchOutcome::Body(page)) => {
            presented = page.cart_currency;
            match parse_products_page(&page.bytes) {
                // A crawl would reject these pages of another store.
                Ok(_) if let Some(home) = stray(base_url, described_at.as_ref(), &page.url) => {
                    Catalogue::Elsewhere(home)
                }
                Ok(page) if page.records.is_empty() => Catalogue::Empty,
                Ok(_) => Catalogue::Open,
                Err(_) => Catalogue::NotThePlatform,
            }
        }
        Ok(FetchOutcome::NotModified) => Catalogue::NotThePlatform,
        Err(StoreError::NotJson { .. } | StoreError::CatalogueClosed { status: 404 }) if facts.is_none() => {
            Catalogue::NotThePlatform
        }
        Err(error) => judged(error),
    };
    let mut found = Probe { facts, catalogue };
    if !found.is_open() {
        return Ok(found);
    }
    if presented.is_none() && storefront.config().country.is_none() {
        let is_own = |url: &Url| stray(base_url, described_at.as_ref(), url).is_none();
        match front_currency(store.front_page(None).await, is_own) {
            Ok(currency) => presented = currency,
            Err(error) => found.catalogue = judged(error),
        }
    }
    if presented.is_some() {
        found.facts.get_or_insert_default().presented = presented;
    }
    Ok(found)
}

fn judged(error: StoreError) -> Catalogue {
    let closed = is_only_this_page(&error) || matches!(error, StoreError::PasswordPage | StoreError::Suspended { .. });
    if closed {
        Catalogue::Closed(error)
    } else {
        Catalogue::Unknown(error)
    }
}
