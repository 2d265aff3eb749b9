//! Requests to a store, each with its path.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use serde::Serialize;

use crate::call::{Call, until};
use crate::error::StoreError;
use crate::graphql::{self, GraphqlAnswer, GraphqlRequest};
use crate::host::Hop;
use crate::page::{Accept, CallResult, FetchOutcome, Page};
use crate::post::Post;
use crate::robots::Robots;
use crate::store::Store;
use crate::terms::Effect;

impl Store {
    /// Fetches `/meta.json`: the store's description of itself.
    ///
    /// # Errors
    /// Any [`StoreError`]. The same applies to every method below.
    #[boxed]
    pub async fn meta(&self) -> Result<FetchOutcome, StoreError> {
        self.get("/meta.json", Accept::Json).await
    }

    /// Fetches one page of the catalogue from `/products.json`, with at most 250 products. `page` starts at 1. A page
    /// past the end is an empty list, and a page beyond Shopify's cap of 25,000 products is [`StoreError::PageCap`].
    ///
    /// # Errors
    /// [`StoreError::CatalogueClosed`] if the store does not publish its catalogue.
    #[boxed]
    pub async fn products_page(
        &self,
        page: u32,
        limit: u16,
        if_none_match: Option<&str>,
    ) -> Result<FetchOutcome, StoreError> {
        let url = self.url(&format!("/products.json?limit={limit}&page={page}"))?;
        self.fetch(Call {
            is_catalogue: true,
            if_none_match,
            ..Call::get(url, Accept::Json)
        })
        .await
    }

    /// Fetches one page of the list of collections from `/collections.json`.
    #[boxed]
    pub async fn collections_page(
        &self,
        page: u32,
        limit: u16,
        if_none_match: Option<&str>,
    ) -> Result<FetchOutcome, StoreError> {
        let path = format!("/collections.json?limit={limit}&page={page}");
        self.get_unless(&path, Accept::Json, if_none_match).await
    }

    /// Fetches one page of a collection from `/collections/{handle}/products.json`, under the same cap as the
    /// catalogue. An unknown collection gives status 404, or an empty list on some stores.
    ///
    /// # Errors
    /// [`StoreError::Url`] if the handle is not valid.
    #[boxed]
    pub async fn collection_products_page(
        &self,
        handle: &str,
        page: u32,
        limit: u16,
        if_none_match: Option<&str>,
    ) -> Result<FetchOutcome, StoreError> {
        let mut url = self.below(&["collections", handle, "products.json"])?;
        url.set_query(Some(&format!("limit={limit}&page={page}")));
        self.fetch(Call {
            if_none_match,
            ..Call::get(url, Accept::Json)
        })
        .await
    }

    /// Fetches `/products/{handle}.js`: one product with prices in minor units and availability.
    ///
    /// # Errors
    /// [`StoreError::Url`] if the handle is not valid.
    #[boxed]
    pub async fn product_js(&self, handle: &str) -> Result<FetchOutcome, StoreError> {
        self.product(handle, ".js", Accept::Json).await
    }

    /// Fetches `/products/{handle}`: the product's HTML page.
    ///
    /// # Errors
    /// [`StoreError::Url`] if the handle is not valid.
    #[boxed]
    pub async fn product_html(&self, handle: &str) -> Result<FetchOutcome, StoreError> {
        self.product(handle, "", Accept::Html).await
    }

    /// Fetches any page of the store.
    ///
    /// # Errors
    /// [`StoreError::Url`] if the path does not begin with one slash, or leads to another host.
    #[boxed]
    pub async fn get(&self, path_and_query: &str, accept: Accept) -> Result<FetchOutcome, StoreError> {
        self.get_unless(path_and_query, accept, None).await
    }

    /// Fetches any page of the store, unless the page still matches the given validator.
    ///
    /// # Errors
    /// The errors of [`Store::get`].
    #[boxed]
    pub async fn get_unless(
        &self,
        path_and_query: &str,
        accept: Accept,
        if_none_match: Option<&str>,
    ) -> Result<FetchOutcome, StoreError> {
        let url = self.url(path_and_query)?;
        self.fetch(Call {
            if_none_match,
            ..Call::get(url, accept)
        })
        .await
    }

    /// Returns the rules of the store's `robots.txt` for this crawler, from the cache if they are fresh.
    ///
    /// # Errors
    /// [`StoreError::RobotsUnavailable`] if the file cannot be read.
    #[boxed]
    pub async fn robots(&self) -> Result<Arc<Robots>, StoreError> {
        let host = self.exchange.hosts.of(&self.base_url, &self.exchange.config);
        let terms = self.terms(Effect::Safe);
        let robots = self.exchange.robots_of(Hop::to(&host), &self.base_url, terms);
        until(terms.deadline, Box::pin(robots)).await
    }

    /// Posts JSON to a path of the store and returns its JSON response.
    ///
    /// A store that has moved to another host redirects to that host. A safe or idempotent call is then posted again to
    /// the same path of the new host (or to the target of 307 and 308), after the address is checked. An unsafe call
    /// follows only 301, 307 and 308 to the same path at another of the brand's own hosts, because the first host did
    /// not execute the call then.
    ///
    /// # Errors
    /// [`StoreError::OutcomeUnknown`] if an unsafe call got no response but may have been sent.
    /// [`StoreError::Redirect`] if an unsafe call is redirected elsewhere.
    pub async fn post_json<T>(&self, path: &str, body: &T, effect: Effect) -> Result<Page, StoreError>
    where
        T: Serialize + ?Sized + Sync,
    {
        let call = Call::post(self.url(path)?, Post::Now(json(body)?), effect);
        let found = self.obtain(&call).await.and_then(CallResult::into_page);
        self.known(&call, found)
    }

    /// Sends a request to the store's Storefront API: `POST {base}/api/{version}/graphql.json`, without a cookie. A
    /// token is sent only after [`Store::with_token`]. `THROTTLED` in a response with status 200 lowers the request
    /// rate like a 429 and is [`StoreError::Throttled`]. All other errors are part of the response. A document that
    /// writes must have one root field, because the effects of several fields cannot be distinguished.
    ///
    /// # Errors
    /// The errors of [`Store::post_json`], and [`StoreError::NotJson`] if the response is not a GraphQL response.
    #[boxed]
    pub async fn graphql(&self, request: &GraphqlRequest, effect: Effect) -> Result<GraphqlAnswer, StoreError> {
        self.query(Post::Now(json(request)?), effect).await
    }

    /// Builds the request when the call gets its turn, so that it includes data from the time of the wait. Otherwise
    /// the same as [`Store::graphql`]. `make` is called once, regardless of retries. If `make` returns `None`, no
    /// request is sent.
    ///
    /// # Errors
    /// The errors of [`Store::graphql`], and [`StoreError::Withdrawn`] if `make` returns `None`.
    pub async fn graphql_at_turn(
        &self,
        make: impl FnOnce() -> Option<GraphqlRequest> + Send + 'static,
        effect: Effect,
    ) -> Result<GraphqlAnswer, StoreError> {
        let post = Post::at_turn(move || json(&make().ok_or(StoreError::Withdrawn)?));
        self.query(post, effect).await
    }

    async fn query(&self, post: Post, effect: Effect) -> Result<GraphqlAnswer, StoreError> {
        let path = format!("/api/{}/graphql.json", self.exchange.config.graphql_version);
        let call = Call {
            is_graphql: true,
            ..Call::post(self.url(&path)?, post, effect)
        };
        let found = self.obtain(&call).await.and_then(graphql::answer);
        self.known(&call, found).map(|answer| GraphqlAnswer {
            is_open: call.is_open.load(Ordering::Relaxed),
            ..answer
        })
    }

    async fn product(&self, handle: &str, suffix: &str, accept: Accept) -> Result<FetchOutcome, StoreError> {
        let url = self.below(&["products", &format!("{handle}{suffix}")])?;
        self.fetch(Call::get(url, accept)).await
    }
}

fn json<T: Serialize + ?Sized>(body: &T) -> Result<Bytes, StoreError> {
    let written = serde_json::to_vec(body).map_err(|source| StoreError::Unwritable { source })?;
    Ok(written.into())
}
