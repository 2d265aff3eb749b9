//! What one store is asked.

use data_model::CurrencyCode;
use pipeline_policies::{Reading, read};
use serde_json::{Value, json};
use storefront::{Accept, Effect, Fetched, GraphqlRequest, Store, StoreError, documents};

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

/// What a store says.
#[derive(Debug)]
pub(crate) enum Said {
    /// This, at this address.
    Terms { url: String, reading: Reading },
    /// Nothing, and it was asked everywhere.
    Nothing,
    /// Nothing where it could be asked; some of it could not be.
    Unknown,
}

/// Asks a store for its terms; tells how many requests that took.
pub(crate) async fn ask(store: &Store, currency: CurrencyCode, requests: &mut u32) -> Result<Said, StoreError> {
    let mut is_sure = true;
    *requests += 1;
    match policy(store).await {
        Ok(Some((url, body))) => {
            return Ok(Said::Terms {
                url,
                reading: read(&body, currency),
            });
        }
        Ok(None) => {}
        Err(error) if is_of_the_page(&error) => is_sure = false,
        Err(error) => return Err(error),
    }
    for path in PAGES {
        let fetched = match store.get(path, Accept::Html).await {
            Err(StoreError::RobotsDisallowed { .. }) => continue,
            fetched => fetched,
        };
        *requests += 1;
        let page = match fetched {
            Ok(Fetched::Body(page)) => page,
            Ok(Fetched::NotModified) => continue,
            Err(StoreError::Status { .. }) => continue,
            Err(error) if is_of_the_page(&error) => {
                is_sure = false;
                continue;
            }
            Err(error) => return Err(error),
        };
        // A page that leads to another shop says nothing of this one.
        if page.url.host_str() != store.base_url().host_str() {
            continue;
        }
        let text = String::from_utf8_lossy(&page.bytes[..page.bytes.len().min(PAGE_BYTES_MAX)]);
        let reading = read(&text, currency);
        if !reading.facts.is_empty() {
            let url = page.url.to_string();
            return Ok(Said::Terms { url, reading });
        }
    }
    Ok(if is_sure { Said::Nothing } else { Said::Unknown })
}

/// The policy that the store's back office holds, with its address.
async fn policy(store: &Store) -> Result<Option<(String, String)>, StoreError> {
    let request = GraphqlRequest::new(documents::POLICIES, "Policies", json!({}));
    let answer = store.graphql(&request, Effect::Safe).await?;
    let Some(data) = answer.data else { return Ok(None) };
    let data = String::from(Box::<str>::from(data));
    let data: Value = serde_json::from_str(&data).unwrap_or_default();
    let policy = &data["shop"]["shippingPolicy"];
    let body = policy["body"].as_str().filter(|body| !body.trim().is_empty());
    let url = policy["url"].as_str().unwrap_or_default();
    Ok(body.map(|body| (url.to_owned(), body.to_owned())))
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
