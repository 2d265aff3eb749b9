use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_model::CurrencyCode;
use http::StatusCode;
use http::header::{CONTENT_TYPE, ETAG};
use tokio::time::Instant;
use url::Url;

use crate::answer::{self, Answer};
use crate::body::BodyLimit;
use crate::charset;
use crate::client::Exchange;
use crate::config::is_country;
use crate::error::{RedirectFault, StoreError};
use crate::host::Host;
use crate::hosts::authority;
use crate::retry::Failure;
use crate::robots::Robots;

/// What a caller wants to read; decides the `Accept` header, and whether the answer must be JSON.
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

/// What a fetch brings when it succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
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
    /// What the store says it is.
    pub content_type: Option<String>,
    /// What the store says that its amounts are in, where it does.
    pub cart_currency: Option<CurrencyCode>,
    /// Where it came from in the end, after redirects.
    pub url: Url,
}

/// One store. Cheap to clone; holds no state of its own.
#[derive(Debug, Clone)]
pub struct Store {
    exchange: Arc<Exchange>,
    base_url: Url,
    country: Option<Arc<str>>,
}

/// A page to fetch.
#[derive(Debug)]
struct Call<'a> {
    url: Url,
    accept: Accept,
    is_catalogue: bool,
    if_none_match: Option<&'a str>,
}

/// How long "moved permanently" is believed without asking again.
const MOVED_TTL: Duration = Duration::from_secs(3600);

impl Store {
    pub(crate) fn new(exchange: Arc<Exchange>, base_url: Url) -> Self {
        let country = exchange.config.country.as_deref().map(Arc::from);
        Self {
            exchange,
            base_url,
            country,
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
    pub async fn meta(&self) -> Result<Fetched, StoreError> {
        self.get("/meta.json", Accept::Json).await
    }

    /// `/products.json`: one page of the catalogue, `page` from 1, at most 250 products a page. A page past the end is
    /// an empty list; one beyond the platform's cap of 25,000 products is [`StoreError::PageCap`].
    ///
    /// # Errors
    /// [`StoreError::CatalogueClosed`] where the store does not publish its catalogue.
    pub async fn products_page(
        &self,
        page: u32,
        limit: u16,
        if_none_match: Option<&str>,
    ) -> Result<Fetched, StoreError> {
        let url = self.url(&format!("/products.json?limit={limit}&page={page}"))?;
        self.fetch(Call {
            url,
            accept: Accept::Json,
            is_catalogue: true,
            if_none_match,
        })
        .await
    }

    /// `/collections.json`: one page of the list of collections.
    ///
    /// # Errors
    /// See [`Store::meta`].
    pub async fn collections_page(
        &self,
        page: u32,
        limit: u16,
        if_none_match: Option<&str>,
    ) -> Result<Fetched, StoreError> {
        let url = self.url(&format!("/collections.json?limit={limit}&page={page}"))?;
        self.fetch(Call {
            url,
            accept: Accept::Json,
            is_catalogue: false,
            if_none_match,
        })
        .await
    }

    /// `/collections/{handle}/products.json`: one page of a collection, under the same cap as the catalogue. An unknown
    /// collection is a status of 404, or an empty list on some stores.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the handle cannot be one.
    pub async fn collection_products_page(
        &self,
        handle: &str,
        page: u32,
        limit: u16,
        if_none_match: Option<&str>,
    ) -> Result<Fetched, StoreError> {
        let mut url = self.below(&["collections", handle, "products.json"])?;
        url.set_query(Some(&format!("limit={limit}&page={page}")));
        self.fetch(Call {
            url,
            accept: Accept::Json,
            is_catalogue: false,
            if_none_match,
        })
        .await
    }

    /// `/products/{handle}.js`: one product with prices in minor units and availability.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the handle cannot be one.
    pub async fn product_js(&self, handle: &str) -> Result<Fetched, StoreError> {
        self.product(handle, ".js", Accept::Json).await
    }

    /// `/products/{handle}.json`: one product as the store's back office would describe it.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the handle cannot be one.
    pub async fn product_json(&self, handle: &str) -> Result<Fetched, StoreError> {
        self.product(handle, ".json", Accept::Json).await
    }

    /// `/products/{handle}`: the product's page.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the handle cannot be one.
    pub async fn product_html(&self, handle: &str) -> Result<Fetched, StoreError> {
        self.product(handle, "", Accept::Html).await
    }

    /// A site map: `/sitemap.xml`, or the address of one that it lists. An address on another host is treated as a
    /// redirect there would be.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the location is no URL.
    pub async fn sitemap(&self, location: &str) -> Result<Fetched, StoreError> {
        let url = if location.starts_with('/') {
            self.url(location)?
        } else {
            let url = Url::parse(location).map_err(|_| StoreError::Url {
                reason: "the site map's location is no URL",
            })?;
            self.exchange.follow(&self.base_url, url)?
        };
        self.fetch(Call {
            url,
            accept: Accept::Xml,
            is_catalogue: false,
            if_none_match: None,
        })
        .await
    }

    /// Any page of the store.
    ///
    /// # Errors
    /// [`StoreError::Url`] when the path does not begin with one slash, or leads to another host.
    pub async fn get(&self, path_and_query: &str, accept: Accept) -> Result<Fetched, StoreError> {
        let url = self.url(path_and_query)?;
        self.fetch(Call {
            url,
            accept,
            is_catalogue: false,
            if_none_match: None,
        })
        .await
    }

    /// The store's `robots.txt` as it binds us, from the cache when it is fresh.
    ///
    /// # Errors
    /// [`StoreError::RobotsUnavailable`] when it cannot be read.
    pub async fn robots(&self) -> Result<Arc<Robots>, StoreError> {
        let host = self.exchange.hosts.of(&self.base_url, &self.exchange.config);
        self.exchange.robots_of(&host, &host, &self.base_url).await
    }

    async fn product(&self, handle: &str, suffix: &str, accept: Accept) -> Result<Fetched, StoreError> {
        let url = self.below(&["products", &format!("{handle}{suffix}")])?;
        self.fetch(Call {
            url,
            accept,
            is_catalogue: false,
            if_none_match: None,
        })
        .await
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

    async fn fetch(&self, mut call: Call<'_>) -> Result<Fetched, StoreError> {
        if let Some(country) = &self.country
            && !call.url.query_pairs().any(|(name, _)| name == "country")
        {
            call.url.query_pairs_mut().append_pair("country", country);
        }
        // A site map may name an address on another host: what is there is this store's doing too.
        let host = self.exchange.hosts.of(&self.base_url, &self.exchange.config);
        self.exchange.retrying(&host, || self.attempt(&host, &call)).await
    }

    /// Follows the redirects from where the host lives now to a page.
    async fn attempt(&self, first: &Host, call: &Call<'_>) -> Result<Fetched, Failure> {
        let moved = first
            .state()
            .moved
            .clone()
            .filter(|(_, since)| since.elapsed() < MOVED_TTL && authority(&call.url) == first.name);
        let outcome = match moved {
            None => self.walk(first, call, call.url.clone()).await,
            Some((origin, _)) => {
                let mut url = origin;
                url.set_path(call.url.path());
                url.set_query(call.url.query());
                // What the new place says of the pace is kept here, so the pace is kept here too.
                first.turn(self.exchange.config.retry_after_max()).await?;
                self.walk(first, call, url).await
            }
        };
        if outcome.is_err() {
            first.state().moved = None;
        }
        outcome
    }

    async fn walk(&self, first: &Host, call: &Call<'_>, start: Url) -> Result<Fetched, Failure> {
        let exchange = &self.exchange;
        let headers = exchange.headers(call.accept, self.country.as_deref(), call.if_none_match);
        let mut url = start;
        let mut moved_for_good = authority(&url) == authority(&call.url);
        for _ in 0..=exchange.config.redirects_max {
            let host = exchange.hosts.of(&url, &exchange.config);
            exchange.ask_robots(&host, first, &url).await.map_err(Failure::last)?;
            let answer = exchange
                .hop((&host, first), &url, &headers, exchange.page_limits())
                .await?;
            match answer::redirect(&answer, &url) {
                Some(Ok(next)) => {
                    if let Some(wall) = answer::wall(&next, answer.status) {
                        return Err(wall.into());
                    }
                    moved_for_good &= matches!(answer.status.as_u16(), 301 | 308);
                    url = exchange.follow(&url, next)?;
                }
                Some(Err(fault)) => {
                    return Err(StoreError::Redirect {
                        host: host.name.clone(),
                        to: None,
                        fault,
                    }
                    .into());
                }
                None => {
                    let fetched = finish(answer, call, &url, exchange.config.decoded_bytes_max)?;
                    if moved_for_good {
                        remember_move(first, &call.url, &url);
                    }
                    return Ok(fetched);
                }
            }
        }
        Err(StoreError::Redirect {
            host: first.name.clone(),
            to: Some(authority(&url)),
            fault: RedirectFault::TooMany,
        }
        .into())
    }
}

/// Dots mean other segments, and the URL parser drops some control characters: `"..\t"` would be two dots.
fn is_no_segment(text: &str) -> bool {
    matches!(text, "" | "." | "..") || text.len() > 2048 || text.contains(char::is_control)
}

fn finish(answer: Answer, call: &Call<'_>, url: &Url, bytes_max: u64) -> Result<Fetched, StoreError> {
    if answer.status == StatusCode::NOT_MODIFIED && call.if_none_match.is_some() {
        return Ok(Fetched::NotModified);
    }
    answer::judge(&answer, call.accept, call.is_catalogue)?;
    let text = |name| answer::text(&answer.headers, name).map(str::to_owned);
    let (etag, content_type) = (text(&ETAG), text(&CONTENT_TYPE));
    let limit = BodyLimit::Decoded;
    let bytes = charset::in_utf8(answer.body, content_type.as_deref(), bytes_max)
        .ok_or(StoreError::TooLarge { limit, bytes_max })?;
    Ok(Fetched::Body(Page {
        bytes,
        etag,
        content_type,
        cart_currency: answer::cart_currency(&answer.headers),
        url: url.clone(),
    }))
}

/// Remembers that a host's pages live elsewhere, when the very page that was asked for was found there: the platform's
/// own host and `www` redirect every page to the store's primary domain, and asking twice for each is impolite.
fn remember_move(host: &Host, asked: &Url, found: &Url) {
    if authority(asked) != authority(found) && asked.path() == found.path() && asked.query() == found.query() {
        let mut origin = found.clone();
        origin.set_path("/");
        origin.set_query(None);
        host.state().moved = Some((origin, Instant::now()));
    }
}
