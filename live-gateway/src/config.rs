use serde::{Deserialize, Serialize};

/// Store interface that live queries use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Storefront GraphQL, with the products' `.js` views for stores that refuse GraphQL.
    #[default]
    Auto,
    /// Storefront GraphQL. `.js` is used only to check whether a product that GraphQL does not return is gone.
    Graphql,
    /// Only the products' `.js` views.
    Js,
}

/// Settings of live queries to stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatewayConfig {
    /// Maximum time for a whole response, in milliseconds. Entries that no store confirms in time come from the
    /// snapshot.
    pub budget_ms: u64,
    /// Time in milliseconds for which a store's response is reused. Each entry states the time of the response
    /// (`as_of`). Concurrent requests always share a response.
    pub reuse_ms: u64,
    /// Maximum number of stores that are queried concurrently.
    pub stores_at_once_max: usize,
    /// Maximum number of products that wait for one store. Further products get the prices of the snapshot.
    pub waiting_per_store_max: usize,
    /// Store interface that live queries use.
    pub way: Way,
    /// Maximum time in seconds until GraphQL is tried again at a store that refused it. The pause starts at 15 seconds
    /// and doubles with each refusal. During the pause, `.js` is used.
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

/// Signature algorithm, by its name in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SigningAlgorithm {
    /// EdDSA over Ed25519.
    #[default]
    #[serde(rename = "EdDSA")]
    EdDsa,
    /// ECDSA over P-256 with SHA-256, for verifiers that do not support Ed25519.
    #[serde(rename = "ES256")]
    Es256,
}

/// Settings of carts, checkouts and customer accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CartConfig {
    /// Maximum time for an operation on a cart, in milliseconds. A store that is slower is reported as a problem.
    pub budget_ms: u64,
    /// Time in milliseconds for which later reads reuse a cart that was read. The response states its `as_of`. 0
    /// disables reuse.
    pub reuse_ms: u64,
    /// Maximum time for a search for discount codes, in milliseconds. The edge's timeout must be at least as long.
    pub optimize_budget_ms: u64,
    /// Maximum number of codes that a search tries at one store.
    pub optimize_codes_max: usize,
    /// Maximum number of stores that are queried concurrently, over all carts.
    pub stores_at_once_max: usize,
    /// Maximum number of lines in a cart, at most 100.
    pub lines_max: usize,
    /// Maximum quantity of one variant.
    pub quantity_max: u32,
    /// Maximum number of discount codes at one store.
    pub codes_max: usize,
    /// Days without a change after which a cart is deleted. Stores delete their carts after 30 days.
    pub keep_days: u32,
    /// Delivery country (two uppercase letters), used if neither the caller nor the crawl of the brand states one.
    pub country: String,
    /// Public address of this service, without a slash at the end. The address is the issuer of attribution tokens, and
    /// the verification keys are published below it. The program's `public_url` sets the address, not a key of this
    /// section.
    #[serde(skip)]
    pub public_url: String,
    /// Validity of an attribution token, in days.
    pub attribution_days: u32,
    /// Validity of a price quote, in minutes.
    pub quote_minutes: u32,
    /// Algorithm of new signing keys.
    pub signing_algorithm: SigningAlgorithm,
    /// Seconds for which a new signing key is published before it signs. Verifiers must cache the list of keys for a
    /// shorter time.
    pub signing_overlap_s: u64,
    /// Hours for which the response to a request with an `Idempotency-Key` is stored.
    pub idempotency_hours: u32,
}

impl Default for CartConfig {
    fn default() -> Self {
        Self {
            budget_ms: 8_000,
            reuse_ms: 2_000,
            optimize_budget_ms: 8_000,
            optimize_codes_max: 20,
            stores_at_once_max: 256,
            lines_max: 100,
            quantity_max: 999,
            codes_max: 20,
            keep_days: 30,
            country: "IN".to_owned(),
            public_url: "http://127.0.0.1:8080".to_owned(),
            attribution_days: 30,
            quote_minutes: 60,
            signing_algorithm: SigningAlgorithm::EdDsa,
            signing_overlap_s: 3_600,
            idempotency_hours: 24,
        }
    }
}

const DAY_MS: i64 = 86_400_000;

impl CartConfig {
    /// Returns the time in milliseconds for which a cart is kept after a change.
    pub(crate) fn keep_ms(&self) -> i64 {
        i64::from(self.keep_days.max(1)) * DAY_MS
    }

    pub(crate) fn attribution_ms(&self) -> i64 {
        i64::from(self.attribution_days.max(1)) * DAY_MS
    }

    pub(crate) fn quote_ms(&self) -> i64 {
        i64::from(self.quote_minutes.max(1)) * 60_000
    }

    /// Returns the longest validity of any kind of token, in milliseconds.
    pub(crate) fn tokens_ms(&self) -> i64 {
        self.attribution_ms().max(self.quote_ms())
    }

    pub(crate) fn idempotency_ms(&self) -> i64 {
        i64::from(self.idempotency_hours.max(1)) * 3_600_000
    }
}
