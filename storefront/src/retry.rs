use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use chrono::{DateTime, NaiveDateTime};
use data_model::Timestamp;
use http::HeaderMap;
use http::header::RETRY_AFTER;

use crate::config::StorefrontConfig;
use crate::error::StoreError;
use crate::pace::HOLD_MAX;

/// Retry budget of one host. Each request adds a share and each retry takes one token, so that retries stay a small
/// part of the traffic to a store in trouble.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    tokens: f64,
    ratio: f64,
    max: f64,
}

impl RetryBudget {
    pub(crate) fn new(config: &StorefrontConfig) -> Self {
        let max = f64::from(config.retry_budget_max);
        Self {
            tokens: max,
            ratio: config.retry_budget_ratio,
            max,
        }
    }

    pub(crate) fn pay_in(&mut self) {
        self.tokens = (self.tokens + self.ratio).min(self.max);
    }

    pub(crate) fn take(&mut self) -> bool {
        // A sum of shares such as 0.2 can be slightly less than one.
        let affordable = self.tokens >= 1.0 - 1e-9;
        if affordable {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
        affordable
    }
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: StoreError,
    /// True if a lower level has already retried the request.
    pub(crate) is_final: bool,
}

impl Failure {
    pub(crate) fn last(error: StoreError) -> Self {
        Self { error, is_final: true }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self { error, is_final: false }
    }
}

/// Returns the waits before the retries: exponential with jitter. `backon` is used only for the delays, because the
/// decision to retry depends on the host's circuit breaker, retry budget and rate limiter.
pub(crate) fn backoff(config: &StorefrontConfig) -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_factor(2.0)
        .with_min_delay(Duration::from_millis(config.backoff_start_ms))
        .with_max_delay(Duration::from_millis(config.backoff_max_ms))
        .with_max_times(usize::try_from(config.retries_max).unwrap_or(usize::MAX))
        .with_jitter()
        .build()
}

/// Returns the wait that a response requires: seconds or an HTTP date (RFC 9110, 10.2.3), at most a day. Shopify also
/// sends fractional seconds (`2.0`), which are rounded up. Any other value is ignored.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim_ascii();
    let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(whole) && is_number(fraction) {
        let more = u64::from(fraction.bytes().any(|digit| digit != b'0'));
        let seconds = whole
            .parse::<u64>()
            .map_or(u64::MAX, |whole| whole.saturating_add(more));
        return Some(Duration::from_secs(seconds).min(HOLD_MAX));
    }
    let wait_ms = http_date(value)?.millis_since(now);
    Some(Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0)).min(HOLD_MAX))
}

/// Parses the three date formats of RFC 9110, 5.6.7.
fn http_date(text: &str) -> Option<Timestamp> {
    let micros = match DateTime::parse_from_rfc2822(text) {
        Ok(moment) => moment.timestamp_micros(),
        Err(_) => ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"]
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?
            .and_utc()
            .timestamp_micros(),
    };
    Some(Timestamp::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case("60", Some(60))]
    #[case(" 7 ", Some(7))]
    #[case("99999999999999999999999", Some(86_400))]
    #[case("Sun, 06 Nov 1994 08:50:37 GMT", Some(60))]
    #[case("Sunday, 06-Nov-94 08:50:37 GMT", Some(60))]
    #[case("Sun Nov  6 08:50:37 1994", Some(60))]
    #[case("Sun, 06 Nov 1994 08:49:00 GMT", Some(0))]
    #[case("Thu, 06 Nov 2594 08:49:37 GMT", Some(86_400))]
    #[case("-5", None)]
    #[case("soon", None)]
    #[case("", None)]
    #[case("2.0", Some(2))]
    #[case("1.5", Some(2))]
    #[case("0.001", Some(1))]
    #[case("18446744073709551615.5", Some(86_400))]
    #[case("1.", None)]
    #[case(".5", None)]
    #[case("1.5.2", None)]
    fn retry_after_is_seconds_or_a_date(#[case] value: &str, #[case] seconds: Option<u64>) {
        let now = "1994-11-06T08:49:37Z".parse().unwrap();
        let headers = [(RETRY_AFTER, value.parse().unwrap())].into_iter().collect();
        assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs));
    }

    #[test]
    fn retries_are_a_fifth_of_the_requests_once_the_savings_are_spent() {
        let mut budget = RetryBudget::new(&StorefrontConfig::default());
        let spent = (0..1000).filter(|_| {
            budget.pay_in();
            budget.take()
        });
        assert_eq!(spent.count(), 209);
    }
}
