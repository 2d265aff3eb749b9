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

/// Client for all stores. The client is cheap to clone, and clones share the state of each host.
#[derive(Debug, Clone)]
pub struct Storefront {
    exchange: Arc<Exchange>,
}

impl Storefront {
    /// Creates a client that uses the network.
    ///
    /// # Errors
    /// [`ConfigError`] if a value of the configuration is out of its range or the HTTP client cannot be built.
    pub fn new(config: StorefrontConfig, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        Self::with_lookup(config, clock, Arc::new(SystemLookup))
    }

    /// Creates a client that resolves names with `lookup` instead of the system's resolver. The client checks the
    /// resolved addresses too.
    ///
    /// # Errors
    /// The errors of [`Storefront::new`].
    pub fn with_lookup(
        config: StorefrontConfig,
        clock: Arc<dyn Clock>,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let network = Network::new(&config, lookup)?;
        Self::with_transport(config, clock, Arc::new(network))
    }

    /// Returns the plain transport, for addresses that users entered and that do not belong to stores. Each IP address
    /// is checked while connecting, as for stores. The caller must run [`check_url`] before sending.
    #[must_use]
    pub fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.exchange.transport)
    }

    /// Creates a client over another transport than the network: recorded traffic, or a test's script. The transport
    /// must check resolved addresses.
    ///
    /// # Errors
    /// [`ConfigError::Value`] if a value of the configuration is out of its range.
    pub fn with_transport(
        config: StorefrontConfig,
        clock: Arc<dyn Clock>,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        metrics::describe_histogram!(
            WAIT_METRIC,
            metrics::Unit::Seconds,
            "Time that calls waited for their slot at a store's rate limit, by priority"
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

    /// Returns a client that shares the state of each host but uses `memory` for response bodies.
    #[must_use]
    pub fn with_memory(&self, memory: MemoryBudget) -> Self {
        Self {
            exchange: Arc::new(Exchange {
                memory,
                ..Exchange::clone(&self.exchange)
            }),
        }
    }

    /// Returns the memory budget for response bodies.
    #[must_use]
    pub fn memory(&self) -> &MemoryBudget {
        &self.exchange.memory
    }

    /// Creates a store from its address, without a request. The address is a scheme, a host and, for a store in a
    /// market's folder, a path.
    ///
    /// # Errors
    /// [`StoreError::AddressRefused`] if the address is not public, and [`StoreError::Url`] if it has a query or
    /// fragment.
    pub fn store(&self, base_url: &Url) -> Result<Store, StoreError> {
        if base_url.query().is_some() || base_url.fragment().is_some() {
            return Err(StoreError::Url {
                reason: "a store's address must have no query and no fragment",
            });
        }
        let base_url = self.exchange.checked(base_url.clone())?;
        Ok(Store::new(Arc::clone(&self.exchange), base_url))
    }

    /// Returns the configuration of the client.
    #[must_use]
    pub fn config(&self) -> &StorefrontConfig {
        &self.exchange.config
    }

    /// Returns the number of hosts whose state is kept.
    #[must_use]
    pub fn hosts_known(&self) -> usize {
        self.exchange.hosts.len()
    }
}
