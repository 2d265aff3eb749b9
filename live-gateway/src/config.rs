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

/// An algorithm of signatures, as a token names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SigningAlgorithm {
    /// EdDSA over Ed25519.
    #[default]
    #[serde(rename = "EdDSA")]
    EdDsa,
    /// ECDSA over P-256 with SHA-256, for verifiers that know no Ed25519.
    #[serde(rename = "ES256")]
    Es256,
}

/// The settings of carts, checkouts and customers' accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CartConfig {
    /// Longest time for an operation on a cart; a store that has not answered by then is reported as a problem.
    pub budget_ms: u64,
    /// The time for which a cart that was read may be answered to those who read it again; the answer says its `as_of`.
    /// 0: not at all.
    pub reuse_ms: u64,
    /// Longest time for a search for codes; the edge must wait for as long.
    pub optimize_budget_ms: u64,
    /// Most codes that a search tries at one store.
    pub optimize_codes_max: usize,
    /// Most stores that are asked at the same time for all carts together.
    pub stores_at_once_max: usize,
    /// Most lines of a cart, at most 100.
    pub lines_max: usize,
    /// Most pieces of one variant.
    pub quantity_max: u32,
    /// Most codes of one store's list.
    pub codes_max: usize,
    /// The days without a change after which a cart is forgotten. Stores forget theirs after 30.
    pub keep_days: u32,
    /// Country to deliver to where neither the caller nor the crawl of the brand says one (two upper-case letters).
    pub country: String,
    /// This service's own public address, without a slash at the end: who signs attribution tokens, and where the keys
    /// to verify them are. It is the program's `public_url`, no key of this section.
    #[serde(skip)]
    pub public_url: String,
    /// The days for which an attribution token holds.
    pub attribution_days: u32,
    /// Minutes for which a quote of a price holds.
    pub quote_minutes: u32,
    /// The algorithm of signing keys that are made from now on: of the first one, and of each rotation.
    pub signing_algorithm: SigningAlgorithm,
    /// The seconds for which a new signing key is published before it signs: longer than anybody keeps the list of
    /// keys.
    pub signing_overlap_s: u64,
    /// The hours for which the answer to a request with an `Idempotency-Key` is kept.
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

/// The day in milliseconds.
const DAY_MS: i64 = 86_400_000;

impl CartConfig {
    /// The time for which a cart is kept after a change.
    pub(crate) fn keep_ms(&self) -> i64 {
        i64::from(self.keep_days.max(1)) * DAY_MS
    }

    pub(crate) fn attribution_ms(&self) -> i64 {
        i64::from(self.attribution_days.max(1)) * DAY_MS
    }

    pub(crate) fn quote_ms(&self) -> i64 {
        i64::from(self.quote_minutes.max(1)) * 60_000
    }

    /// The longest time for which a token of any kind holds.
    pub(crate) fn tokens_ms(&self) -> i64 {
        self.attribution_ms().max(self.quote_ms())
    }

    pub(crate) fn idempotency_ms(&self) -> i64 {
        i64::from(self.idempotency_hours.max(1)) * 3_600_000
    }
}
