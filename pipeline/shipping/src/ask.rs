//! What one store is asked.

use data_model::CurrencyCode;
use serde_json::json;
use storefront::{Accept, Effect, Fetched, GraphqlRequest, Store, StoreError, documents};
use tokio::task::{JoinError, spawn_blocking};

use crate::refresh::Failure;
use crate::said::{Document, Said, Told, shipping_policy};

/// Pages that may hold the terms, in the order in which they are tried.
const PAGES: [&str; 7] = [
    "/policies/shipping-policy",
    "/pages/shipping-policy",
    "/pages/shipping",
    "/pages/shipping-delivery",
    "/pages/shipping-and-delivery",
    "/pages/faq",
    "/pages/faqs",
];
/// Largest page that is read; of a larger one its beginning is.
const PAGE_BYTES_MAX: usize = 512 << 10;

/// Asks a store for its terms, and gives what it answered and what that says; tells how many requests that took.
pub(crate) async fn ask(store: &Store, currency: CurrencyCode, requests: &mut u32) -> Result<(Told, Said), Failure> {
    let mut told = Told {
        is_everywhere: true,
        documents: Vec::new(),
    };
    *requests += 1;
    match policy(store).await {
        Ok(Some((url, text))) => {
            let (document, said) = read(Document::policy(url, text), currency).await?;
            told.documents.push(document);
            let said = said.unwrap_or_else(|| told.silence());
            return Ok((told, said));
        }
        Ok(None) => {}
        Err(error) if is_of_the_page(&error) => told.is_everywhere = false,
        Err(error) => return Err(error.into()),
    }
    for path in PAGES {
        let fetched = match store.get(path, Accept::Html).await {
            Err(StoreError::RobotsDisallowed { .. }) => {
                // The policy itself the API told, or told that there is none; what else is closed may hold terms.
                told.is_everywhere &= path.starts_with("/policies/");
                continue;
            }
            fetched => fetched,
        };
        *requests += 1;
        let page = match fetched {
            Ok(Fetched::Body(page)) => page,
            Ok(Fetched::NotModified) => continue,
            Err(StoreError::Status { .. }) => continue,
            Err(error) if is_of_the_page(&error) => {
                told.is_everywhere = false;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        // A page that leads to another shop says nothing of this one.
        if page.url.host_str() != store.base_url().host_str() {
            continue;
        }
        let text = String::from_utf8_lossy(&page.bytes[..page.bytes.len().min(PAGE_BYTES_MAX)]);
        let document = Document::page(page.url.to_string(), text.into_owned());
        let (document, said) = read(document, currency).await?;
        told.documents.push(document);
        if let Some(said) = said {
            // What is on the pages behind it is not known.
            told.is_everywhere = false;
            return Ok((told, said));
        }
    }
    let said = told.silence();
    Ok((told, said))
}

/// Reads a text away from the threads that wait for stores, and gives it back with what it says.
async fn read(document: Document, currency: CurrencyCode) -> Result<(Document, Option<Said>), JoinError> {
    let reading = move || {
        let said = document.says(currency);
        (document, said)
    };
    spawn_blocking(reading).await
}

/// The policy that the store's back office holds, with its address.
async fn policy(store: &Store) -> Result<Option<(String, String)>, StoreError> {
    let request = GraphqlRequest::new(documents::POLICIES, "Policies", json!({}));
    let answer = store.graphql(&request, Effect::Safe).await?;
    let Some(data) = answer.data else { return Ok(None) };
    let data = String::from(Box::<str>::from(data));
    Ok(shipping_policy(data.as_bytes()))
}

/// Whether the refusal is about one page, for good, and says nothing of the store's others.
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
