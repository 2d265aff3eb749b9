use std::sync::Arc;

use data_model::Secret;
use tokio::time::Instant;
use url::Url;

use crate::config::is_country;
use crate::error::StoreError;
use crate::exchange::Exchange;
use crate::terms::{CallerTag, Priority};

/// A store with the settings of its calls: country, priority and deadline. The value is cheap to clone and has no state
/// of its own.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) base_url: Url,
    pub(crate) country: Option<Arc<str>>,
    pub(crate) priority: Priority,
    pub(crate) caller: Option<CallerTag>,
    pub(crate) deadline: Option<Instant>,
    /// Public Storefront API token of the store, used only for GraphQL.
    pub(crate) token: Option<Arc<Secret>>,
    /// Hosts of the store except the main one, without `www.`. A port is included unless it is the scheme's default.
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

    /// Sets the country (two uppercase letters) whose prices the store shows, instead of
    /// [`crate::StorefrontConfig::country`]. `None` means the country of the machine's location.
    ///
    /// # Errors
    /// [`StoreError::Url`] if the text is not a country code.
    pub fn in_country(mut self, country: Option<&str>) -> Result<Self, StoreError> {
        if !country.is_none_or(is_country) {
            return Err(StoreError::Url {
                reason: "a country must be two uppercase letters",
            });
        }
        self.country = country.map(Arc::from);
        Ok(self)
    }

    /// Sets the priority of the store's calls. All calls to a host share its rate limit and its connections. An
    /// interactive call goes before crawl calls, and has lower size limits
    /// ([`crate::StorefrontConfig::interactive_body_bytes_max`]).
    #[must_use]
    pub fn with_priority(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }

    /// Sets the caller on whose behalf calls are made. Interactive calls of different callers take turns at a host,
    /// however many calls one caller makes. Every second turn is for calls without a caller, which are made for all
    /// callers. A bot challenge or repeated errors (5xx) in answer to one caller's calls pause the calls of all
    /// callers, but not the calls without a caller.
    #[must_use]
    pub fn with_caller(self, caller: &str) -> Self {
        Self {
            caller: Some(CallerTag::of(caller)),
            ..self
        }
    }

    /// Sets a deadline for every call, including waits for its turn and retries. A call whose turn would come later
    /// fails immediately with the length of the wait, as [`StoreError::Deadline`], or as [`StoreError::Throttled`] if
    /// the store requested the wait.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self {
            deadline: Some(deadline),
            ..self
        }
    }

    /// Sets the token for the store's Storefront API (`X-Shopify-Storefront-Access-Token`), which customer operations
    /// need. A token that is not a valid header value is not sent.
    #[must_use]
    pub fn with_token(self, token: Secret) -> Self {
        Self {
            token: Some(Arc::new(token)),
            ..self
        }
    }

    /// Sets further hosts of the store, each with its port unless that is the scheme's default. Calls that carry a
    /// token or change something go only to the store's hosts, whatever redirects elsewhere.
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

    pub(crate) fn is_own(&self, url: &Url) -> bool {
        let place = place(url);
        place == self::place(&self.base_url) || self.is_named(&place) || self.home().as_ref() == Some(&place)
    }

    pub(crate) fn is_named(&self, host: &str) -> bool {
        self.own_hosts.iter().any(|own| own == site(host))
    }

    /// Returns the address from which the store was created.
    #[must_use]
    pub fn base_url(&self) -> &Url {
        &self.base_url
    }

    /// Returns the current request rate for the store's host, in requests per second.
    #[must_use]
    pub fn rate_per_s(&self) -> f64 {
        self.exchange
            .hosts
            .of(&self.base_url, &self.exchange.config)
            .state()
            .pace
            .rate_per_s()
    }

    /// Builds a URL from a path and query under the store's address. The result is checked after parsing, because
    /// `//host/x` and `/\host/x` would lead to another host.
    pub(crate) fn url(&self, path_and_query: &str) -> Result<Url, StoreError> {
        const WRONG: StoreError = StoreError::Url {
            reason: "a path must begin with exactly one slash",
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

    /// Builds a URL from whole path segments under the store's address. Each segment is percent-encoded.
    pub(crate) fn below(&self, segments: &[&str]) -> Result<Url, StoreError> {
        const WRONG: StoreError = StoreError::Url {
            reason: "not a valid handle",
        };
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

/// Returns true for dot segments, including those with control characters. The URL parser drops some of these, so that
/// `"..\t"` would become two dots.
fn is_no_segment(text: &str) -> bool {
    matches!(text, "" | "." | "..") || text.len() > 2048 || text.contains(char::is_control)
}

/// Returns an address's host without `www.`, with its port unless that is the scheme's default.
pub(crate) fn place(url: &Url) -> String {
    let host = site(url.host_str().unwrap_or_default());
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Both forms of a host, with and without `www.`, are the same shop.
fn site(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}
