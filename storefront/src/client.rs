use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_model::Clock;
use http::header::{ACCEPT, ACCEPT_ENCODING, COOKIE, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use tokio::time::Instant;
use url::Url;

use crate::address::{Zone, check_url};
use crate::answer::{Answer, Refused};
use crate::body::{self, BodyError, Limits};
use crate::config::{ConfigError, StorefrontConfig};
use crate::error::{RedirectFault, StoreError};
use crate::host::Host;
use crate::hosts::{Hosts, authority};
use crate::memory::{MemoryBudget, OverBudget};
use crate::patience::{Waited, within};
use crate::resolve::{Lookup, SystemLookup};
use crate::retry::{self, Failure};
use crate::store::{Accept, Store};
use crate::transport::{Network, Outgoing, Transport, TransportError};

/// The one client of all stores. Cheap to clone; clones share what they know about each host.
#[derive(Debug, Clone)]
pub struct Storefront {
    exchange: Arc<Exchange>,
}

impl Storefront {
    /// A client over the network.
    ///
    /// # Errors
    /// [`ConfigError`] when a value of the configuration is out of its range or the HTTP client cannot be built.
    pub fn new(config: StorefrontConfig, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        Self::with_lookup(config, clock, Arc::new(SystemLookup))
    }

    /// A client over the network that asks `lookup` for addresses instead of the system's resolver. What it says is
    /// judged all the same.
    ///
    /// # Errors
    /// As [`Storefront::new`].
    pub fn with_lookup(
        config: StorefrontConfig,
        clock: Arc<dyn Clock>,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let network = Network::new(&config, lookup)?;
        Self::with_transport(config, clock, Arc::new(network))
    }

    /// A client over something else than the network: recorded traffic, or a test's script. The transport must judge
    /// the addresses that it resolves names to.
    ///
    /// # Errors
    /// [`ConfigError::Value`] when a value of the configuration is out of its range.
    pub fn with_transport(
        config: StorefrontConfig,
        clock: Arc<dyn Clock>,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            exchange: Arc::new(Exchange {
                config,
                clock,
                transport,
                hosts: Arc::new(Hosts::new()),
                memory: MemoryBudget::default(),
            }),
        })
    }

    /// The same client, with what it knows about each host, that draws on `memory` for what stores send.
    #[must_use]
    pub fn with_memory(&self, memory: MemoryBudget) -> Self {
        Self {
            exchange: Arc::new(Exchange {
                memory,
                ..Exchange::clone(&self.exchange)
            }),
        }
    }

    /// What it draws on for what stores send.
    #[must_use]
    pub fn memory(&self) -> &MemoryBudget {
        &self.exchange.memory
    }

    /// A store by its address: scheme, host and, for a store in a market's folder, a path. Sends nothing.
    ///
    /// # Errors
    /// [`StoreError::AddressRefused`] when the address is not public, [`StoreError::Url`] when it has a query or fragment.
    pub fn store(&self, base_url: &Url) -> Result<Store, StoreError> {
        if base_url.query().is_some() || base_url.fragment().is_some() {
            return Err(StoreError::Url {
                reason: "a store's address has no query and no fragment",
            });
        }
        let base_url = self.exchange.checked(base_url.clone())?;
        Ok(Store::new(Arc::clone(&self.exchange), base_url))
    }

    /// The configuration in use.
    #[must_use]
    pub fn config(&self) -> &StorefrontConfig {
        &self.exchange.config
    }

    /// Hosts whose state is kept at present.
    #[must_use]
    pub fn hosts_known(&self) -> usize {
        self.exchange.hosts.len()
    }
}

/// Sends single requests and keeps what they teach about each host.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) config: StorefrontConfig,
    clock: Arc<dyn Clock>,
    transport: Arc<dyn Transport>,
    pub(crate) hosts: Arc<Hosts>,
    memory: MemoryBudget,
}

/// Where an address leads, in words: its host, or its scheme where there is none.
fn place(url: &Url) -> String {
    match url.host_str() {
        Some(_) => authority(url),
        None => format!("a {}: address", url.scheme()),
    }
}

/// What is read of an answer that is no page: enough to recognise it, and to keep its connection.
const ASIDE_BYTES_MAX: u64 = 64 << 10;

impl Exchange {
    /// Judges an address and brings it into the form in which it is used.
    pub(crate) fn checked(&self, mut url: Url) -> Result<Url, StoreError> {
        if let Some(name) = url
            .host_str()
            .filter(|host| host.ends_with('.'))
            .map(|host| host.trim_end_matches('.').to_owned())
        {
            url.set_host(Some(&name)).map_err(|_| StoreError::Url {
                reason: "it has no usable host",
            })?;
        }
        let refuse = |reason| StoreError::AddressRefused {
            host: place(&url),
            reason,
        };
        check_url(&url, self.config.allow_loopback).map_err(refuse)?;
        url.set_fragment(None);
        Ok(url)
    }

    /// Judges where a redirect leads: never from https to http, never from a public host to this machine.
    pub(crate) fn follow(&self, from: &Url, to: Url) -> Result<Url, StoreError> {
        let to = self.checked(to).map_err(|error| match error {
            StoreError::AddressRefused { host, reason } => StoreError::AddressRefused {
                host: format!("{host}, to which {} redirects,", authority(from)),
                reason,
            },
            other => other,
        })?;
        let zone = |url: &Url| check_url(url, self.config.allow_loopback).ok();
        let fault = if zone(&to) == Some(Zone::Loopback) && zone(from) != Some(Zone::Loopback) {
            RedirectFault::Inward
        } else if from.scheme() == "https" && to.scheme() == "http" && zone(&to) != Some(Zone::Loopback) {
            RedirectFault::Downgrade
        } else {
            return Ok(to);
        };
        Err(StoreError::Redirect {
            host: authority(from),
            to: Some(place(&to)),
            fault,
        })
    }

    pub(crate) fn headers(&self, accept: Accept, country: Option<&str>, if_none_match: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(6);
        let mut set = |name, value: &str| {
            // A validator that is no header value is not sent, and the page comes in full.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        set(USER_AGENT, &self.config.user_agent);
        set(ACCEPT, accept.header());
        set(ACCEPT_ENCODING, "gzip, br");
        if let Some(country) = country {
            set(COOKIE, &format!("localization={country}"));
        }
        if let Some(validator) = if_none_match {
            set(IF_NONE_MATCH, validator);
        }
        headers
    }

    pub(crate) fn page_limits(&self) -> Limits {
        Limits {
            wire_max: self.config.body_bytes_max,
            decoded_max: self.config.decoded_bytes_max,
            cut: false,
        }
    }

    /// Runs an attempt again while that is worth it: transient errors only, within the retries of one request, the
    /// host's retry budget, and as long as its breaker stays closed. A refusal's wait is kept by the pace.
    pub(crate) async fn retrying<T, F, A>(&self, host: &Host, mut attempt: F) -> Result<T, StoreError>
    where
        F: FnMut() -> A,
        A: Future<Output = Result<T, Failure>>,
    {
        let mut delays = retry::backoff(&self.config);
        host.state().budget.pay_in();
        loop {
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(Failure { error, is_final: true }) => return Err(error),
                Err(Failure { error, .. }) => error,
            };
            let too_long = |wait: &Option<Duration>| wait.is_some_and(|wait| wait > self.config.retry_after_max());
            if !error.is_worth_a_retry()
                || matches!(&error, StoreError::Throttled { retry_after } if too_long(retry_after))
            {
                return Err(error);
            }
            let Some(delay) = delays.next() else { return Err(error) };
            let may_retry = {
                let mut state = host.state();
                !state.breaker.is_open(Instant::now()) && state.budget.take()
            };
            if !may_retry {
                return Err(error);
            }
            tracing::debug!(host = %host.name, error = %error, delay_ms = delay.as_millis(), "tries again");
            if !matches!(error, StoreError::Throttled { .. }) {
                tokio::time::sleep(delay).await;
            }
        }
    }

    /// One request to one host, when it is its turn. `by` is the host that the caller asked; it is another one than
    /// `host` when it redirected here. The outcome moves its pace and breaker: a redirect must not make another store look
    /// down. The target keeps its pace all the same, and is not asked while it is left alone.
    #[tracing::instrument(target = "trace::store", name = "store request", level = "info", skip_all, fields(otel.kind = "client", server.address = %host.name, url.path = url.path(), http.response.status_code = tracing::field::Empty))]
    pub(crate) async fn hop(
        &self,
        (host, by): (&Host, &Host),
        url: &Url,
        headers: &HeaderMap,
        limits: Limits,
    ) -> Result<Answer, StoreError> {
        // The semaphore is never closed; without a place there is none to wait for either.
        let _slot = host.slots.acquire().await.ok();
        if !host.is(by) {
            host.not_left_alone()?;
        }
        let pass = by.admit()?;
        host.turn(self.config.retry_after_max()).await?;
        let started = Instant::now();
        let after = self.config.request_timeout();
        let waited = Waited::default();
        // Boxed, because it is a large future that is moved.
        let exchange = Box::pin(self.exchange((host, by), url, (headers, limits), &waited));
        let outcome = within(after, &waited, exchange).await;
        let outcome = outcome.unwrap_or(Err(StoreError::Timeout { after }));
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &outcome {
            Ok(answer) => {
                let (status, size_bytes) = (answer.status.as_u16(), answer.body.len());
                tracing::Span::current().record("http.response.status_code", status);
                tracing::debug!(host = %host.name, path = url.path(), status, size_bytes, duration_ms, "store answered");
            }
            Err(error) => {
                tracing::debug!(host = %host.name, path = url.path(), error = %error, duration_ms, "no answer")
            }
        }
        let is_failure = match &outcome {
            Ok(answer) => answer.status.is_server_error(),
            Err(error) => error.is_failure(),
        };
        // Where a redirect leads decides whether the store that was asked is well.
        let is_redirect = matches!(&outcome, Ok(answer) if answer.is_redirect());
        if is_failure {
            pass.failed();
        } else if is_redirect || matches!(outcome, Err(StoreError::AddressRefused { .. })) {
            drop(pass);
        } else {
            pass.succeeded();
        }
        outcome
    }

    async fn exchange(
        &self,
        (host, by): (&Host, &Host),
        url: &Url,
        (headers, limits): (&HeaderMap, Limits),
        waited: &Waited,
    ) -> Result<Answer, StoreError> {
        let outgoing = Outgoing {
            url: url.clone(),
            headers: headers.clone(),
        };
        let incoming = self
            .transport
            .send(outgoing)
            .await
            .map_err(|error| self.transport_fault(host, error))?;
        let status = incoming.status;
        match Refused::by(status, &incoming.headers, self.clock.now()) {
            Some(Refused::TooFast { retry_after }) => {
                tracing::warn!(host = %host.name, status = status.as_u16(), retry_after_s = retry_after.map(|wait| wait.as_secs()), "the store asks to slow down");
                by.state().pace.refused(Instant::now(), retry_after);
                return Err(StoreError::Throttled { retry_after });
            }
            Some(Refused::Challenge) => {
                tracing::warn!(host = %host.name, status = status.as_u16(), "the store answers with a bot challenge");
                by.state().pace.refused(Instant::now(), None);
                return Err(StoreError::Challenged {
                    status: status.as_u16(),
                });
            }
            None => {}
        }
        if incoming.headers.len() > self.config.headers_max {
            return Err(StoreError::Exchange {
                host: host.name.clone(),
                source: TransportError::Head,
            });
        }
        let body = if status.is_success() {
            body::collect(incoming.body, &incoming.headers, limits, (&self.memory, waited))
                .await
                .map_err(|error| body_fault(host, error))?
        } else {
            let aside = Limits {
                wire_max: ASIDE_BYTES_MAX,
                decoded_max: ASIDE_BYTES_MAX,
                cut: true,
            };
            // What an error page says is a hint at most; that it cannot be read is not another error.
            body::collect(incoming.body, &incoming.headers, aside, (&self.memory, waited))
                .await
                .unwrap_or_else(|_| Bytes::new())
        };
        let answer = Answer {
            status,
            headers: incoming.headers,
            body,
        };
        if !status.is_server_error() && !answer.is_redirect() {
            by.state().pace.succeeded();
        }
        if !status.is_server_error() && !host.is(by) {
            host.state().pace.succeeded();
        }
        Ok(answer)
    }

    fn transport_fault(&self, host: &Host, error: TransportError) -> StoreError {
        let host = host.name.clone();
        match error {
            TransportError::Refused(reason) => StoreError::AddressRefused { host, reason },
            TransportError::ConnectTimeout => StoreError::Timeout {
                after: Duration::from_millis(self.config.connect_timeout_ms),
            },
            source @ TransportError::Connect(_) => StoreError::Connect { host, source },
            TransportError::Truncated => StoreError::Truncated,
            source @ (TransportError::Broken(_) | TransportError::Head) => StoreError::Exchange { host, source },
        }
    }
}

fn body_fault(host: &Host, error: BodyError) -> StoreError {
    match error {
        BodyError::TooLarge { limit, bytes_max } => StoreError::TooLarge { limit, bytes_max },
        BodyError::OverBudget(OverBudget { bytes_max }) => StoreError::OverBudget { bytes_max },
        BodyError::Truncated => StoreError::Truncated,
        BodyError::Encoding => StoreError::Encoding,
        BodyError::Transport(source) => StoreError::Exchange {
            host: host.name.clone(),
            source,
        },
    }
}
