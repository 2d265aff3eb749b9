//! Requests the shipping terms of one store.

use data_model::CurrencyCode;
use pipeline_parse::{PageLink, shown_page, stated_codes};
use serde_json::json;
use storefront::{Accept, Effect, FetchOutcome, GraphqlRequest, NotAsked, Page, Store, StoreError, documents};
use tokio::task::{JoinError, spawn_blocking};

use crate::links::{is_product, promising};
use crate::terms::{Document, Place, StatedTerms, StoreTexts, TextTerms, shipping_policy};

/// Paths that may contain the terms of a store whose front page links to none.
const PAGES: [&str; 3] = ["/pages/shipping-policy", "/pages/shipping", "/pages/faq"];
/// Maximum number of bytes read of a page. Longer pages are truncated.
const PAGE_BYTES_MAX: usize = 512 << 10;
const SHOWN_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NotAsked(#[from] NotAsked),
    #[error("a background task failed")]
    Worker(#[from] JoinError),
}

/// Requests a store's terms until the most important ones are known: from its policy, its front page, at most three
/// pages linked from there, and one product page. Returns the texts and the terms found in them, and counts the
/// requests (six at most).
pub(crate) async fn ask(
    store: &Store,
    currency: CurrencyCode,
    requests: &mut u32,
) -> Result<(StoreTexts, TextTerms), Failure> {
    let mut interview = Interview {
        store,
        currency,
        requests,
        told: StoreTexts {
            is_everywhere: true,
            documents: Vec::new(),
        },
        terms: StatedTerms::default(),
    };
    interview.policy().await?;
    let paths = if interview.terms.is_complete() {
        Vec::new()
    } else {
        interview.front_page().await?
    };
    for path in paths {
        if interview.terms.is_complete() {
            // The unread pages may state terms, and an earlier text may stop stating them later.
            interview.told.is_everywhere = false;
            break;
        }
        interview.page(&path).await?;
    }
    let Interview { told, terms, .. } = interview;
    let said = terms.said(told.is_everywhere);
    Ok((told, said))
}

struct Interview<'a> {
    store: &'a Store,
    currency: CurrencyCode,
    requests: &'a mut u32,
    told: StoreTexts,
    terms: StatedTerms,
}

impl Interview<'_> {
    /// The merchant entered the shipping policy in the Shopify admin.
    async fn policy(&mut self) -> Result<(), Failure> {
        *self.requests += 1;
        let request = GraphqlRequest::new(documents::POLICIES, "Policies", json!({}));
        let data = match self.store.graphql(&request, Effect::Safe).await {
            Ok(answer) => answer.data.map(|data| String::from(Box::<str>::from(data))),
            Err(error) => return self.pass_over(error),
        };
        match data.and_then(|data| shipping_policy(data.as_bytes())) {
            Some(policy) => Ok(self.hear(policy).await?),
            None => Ok(()),
        }
    }

    /// Returns the paths of pages that may state more terms.
    async fn front_page(&mut self) -> Result<Vec<String>, Failure> {
        let guesses = PAGES.map(str::to_owned).to_vec();
        let fetched = self.store.front_page(None).await;
        let Some(page) = self.fetched(fetched)? else {
            return Ok(guesses);
        };
        let url = page.url.clone();
        let found = promising(&self.shop_window(page).await?, &url);
        Ok(if found.iter().all(|path| is_product(path)) {
            [guesses, found].concat()
        } else {
            found
        })
    }

    async fn page(&mut self, path: &str) -> Result<(), Failure> {
        let fetched = self.store.get(path, Accept::Html).await;
        let Some(page) = self.fetched(fetched)? else {
            return Ok(());
        };
        if is_product(path) {
            return self.shop_window(page).await.map(drop);
        }
        let text = String::from_utf8_lossy(&page.bytes[..page.bytes.len().min(PAGE_BYTES_MAX)]);
        let (place, url, text) = (Place::Page, page.url.to_string(), text.into_owned());
        let document = Document {
            place,
            url,
            text,
            proposed: None,
        };
        Ok(self.hear(document).await?)
    }

    /// Reads the visible text of a front page or product page and returns its links.
    async fn shop_window(&mut self, page: Page) -> Result<Vec<PageLink>, Failure> {
        let work = move || {
            let shown = shown_page(&String::from_utf8_lossy(&page.bytes));
            // A line with a discount code promises something that only this code gives.
            let mut lines = shown.lines;
            lines.retain(|line| stated_codes(line).is_empty());
            // Lines become paragraphs, because no heading of the page applies to a line in a banner.
            let mut text = lines.join("\n\n");
            text.truncate(text.floor_char_boundary(SHOWN_BYTES_MAX));
            let (place, url) = (Place::Shop, page.url.to_string());
            let document = Document {
                place,
                url,
                text,
                proposed: None,
            };
            (document, shown.links)
        };
        let (document, links) = spawn_blocking(work).await?;
        self.hear(document).await?;
        Ok(links)
    }

    /// Returns `None` if the store has no such page or does not show it.
    fn fetched(&mut self, fetched: Result<FetchOutcome, StoreError>) -> Result<Option<Page>, Failure> {
        *self.requests += u32::from(!matches!(fetched, Err(StoreError::RobotsDisallowed { .. })));
        match fetched {
            // A page that redirects to another shop does not describe this shop.
            Ok(FetchOutcome::Body(page)) => {
                Ok(Some(page).filter(|page| page.url.host() == self.store.base_url().host()))
            }
            Ok(FetchOutcome::NotModified) => Ok(None),
            Err(error @ StoreError::Status { .. }) if !error.is_transient() => Ok(None),
            Err(error) => self.pass_over(error).map(|()| None),
        }
    }

    /// Continues after a refusal that concerns only one page.
    fn pass_over(&mut self, error: StoreError) -> Result<(), Failure> {
        if !is_of_the_page(&error) {
            return Err(error.into());
        }
        self.told.is_everywhere = false;
        Ok(())
    }

    /// Reads a text on a blocking thread and keeps it.
    async fn hear(&mut self, document: Document) -> Result<(), JoinError> {
        let currency = self.currency;
        let work = move || {
            let reading = document.read(currency);
            (document, reading)
        };
        let (document, reading) = spawn_blocking(work).await?;
        self.terms.add(&document, reading);
        self.told.documents.push(document);
        Ok(())
    }
}

/// Returns true if the refusal is permanent and concerns only this page.
fn is_of_the_page(error: &StoreError) -> bool {
    let of_the_page = matches!(
        error,
        StoreError::RobotsDisallowed { .. }
            | StoreError::NotJson { .. }
            | StoreError::TooLarge { .. }
            | StoreError::OverBudget { .. }
            | StoreError::Url { .. }
            | StoreError::Redirect { .. }
            | StoreError::Status { .. }
    );
    of_the_page && !error.is_transient()
}
