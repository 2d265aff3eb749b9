use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::terms::Priority;

/// Limits and politeness settings for requests to stores. Every name ends with its unit, and the defaults are polite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorefrontConfig {
    /// `User-Agent` of every request, which names the crawler and how to contact its operator. Its first product token
    /// (the text before `/`) is looked up in `robots.txt`.
    pub user_agent: String,
    /// True to allow stores on this machine (`127.0.0.1`, `*.localhost`, any port). Only for emulated stores, never in
    /// production.
    pub allow_loopback: bool,
    /// Two-letter country whose prices are wanted. Every request carries `country=…` and the cookie `localization=…`.
    /// With `None`, stores choose the currency by the client's IP address.
    pub country: Option<String>,
    /// Timeout for connecting, including TLS.
    pub connect_timeout_ms: u64,
    /// Timeout for one request from connecting to the last byte, which stops slow-drip responses.
    pub request_timeout_ms: u64,
    /// Timeout for one request of an interactive call. The deadline of the call may end it sooner.
    pub interactive_timeout_ms: u64,
    /// Maximum number of header fields in a response.
    pub headers_max: usize,
    /// Maximum size of a body on the wire (compressed), in bytes.
    pub body_bytes_max: u64,
    /// Maximum size of a body after decompression, in bytes.
    pub decoded_bytes_max: u64,
    /// Maximum size of a body on the wire for an interactive call, in bytes. A `.js` page with 250 variants needs a
    /// tenth of the default.
    pub interactive_body_bytes_max: u64,
    /// Maximum size of a body after decompression for an interactive call, in bytes.
    pub interactive_decoded_bytes_max: u64,
    /// Storefront API version for GraphQL requests (`2026-04`). If the version has expired, Shopify uses the oldest
    /// version that it supports.
    pub graphql_version: String,
    /// Maximum size of a GraphQL response, both on the wire and after decompression, in bytes.
    pub graphql_bytes_max: u64,
    /// Maximum number of redirects of one request.
    pub redirects_max: u32,
    /// Maximum number of retries of one request.
    pub retries_max: u32,
    /// Wait before the first retry, in milliseconds. The wait doubles with each retry, plus jitter.
    pub backoff_start_ms: u64,
    /// Maximum wait between retries, before jitter.
    pub backoff_max_ms: u64,
    /// Maximum long-run share of retries among the requests to one store.
    pub retry_budget_ratio: f64,
    /// Number of consecutive retries for a store before the share applies. Unused retries add up to at most this
    /// number.
    pub retry_budget_max: u32,
    /// Maximum `Retry-After` that a call waits for. A longer one is returned to the caller.
    pub retry_after_max_ms: u64,
    /// Initial number of requests per second to a store. Infinity is for demos and benchmarks: no rate limit.
    pub rate_start_per_s: f64,
    /// Maximum rate. The effective maximum is `rate_start_per_s` if that is higher.
    pub rate_max_per_s: f64,
    /// Minimum rate.
    pub rate_min_per_s: f64,
    /// Rate increase after each success, as a share of `rate_start_per_s`.
    pub rate_growth: f64,
    /// Wait in milliseconds after a refusal (429, 430) without `Retry-After`. The wait doubles with each consecutive
    /// refusal.
    pub throttle_wait_ms: u64,
    /// Maximum number of requests in flight per store.
    pub concurrency: usize,
    /// Number of consecutive failures (no answer, 5xx) that open a store's circuit breaker.
    pub breaker_failures: u32,
    /// Time in milliseconds for which an open breaker refuses requests before a trial request. The time doubles with
    /// each failed trial.
    pub breaker_cooldown_ms: u64,
    /// Maximum cool-down of the breaker.
    pub breaker_cooldown_max_ms: u64,
    /// Maximum accepted `Crawl-delay`. Stores with a longer delay are not read.
    pub crawl_delay_max_ms: u64,
    /// Time for which a `robots.txt` is cached, at most a day (RFC 9309, 2.4).
    pub robots_ttl_ms: u64,
    /// Time without requests to a store whose `robots.txt` could not be read.
    pub robots_retry_ms: u64,
    /// Maximum number of hosts whose state is kept. The hosts that were idle longest are forgotten.
    pub hosts_max: usize,
}

impl Default for StorefrontConfig {
    fn default() -> Self {
        Self {
            user_agent: "haat/0.0 (+https://haat.market/bot; bots@haat.market)".to_owned(),
            allow_loopback: false,
            country: None,
            connect_timeout_ms: 10_000,
            request_timeout_ms: 30_000,
            interactive_timeout_ms: 10_000,
            headers_max: 128,
            body_bytes_max: 32 << 20,
            decoded_bytes_max: 64 << 20,
            interactive_body_bytes_max: 2 << 20,
            interactive_decoded_bytes_max: 8 << 20,
            graphql_version: "2026-04".to_owned(),
            graphql_bytes_max: 4 << 20,
            redirects_max: 5,
            retries_max: 3,
            backoff_start_ms: 500,
            backoff_max_ms: 20_000,
            retry_budget_ratio: 0.2,
            retry_budget_max: 10,
            retry_after_max_ms: 120_000,
            rate_start_per_s: 1.0,
            rate_max_per_s: 4.0,
            rate_min_per_s: 0.05,
            rate_growth: 0.05,
            throttle_wait_ms: 2_000,
            concurrency: 1,
            breaker_failures: 5,
            breaker_cooldown_ms: 30_000,
            breaker_cooldown_max_ms: 600_000,
            crawl_delay_max_ms: 60_000,
            robots_ttl_ms: 86_400_000,
            robots_retry_ms: 300_000,
            hosts_max: 4_096,
        }
    }
}

/// An unusable configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value is out of range.
    #[error("storefront.{key}: {reason}")]
    Value {
        /// Key of the value in the configuration.
        key: &'static str,
        /// Rule that the value breaks.
        reason: &'static str,
    },
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be created")]
    Client(#[source] reqwest::Error),
}

impl StorefrontConfig {
    /// Returns the defaults without a rate limit, for stores on this machine: demos, tests and benchmarks.
    #[must_use]
    pub fn loopback() -> Self {
        Self {
            allow_loopback: true,
            rate_start_per_s: f64::INFINITY,
            ..Self::default()
        }
    }

    #[must_use]
    pub(crate) fn product_token(&self) -> &str {
        let end = self
            .user_agent
            .find(|letter: char| !(letter.is_ascii_alphabetic() || matches!(letter, '_' | '-')));
        &self.user_agent[..end.unwrap_or(self.user_agent.len())]
    }

    /// Validates every value.
    ///
    /// # Errors
    /// [`ConfigError::Value`] names the first key whose value is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let positive = |value: f64| value > 0.0;
        let rules: [(bool, &'static str, &'static str); 15] = [
            (
                !self.product_token().is_empty(),
                "user_agent",
                "must begin with a product token (letters, `-`, `_`)",
            ),
            (
                http::HeaderValue::from_str(&self.user_agent).is_ok(),
                "user_agent",
                "must be printable ASCII",
            ),
            (
                self.country.as_deref().is_none_or(is_country),
                "country",
                "must be two uppercase letters",
            ),
            (self.connect_timeout_ms > 0, "connect_timeout_ms", "must be above 0"),
            (self.request_timeout_ms > 0, "request_timeout_ms", "must be above 0"),
            (self.headers_max > 0, "headers_max", "must be above 0"),
            (self.body_bytes_max > 0, "body_bytes_max", "must be above 0"),
            (self.decoded_bytes_max > 0, "decoded_bytes_max", "must be above 0"),
            (positive(self.rate_start_per_s), "rate_start_per_s", "must be above 0"),
            (positive(self.rate_max_per_s), "rate_max_per_s", "must be above 0"),
            (positive(self.rate_min_per_s), "rate_min_per_s", "must be above 0"),
            (
                self.rate_growth >= 0.0 && self.rate_growth.is_finite(),
                "rate_growth",
                "must be 0 or above",
            ),
            (
                (0.0..=1.0).contains(&self.retry_budget_ratio),
                "retry_budget_ratio",
                "must be between 0 and 1",
            ),
            (
                self.concurrency > 0 && self.concurrency <= 1024,
                "concurrency",
                "must be between 1 and 1024",
            ),
            (
                self.robots_ttl_ms <= 86_400_000,
                "robots_ttl_ms",
                "must be at most one day",
            ),
        ];
        match rules.into_iter().chain(self.rules_live()).find(|(holds, ..)| !holds) {
            Some((_, key, reason)) => Err(ConfigError::Value { key, reason }),
            None => Ok(()),
        }
    }

    fn rules_live(&self) -> [(bool, &'static str, &'static str); 5] {
        let is_version =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric());
        [
            (
                self.interactive_timeout_ms > 0,
                "interactive_timeout_ms",
                "must be above 0",
            ),
            (
                self.interactive_body_bytes_max > 0,
                "interactive_body_bytes_max",
                "must be above 0",
            ),
            (
                self.interactive_decoded_bytes_max > 0,
                "interactive_decoded_bytes_max",
                "must be above 0",
            ),
            (self.graphql_bytes_max > 0, "graphql_bytes_max", "must be above 0"),
            (
                is_version(&self.graphql_version),
                "graphql_version",
                "must be a version of the Storefront API, such as 2026-04",
            ),
        ]
    }

    pub(crate) fn request_timeout(&self, priority: Priority) -> Duration {
        Duration::from_millis(match priority {
            Priority::Crawl => self.request_timeout_ms,
            Priority::Interactive => self.interactive_timeout_ms.min(self.request_timeout_ms),
        })
    }

    pub(crate) fn retry_after_max(&self) -> Duration {
        Duration::from_millis(self.retry_after_max_ms)
    }
}

pub(crate) fn is_country(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}
