use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use data_model::{CurrencyCode, Secret};
use serde::Serialize;
use tokio::time::Instant;
use url::Url;

use crate::call::{Call, CallResult, until};
use crate::client::Exchange;
use crate::config::is_country;
use crate::error::StoreError;
use crate::graphql::{self, GraphqlAnswer, GraphqlRequest};
use crate::post::Post;
use crate::robots::Robots;
use crate::terms::{CallerTag, Effect, Priority};

/// The kind of answer that a caller wants to read; decides the `Accept` header, and whether the answer must be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// JSON; anything else that comes is [`StoreError::NotJson`].
    Json,
    /// A page of the shop.
    Html,
    /// A site map.
    Xml,
    /// Plain text.
    Text,
    /// Whatever comes.
    Any,
}

impl Accept {
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Json => "application/json, text/javascript;q=0.9, */*;q=0.1",
            Self::Html => "text/html, application/xhtml+xml;q=0.9, */*;q=0.1",
            Self::Xml => "application/xml, text/xml;q=0.9, */*;q=0.1",
            Self::Text => "text/plain, */*;q=0.1",
            Self::Any => "*/*",
        }
    }
}

/// The result of a fetch that succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The page is the one whose validator was given (304).
    NotModified,
    /// The page.
    Body(Page),
}

/// A page as the store sent it, decompressed and complete; in UTF-8 where the store says that it is in Latin-1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The body.
    pub bytes: Bytes,
    /// Its validator, to be given as `if_none_match` the next time. Stores need not send one.
    pub etag: Option<String>,
    /// The type that the store says it is.
    pub content_type: Option<String>,
    /// The currency that the store says that its amounts are in, where it does.
    pub cart_currency: Option<CurrencyCode>,
    /// The address that it came from in the end, after redirects.
    pub url: Url,
}

/// One store, and how its calls are made: for which country, how urgent, until when. Cheap to clone; holds no state of
/// its own.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) base_url: Url,
    pub(crate) country: Option<Arc<str>>,
    pub(crate) priority: Priority,
    pub(crate) caller: Option<CallerTag>,
    pub(crate) deadline: Option<Instant>,
    /// The public Storefront token of the store, for GraphQL alone.
    pub(crate) token: Option<Arc<Secret>>,
    /// Other hosts that are the store's own, without `www.`, each with its port where that is not the scheme's own.
    own_hosts: Arc<[String]>,
}

impl Store {
    pub(crate) fn new(exchange: Arc<Exchange>, base_url: Url) -> Self {
        let country = exchange.config.country.as_deref().map(Arc::from);
        Self {
            exchange,
            base_url,
            country,
            priority: Priority::default(),
            caller: None,
            deadline: None,
            token: None,
            own_hosts: Arc::default(),
        }
    }

    /// The same store with the prices that it shows in this country (two upper-case letters), whatever the
    /// configuration says; `None` for those of the machine's own location. See [`crate::StorefrontConfig::country`].
    ///
    /// # Errors
    /// [`StoreError::Url`] when it is no country code.
    pub fn in_country(mut self, country: Option<&str>) -> Result<Self, StoreError> {
        if !country.is_none_or(is_country) {
            return Err(StoreError::Url {
                reason: "a country is two upper-case letters",
            });
        }
        self.country = country.map(Arc::from);
        Ok(self)
    }

    /// The same store, asked for one who waits. All calls to a host share its pace and its connections; an interactive
    /// one goes before those of a crawl, and may not be answered with as much
    /// ([`crate::StorefrontConfig::interactive_body_bytes_max`]).
    #[must_use]
    pub fn with_priority(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }

    /// The same store, asked in the name of one of many callers. At a host interactive calls of different callers take turns,
    /// however many one of them makes; every other turn is for calls in nobody's name, which are made for all. A bot challenge
    /// that one of them meets keeps them all waiting, and nobody else.
    #[must_use]
    pub fn with_caller(self, caller: &str) -> Self {
        Self {
            caller: Some(CallerTag::of(caller)),
            ..self
        }
    }

    /// The same store, of which no call takes longer than until then, waits for its turn and retries included. A call
    /// whose turn would come up later fails at once and names the wait: [`StoreError::Deadline`], or
    /// [`StoreError::Throttled`] where the store asked to be left alone for longer.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self {
            deadline: Some(deadline),
            ..self
        }
    }

    /// The same store, whose Storefront API is shown this token (`X-Shopify-Storefront-Access-Token`): what concerns
    /// customers needs one. A token that is no header's value is not sent.
    #[must_use]
    pub fn with_token(self, token: Secret) -> Self {
        Self {
            token: Some(Arc::new(token)),
            ..self
        }
    }

    /// The same store, known to live under these hosts too, each with its port where that is not the scheme's own. What is
    /// sent with a token, or changes something, is sent to no other host, whatever redirects there.
    #[must_use]
    pub fn with_own_hosts<'h>(self, hosts: impl IntoIterator<Item = &'h str>) -> Self {
        let own_hosts = hosts
            .into_iter()
            .map(|host| site(&host.to_ascii_lowercase()).to_owned());
        Self {
            own_hosts: own_hosts.collect(),
            ..self
        }
    }

    /// True of an address that is one of the store's own.
    pub(crate) fn is_own(&self, url: &Url) -> bool {
        let place = |url: &Url| {
            let host = site(url.host_str().unwrap_or_default());
            url.port()
                .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
        };
        let place_of = place(url);
        place_of == place(&self.base_url) || self.own_hosts.contains(&place_of)
    }

    /// The address it was made from.
    #[must_use]
    pub fn base_url(&self) -> &Url {
        &self.base_url
    }

    /// The pace at which the host of its address is being asked, in requests per second.
    #[must_use]
    pub fn rate_per_s(&self) -> f64 {
        self.exchange
            .hosts
            .of(&self.base_url, &self.exchange.config)
            .state()
            .pace
            .rate_per_s()
    }

    /// `/meta.json`: what the store says about itself.
    ///
    /// # Errors
    /// Any [`StoreError`]; so for every method below.
    #[boxed]
    pub async fn meta(&self) -> Result<FetchOutcome, StoreError> {
        self.get("/meta.json", Accept::Json).await
    }

    /// `/products.json`: one page of the catalogue, `page` from 1, at most 250 products a page. A page past the end is
    /// an empty list; one beyond the platform's cap of 25,000 products is [`StoreError::PageCap`].
    ///
    /// # Errors
    /// [`StoreError::CatalogueClosed`] where the store does not publish its catalogue.
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

    /// `/collections.json`: one page of the list of collections.
    ///
    /// # Errors
    /// See [`Store::meta`].
    #[boxed]
    pub async fn collections_page(
        &self,
        page: u32,
        limit: u16,
        if_none_match: Option<&str>,
    ) -> Result<FetchOutcome, StoreError> {
        let url = self.url(&format!("/collections.json?limit={limit}&page={page}"))?;
        self.fetch(Call {
            if_none_match,
            ..Call::get(url, Accept::Json)
        })
        .await
    }

    /// `/collections/{handle}/products.json`: one page of a collection, under the same cap as the catalogue. An unknown
    /// collection is a status of 404, or an empty list on some stores.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the handle cannot be one.
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

    /// `/products/{handle}.js`: one product with prices in minor units and availability.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the handle cannot be one.
    #[boxed]
    pub async fn product_js(&self, handle: &str) -> Result<FetchOutcome, StoreError> {
        self.product(handle, ".js", Accept::Json).await
    }

    /// `/products/{handle}.json`: one product as the store's back office would describe it.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the handle cannot be one.
    #[boxed]
    pub async fn product_json(&self, handle: &str) -> Result<FetchOutcome, StoreError> {
        self.product(handle, ".json", Accept::Json).await
    }

    /// `/products/{handle}`: the product's page.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the handle cannot be one.
    #[boxed]
    pub async fn product_html(&self, handle: &str) -> Result<FetchOutcome, StoreError> {
        self.product(handle, "", Accept::Html).await
    }

    /// A site map: `/sitemap.xml`, or the address of one that it lists. An address on another host is treated as a
    /// redirect there would be.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the location is no URL.
    #[boxed]
    pub async fn sitemap(&self, location: &str) -> Result<FetchOutcome, StoreError> {
        let url = if location.starts_with('/') {
            self.url(location)?
        } else {
            let url = Url::parse(location).map_err(|_| StoreError::Url {
                reason: "the site map's location is no URL",
            })?;
            self.exchange.follow(&self.base_url, url)?
        };
        self.fetch(Call::get(url, Accept::Xml)).await
    }

    /// Any page of the store.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the path does not begin with one slash, or leads to another host.
    #[boxed]
    pub async fn get(&self, path_and_query: &str, accept: Accept) -> Result<FetchOutcome, StoreError> {
        let url = self.url(path_and_query)?;
        self.fetch(Call::get(url, accept)).await
    }

    /// Any page of the store, unless it is the one whose validator is given.
    ///
    /// # Errors
    /// See [`Store::get`].
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

    /// The store's `robots.txt` as it binds us, from the cache when it is fresh.
    ///
    /// # Errors
    /// [`StoreError::RobotsUnavailable`] when it cannot be read.
    #[boxed]
    pub async fn robots(&self) -> Result<Arc<Robots>, StoreError> {
        let host = self.exchange.hosts.of(&self.base_url, &self.exchange.config);
        let terms = self.terms(Effect::Safe);
        let robots = self.exchange.robots_of((&host, &host), &self.base_url, terms);
        until(terms.deadline, Box::pin(robots)).await
    }

    /// Posts JSON to a path of the store and brings its JSON answer.
    ///
    /// A store that has moved to another host redirects there: a safe or idempotent call is posted again at the same path
    /// of that host (or where 307 and 308 lead), once its address is judged. An unsafe one is not; it goes to where earlier
    /// calls found the store to have moved for good.
    ///
    /// # Errors
    /// [`StoreError::OutcomeUnknown`] when an unsafe call may have been sent and was not answered;
    /// [`StoreError::Redirect`] when one is redirected.
    pub async fn post_json<T>(&self, path: &str, body: &T, effect: Effect) -> Result<Page, StoreError>
    where
        T: Serialize + ?Sized + Sync,
    {
        let call = Call::post(self.url(path)?, Post::Now(json(body)?), effect);
        let found = self.obtain(&call).await.and_then(CallResult::into_page);
        self.known(&call, found)
    }

    /// Asks the store's Storefront API: `POST {base}/api/{version}/graphql.json`, without a cookie, and without a token but
    /// for [`Store::with_token`].
    /// `THROTTLED` in an answer of status 200 slows the pace as a 429 does and is [`StoreError::Throttled`]; all other errors
    /// come back in the answer. A document that writes must have one root field: what a part of it did is not told apart.
    ///
    /// # Errors
    /// As [`Store::post_json`]; [`StoreError::NotJson`] when the answer is none of GraphQL.
    #[boxed]
    pub async fn graphql(&self, request: &GraphqlRequest, effect: Effect) -> Result<GraphqlAnswer, StoreError> {
        self.query(Post::Now(json(request)?), effect).await
    }

    /// The same with a request that is made when its turn comes: what was learnt meanwhile goes with it, and whoever made
    /// it need not wait for another turn. `make` is called once, whatever the retries; where it has nothing to ask for any
    /// more, nothing is sent.
    ///
    /// # Errors
    /// As [`Store::graphql`]; [`StoreError::Withdrawn`] when `make` gives nothing.
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

    /// A path and query under the store's address. Text, so what it means is checked after parsing: `//host/x` and
    /// `/\host/x` would lead elsewhere.
    fn url(&self, path_and_query: &str) -> Result<Url, StoreError> {
        const WRONG: StoreError = StoreError::Url {
            reason: "a path begins with one slash",
        };
        if !path_and_query.starts_with('/') || path_and_query.len() > 8192 {
            return Err(WRONG);
        }
        let root = self.base_url.path().trim_end_matches('/');
        let url = self
            .base_url
            .join(&format!("{root}{path_and_query}"))
            .map_err(|_| WRONG)?;
        let stays = url.origin() == self.base_url.origin() && url.username().is_empty() && url.password().is_none();
        if stays { Ok(url) } else { Err(WRONG) }
    }

    /// A path of whole segments under the store's address; a segment is encoded, never read.
    fn below(&self, segments: &[&str]) -> Result<Url, StoreError> {
        const WRONG: StoreError = StoreError::Url { reason: "not a handle" };
        if segments.iter().any(|segment| is_no_segment(segment)) {
            return Err(WRONG);
        }
        let mut url = self.base_url.clone();
        url.path_segments_mut()
            .map_err(|()| WRONG)?
            .pop_if_empty()
            .extend(segments);
        Ok(url)
    }
}

fn json<T: Serialize + ?Sized>(body: &T) -> Result<Bytes, StoreError> {
    let written = serde_json::to_vec(body).map_err(|source| StoreError::Unwritable { source })?;
    Ok(written.into())
}

/// Dots mean other segments, and the URL parser drops some control characters: `"..\t"` would be two dots.
fn is_no_segment(text: &str) -> bool {
    matches!(text, "" | "." | "..") || text.len() > 2048 || text.contains(char::is_control)
}

/// A host as one of a shop: with `www.` and without, it is the same one.
fn site(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}
