use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::answer::{self, Answer};
use crate::body::BodyLimit;
use crate::charset;
use crate::error::{RedirectFault, StoreError};
use crate::exchange::Ask;
use crate::host::{Hop, Host};
use crate::hosts::authority;
use crate::page::{Accept, CallResult, FetchOutcome, Page};
use crate::post::Post;
use crate::retry::Failure;
use crate::store::Store;
use crate::terms::{Effect, Terms};

/// A call to a store, including all redirects and retries.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) url: Url,
    pub(crate) accept: Accept,
    pub(crate) is_catalogue: bool,
    pub(crate) if_none_match: Option<&'a str>,
    /// The request body. `None` for a GET.
    pub(crate) post: Option<Post>,
    pub(crate) is_graphql: bool,
    pub(crate) effect: Effect,
    /// True if the store may have received the request but has not reported the outcome.
    pub(crate) is_unanswered: AtomicBool,
    /// True if the call was sent again while an earlier attempt had no answer.
    pub(crate) is_open: AtomicBool,
}

impl Call<'_> {
    pub(crate) fn get(url: Url, accept: Accept) -> Self {
        Self {
            url,
            accept,
            is_catalogue: false,
            if_none_match: None,
            post: None,
            is_graphql: false,
            effect: Effect::Safe,
            is_unanswered: AtomicBool::new(false),
            is_open: AtomicBool::new(false),
        }
    }

    pub(crate) fn post(url: Url, body: Post, effect: Effect) -> Self {
        Self {
            post: Some(body),
            effect,
            ..Self::get(url, Accept::Json)
        }
    }

    /// Returns true if the call must go only to the store's own hosts, because it sends a buyer's data, a token or a
    /// change.
    fn is_private(&self, store: &Store) -> bool {
        self.post.is_some() && (self.effect != Effect::Safe || store.token.is_some())
    }

    /// Returns the address of this call after a redirect to `next`, which was checked before.
    fn redirected(&self, from: &Url, next: Url, status: StatusCode) -> Result<Url, StoreError> {
        let refused = |fault| StoreError::Redirect {
            host: authority(from),
            to: Some(authority(&next)),
            fault,
        };
        if self.post.is_none() {
            return Ok(next);
        }
        // A redirect to the same path on another host only states the host of the store, so that nothing was carried
        // out. Any other redirect may follow a completed action.
        let is_move = matches!(status.as_u16(), 301 | 307 | 308)
            && authority(from) != authority(&next)
            && next.path() == self.url.path();
        if self.effect == Effect::Unsafe && !is_move {
            return Err(refused(RedirectFault::Unsafe));
        }
        if matches!(status.as_u16(), 307 | 308) {
            return Ok(next);
        }
        if authority(from) == authority(&next) {
            return Err(refused(RedirectFault::Page));
        }
        // At another host than the store's primary one, Shopify redirects every POST and GET to the primary host.
        let mut again = next;
        again.set_path(self.url.path());
        again.set_query(self.url.query());
        Ok(again)
    }
}

/// Header in which the Storefront API expects the access token.
const STOREFRONT_TOKEN: HeaderName = HeaderName::from_static("x-shopify-storefront-access-token");

/// Time for which a permanent redirect is remembered.
pub(crate) const MOVED_TTL: Duration = Duration::from_secs(3600);

/// Runs `work` and returns its outcome if it finishes before `deadline`.
pub(crate) async fn until<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match deadline {
        None => work.await,
        Some(deadline) => timeout_at(deadline, work)
            .await
            .unwrap_or(Err(StoreError::Deadline { wait: None })),
    }
}

impl Store {
    pub(crate) fn terms(&self, effect: Effect) -> Terms {
        Terms {
            caller: self.caller,
            ..Terms::new(effect, self.priority, self.deadline)
        }
    }

    /// Reads a page with the prices of the configured country.
    pub(crate) async fn fetch(&self, mut call: Call<'_>) -> Result<FetchOutcome, StoreError> {
        if let Some(country) = &self.country
            && !call.url.query_pairs().any(|(name, _)| name == "country")
        {
            call.url.query_pairs_mut().append_pair("country", country);
        }
        Ok(self.obtain(&call).await?.fetched)
    }

    pub(crate) async fn obtain(&self, call: &Call<'_>) -> Result<CallResult, StoreError> {
        match self.obtain_once(call).await {
            // The redirect was not followed, so the store has not carried out anything.
            Err(StoreError::Redirect {
                to: Some(to),
                fault: RedirectFault::Foreign,
                ..
            }) if self.is_home(&to).await => self.obtain_once(call).await,
            outcome => outcome,
        }
    }

    async fn obtain_once(&self, call: &Call<'_>) -> Result<CallResult, StoreError> {
        let terms = self.terms(call.effect);
        // A site map may name an address on another host. Its outcome counts for the state of this store's host.
        let host = self.exchange.hosts.of(&self.base_url, &self.exchange.config);
        let work = self.exchange.retrying(&host, terms, || {
            call.is_open
                .fetch_or(call.is_unanswered.load(Ordering::Relaxed), Ordering::Relaxed);
            self.attempt(&host, call, terms)
        });
        until(terms.deadline, Box::pin(work)).await
    }

    /// Returns the outcome of a call, or [`StoreError::OutcomeUnknown`] if a call that writes had no readable answer
    /// and may have been carried out.
    pub(crate) fn known<T>(&self, call: &Call<'_>, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        // The error of an idempotent call leaves the outcome open already, unless a later attempt was refused.
        let is_hidden = |error: &StoreError| match call.effect {
            Effect::Safe => false,
            Effect::Idempotent => !error.leaves_open(),
            Effect::Unsafe => true,
        };
        match outcome {
            Err(error) if call.is_unanswered.load(Ordering::Relaxed) && is_hidden(&error) => {
                Err(StoreError::OutcomeUnknown {
                    host: authority(&self.base_url),
                    source: Box::new(error),
                })
            }
            outcome => outcome,
        }
    }

    /// Requests the page at the host's current address and follows redirects.
    async fn attempt(&self, first: &Host, call: &Call<'_>, terms: Terms) -> Result<CallResult, Failure> {
        let moved = first.state().moved.clone();
        let moved = moved
            .filter(|(_, since)| since.elapsed() < MOVED_TTL && authority(&call.url) == first.name)
            .filter(|(origin, _)| !call.is_private(self) || self.is_own(origin));
        let outcome = match moved {
            None => self.walk(first, call, call.url.clone(), terms).await,
            Some((origin, _)) => {
                let mut url = origin;
                url.set_path(call.url.path());
                url.set_query(call.url.query());
                // Refusals at the new address lower the request rate of the original host, so that the call also waits
                // for the original host's rate limiter.
                let hold_max = self.exchange.config.retry_after_max();
                first.turn(first, terms, hold_max).await?.used();
                self.walk(first, call, url, terms).await
            }
        };
        let says_nothing_of_the_move = |failure: &Failure| {
            matches!(
                failure.error,
                StoreError::Deadline { .. } | StoreError::Throttled { .. }
            )
        };
        if outcome
            .as_ref()
            .is_err_and(|failure| !says_nothing_of_the_move(failure))
        {
            first.state().moved = None;
        }
        outcome
    }

    async fn walk(&self, first: &Host, call: &Call<'_>, start: Url, terms: Terms) -> Result<CallResult, Failure> {
        let exchange = &self.exchange;
        let headers = self.headers(call);
        let ask = Ask {
            terms,
            headers: &headers,
            limits: if call.is_graphql {
                exchange.graphql_limits()
            } else {
                exchange.page_limits(terms.priority)
            },
            post: call.post.as_ref(),
            is_head: false,
            is_look: false,
            is_graphql: call.is_graphql,
            is_unanswered: &call.is_unanswered,
        };
        first.challenge_allows(terms).map_err(Failure::last)?;
        let mut url = start;
        let mut moved_for_good = authority(&url) == authority(&call.url);
        for _ in 0..=exchange.config.redirects_max {
            let host = exchange.hosts.of(&url, &exchange.config);
            let hop = Hop { host: &host, by: first };
            exchange.ask_robots(hop, &url, terms).await.map_err(Failure::last)?;
            let answer = exchange.hop(hop, &url, ask).await?;
            match answer::redirect(&answer, &url) {
                Some(Ok(next)) => {
                    if let Some(wall) = answer::wall(&next, answer.status) {
                        return Err(wall.into());
                    }
                    moved_for_good &= matches!(answer.status.as_u16(), 301 | 308);
                    let next = exchange.follow(&url, next)?;
                    let next = call.redirected(&url, next, answer.status)?;
                    if call.is_private(self) && !self.is_own(&next) {
                        return Err(StoreError::Redirect {
                            host: host.name.clone(),
                            to: Some(authority(&next)),
                            fault: RedirectFault::Foreign,
                        }
                        .into());
                    }
                    url = next;
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
                    let found = finish(answer, call, &url, ask.limits.decoded_max)?;
                    if moved_for_good {
                        remember_move(first, &call.url, &url);
                    }
                    return Ok(found);
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

    fn headers(&self, call: &Call<'_>) -> HeaderMap {
        // GraphQL documents contain the country.
        let country = self.country.as_deref().filter(|_| !call.is_graphql);
        let mut headers = self.exchange.headers(call.accept, country, call.if_none_match);
        if call.post.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(token) = self.token.as_ref().filter(|_| call.is_graphql)
            && let Ok(mut value) = HeaderValue::from_str(token.expose())
        {
            value.set_sensitive(true);
            headers.insert(STOREFRONT_TOKEN, value);
        }
        headers
    }
}

fn finish(mut answer: Answer, call: &Call<'_>, url: &Url, bytes_max: u64) -> Result<CallResult, StoreError> {
    let Answer { status, .. } = answer;
    if status == StatusCode::NOT_MODIFIED && call.if_none_match.is_some() {
        return Ok(CallResult {
            fetched: FetchOutcome::NotModified,
            headers: answer.headers,
        });
    }
    let text = |name| answer::text(&answer.headers, name).map(str::to_owned);
    let (etag, content_type) = (text(&ETAG), text(&CONTENT_TYPE));
    // The check covers the body in UTF-8, which the reader gets.
    if status.is_success() {
        let limit = BodyLimit::Decoded;
        let body = std::mem::take(&mut answer.body);
        answer.body = charset::in_utf8(body, content_type.as_deref(), bytes_max)
            .ok_or(StoreError::TooLarge { limit, bytes_max })?;
    }
    answer::judge(&answer, call.accept, call.is_catalogue)?;
    let page = Page {
        bytes: answer.body,
        etag,
        content_type,
        cart_currency: answer::cart_currency(&answer.headers),
        url: url.clone(),
    };
    Ok(CallResult {
        fetched: FetchOutcome::Body(page),
        headers: answer.headers,
    })
}

/// Remembers that a host's pages are on another host, if exactly the requested page was found there. The
/// `myshopify.com` host and `www` redirect every page to the store's primary domain, and two requests per page would be
/// impolite.
fn remember_move(host: &Host, asked: &Url, found: &Url) {
    if authority(asked) != authority(found) && asked.path() == found.path() && asked.query() == found.query() {
        let mut origin = found.clone();
        origin.set_path("/");
        origin.set_query(None);
        host.state().moved = Some((origin, Instant::now()));
    }
}
