use serde::{Deserialize, Serialize};

/// The interface of a store that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Storefront GraphQL, and the products' `.js` views of stores that refuse it.
    #[default]
    Auto,
    /// Storefront GraphQL, and `.js` only to find out whether what GraphQL lacks is gone.
    Graphql,
    /// The products' `.js` views alone.
    Js,
}

/// The way in which stores are asked live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatewayConfig {
    /// Longest time for a whole answer; what is not known by then is answered from the snapshot.
    pub budget_ms: u64,
    /// The time for which a store's answer may be given to those who ask later; each says its `as_of`. Those who wait for the
    /// same answer share it in any case.
    pub reuse_ms: u64,
    /// Most stores asked at the same time.
    pub stores_at_once_max: usize,
    /// Most products that wait for one store; one more is answered from the snapshot.
    pub waiting_per_store_max: usize,
    /// The interface of a store that is asked.
    pub way: Way,
    /// The time for which a store that refuses GraphQL is asked by `.js` before GraphQL is tried again.
    pub graphql_retry_s: u64,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            budget_ms: 2_500,
            reuse_ms: 0,
            stores_at_once_max: 256,
            waiting_per_store_max: 1_000,
            way: Way::Auto,
            graphql_retry_s: 600,
        }
    }
}
