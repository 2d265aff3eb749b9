use std::time::Duration;

use http::StatusCode;
use metrics::{Counter, Histogram};

/// The label of requests that match no route; the paths themselves never become labels.
pub(super) const UNMATCHED: &str = "unmatched";

/// One route's metrics, looked up once.
#[derive(Debug)]
pub(super) struct RouteMetrics {
    answers: [Counter; 5],
    seconds: Histogram,
}

impl RouteMetrics {
    pub(super) fn of(pattern: &str) -> Self {
        let answers = ["1xx", "2xx", "3xx", "4xx", "5xx"]
            .map(|class| metrics::counter!("http_requests_total", "route" => pattern.to_owned(), "status" => class));
        let seconds = metrics::histogram!("http_request_duration_seconds", "route" => pattern.to_owned());
        Self { answers, seconds }
    }

    pub(super) fn record(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        self.answers[class].increment(1);
        self.seconds.record(took.as_secs_f64());
    }
}
