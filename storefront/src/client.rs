use std::sync::Arc;

use data_model::Clock;
use url::Url;

use crate::config::{ConfigError, StorefrontConfig};
use crate::error::StoreError;
use crate::exchange::Exchange;
use crate::host::WAIT_METRIC;
use crate::hosts::Hosts;
use crate::memory::MemoryBudget;
use crate::resolve::{Lookup, SystemLookup};
use crate::store::Store;
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

    /// The bare way to addresses that are not stores' and that somebody gave: each is judged while connecting, as stores' are.
    /// Whoever sends asks [`check_url`] before.
    #[must_use]
    pub fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.exchange.transport)
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
