use std::sync::Arc;

use data_model::Clock;
use http::header::{ACCEPT, ACCEPT_ENCODING, COOKIE, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use url::Url;

use crate::address::{Zone, check_url};
use crate::body::Limits;
use crate::config::{ConfigError, StorefrontConfig};
use crate::error::{RedirectFault, StoreError};
use crate::host::WAIT_METRIC;
use crate::hosts::{Hosts, authority};
use crate::memory::MemoryBudget;
use crate::resolve::{Lookup, SystemLookup};
use crate::store::{Accept, Store};
use crate::terms::Priority;
use crate::transport::{Network, Transport};

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
        metrics::describe_histogram!(
            WAIT_METRIC,
            metrics::Unit::Seconds,
            "Time that calls waited for their turn at a store, by priority"
        );
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

    /// The memory for what stores send.
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
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) memory: MemoryBudget,
}

/// The place of an address, in words: its host, or its scheme where there is none.
fn place(url: &Url) -> String {
    match url.host_str() {
        Some(_) => authority(url),
        None => format!("a {}: address", url.scheme()),
    }
}

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

    /// Limits of an answer to a call of this priority.
    pub(crate) fn page_limits(&self, priority: Priority) -> Limits {
        let config = &self.config;
        let (wire_max, decoded_max) = match priority {
            Priority::Crawl => (u64::MAX, u64::MAX),
            Priority::Interactive => (config.interactive_body_bytes_max, config.interactive_decoded_bytes_max),
        };
        Limits {
            wire_max: wire_max.min(config.body_bytes_max),
            decoded_max: decoded_max.min(config.decoded_bytes_max),
            cut: false,
        }
    }

    /// Limits of a GraphQL answer.
    pub(crate) fn graphql_limits(&self) -> Limits {
        let config = &self.config;
        Limits {
            wire_max: config.graphql_bytes_max.min(config.body_bytes_max),
            decoded_max: config.graphql_bytes_max.min(config.decoded_bytes_max),
            cut: false,
        }
    }
}
