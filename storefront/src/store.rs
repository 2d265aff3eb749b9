use std::sync::Arc;

use data_model::Secret;
use tokio::time::Instant;
use url::Url;

use crate::config::is_country;
use crate::error::StoreError;
use crate::exchange::Exchange;
use crate::terms::{CallerTag, Priority};

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

    /// A path and query under the store's address. Text, so what it means is checked after parsing: `//host/x` and
    /// `/\host/x` would lead elsewhere.
    pub(crate) fn url(&self, path_and_query: &str) -> Result<Url, StoreError> {
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
    pub(crate) fn below(&self, segments: &[&str]) -> Result<Url, StoreError> {
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

/// Dots mean other segments, and the URL parser drops some control characters: `"..\t"` would be two dots.
fn is_no_segment(text: &str) -> bool {
    matches!(text, "" | "." | "..") || text.len() > 2048 || text.contains(char::is_control)
}

/// A host as one of a shop: with `www.` and without, it is the same one.
fn site(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}
