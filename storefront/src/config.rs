use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::terms::Priority;

/// Manners of this crate towards stores. Unit last in every name; the defaults are polite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorefrontConfig {
    /// Sent with every request; says who we are and how to reach us. Its first product token (the text before `/`)
    /// is the one that `robots.txt` is asked about.
    pub user_agent: String,
    /// Lets stores live on this machine (`127.0.0.1`, `*.localhost`, any port): emulated stores, never production.
    pub allow_loopback: bool,
    /// Two-letter country whose prices are wanted. Stores choose the presentment currency by the client's IP address
    /// unless told: with a country, every request carries `country=…` and the cookie `localization=…`.
    /// `None` sends neither, and prices come in the currency of the machine's own location.
    pub country: Option<String>,
    /// Time to connect, TLS included.
    pub connect_timeout_ms: u64,
    /// Time for one request from connecting to the last byte; what a slow drip is cut by.
    pub request_timeout_ms: u64,
    /// The same for an interactive call, whose own deadline may end it sooner.
    pub interactive_timeout_ms: u64,
    /// Most header fields of an answer.
    pub headers_max: usize,
    /// Most bytes of a body on the wire (compressed).
    pub body_bytes_max: u64,
    /// Most bytes of a body after decompression.
    pub decoded_bytes_max: u64,
    /// Most bytes of a body on the wire for an interactive call; `.js` of 250 variants takes a tenth of it.
    pub interactive_body_bytes_max: u64,
    /// Most bytes of a body after decompression for an interactive call.
    pub interactive_decoded_bytes_max: u64,
    /// Version of the Storefront API that GraphQL is asked in (`2026-04`). The platform answers an expired one with the
    /// oldest that it supports.
    pub graphql_version: String,
    /// Most bytes of a GraphQL answer, on the wire and after decompression.
    pub graphql_bytes_max: u64,
    /// Most redirects of one request.
    pub redirects_max: u32,
    /// Most retries of one request.
    pub retries_max: u32,
    /// Wait before the first retry; doubles with each, with jitter on top.
    pub backoff_start_ms: u64,
    /// Longest wait between retries, before jitter.
    pub backoff_max_ms: u64,
    /// Share of requests to one store that may be retries, in the long run.
    pub retry_budget_ratio: f64,
    /// Retries that a store may be sent in a row before the share counts; also what can be saved up.
    pub retry_budget_max: u32,
    /// Longest `Retry-After` that is waited for; a longer one is reported to the caller.
    pub retry_after_max_ms: u64,
    /// Requests per second to a store at first. Infinity means no pace at all (demos, benchmarks).
    pub rate_start_per_s: f64,
    /// The pace never grows beyond this (nor below `rate_start_per_s`, if that is higher).
    pub rate_max_per_s: f64,
    /// The pace never falls below this.
    pub rate_min_per_s: f64,
    /// Growth of the pace with each success, as a share of `rate_start_per_s`.
    pub rate_growth: f64,
    /// Wait after a refusal (429, 430) that names none; doubles with each in a row.
    pub throttle_wait_ms: u64,
    /// Requests in flight per store.
    pub concurrency: usize,
    /// Failures in a row (no answer, 5xx) that open a store's breaker.
    pub breaker_failures: u32,
    /// Time for which an open breaker refuses before it lets one request try; doubles with each failed try.
    pub breaker_cooldown_ms: u64,
    /// Longest cool-down.
    pub breaker_cooldown_max_ms: u64,
    /// Longest `Crawl-delay` at which a store is read; one that asks for a longer one is left alone.
    pub crawl_delay_max_ms: u64,
    /// Time for which a `robots.txt` is believed; a day at most (RFC 9309, 2.4).
    pub robots_ttl_ms: u64,
    /// Time for which a store is left alone after its `robots.txt` could not be read.
    pub robots_retry_ms: u64,
    /// Hosts whose state is kept; beyond it the longest idle are forgotten.
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

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value is out of its range.
    #[error("storefront.{key}: {reason}")]
    Value {
        /// The key as the configuration spells it.
        key: &'static str,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// The HTTP client cannot be built.
    #[error("the HTTP client cannot be built")]
    Client(#[source] reqwest::Error),
}

impl StorefrontConfig {
    /// The defaults without any pace, for stores on this machine: demos, tests and benchmarks.
    #[must_use]
    pub fn loopback() -> Self {
        Self {
            allow_loopback: true,
            rate_start_per_s: f64::INFINITY,
            ..Self::default()
        }
    }

    /// The product token of [`StorefrontConfig::user_agent`].
    #[must_use]
    pub(crate) fn product_token(&self) -> &str {
        let end = self
            .user_agent
            .find(|letter: char| !(letter.is_ascii_alphabetic() || matches!(letter, '_' | '-')));
        &self.user_agent[..end.unwrap_or(self.user_agent.len())]
    }

    /// Checks every value.
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
                "must be two upper-case letters",
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
                "must be a day at most",
            ),
        ];
        match rules.into_iter().chain(self.rules_live()).find(|(holds, ..)| !holds) {
            Some((_, key, reason)) => Err(ConfigError::Value { key, reason }),
            None => Ok(()),
        }
    }

    /// The rules for calls that somebody waits for.
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

    /// Time for one request of this priority.
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
