use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::io::IsTerminal;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::util::TryInitError;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Pretty,
    /// One JSON object a line.
    Json,
}

/// Why telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter is not one that `tracing` understands.
    #[error("the log filter {filter:?} cannot be read")]
    Filter {
        /// The filter as configured.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: ParseError,
    },
    /// Another part of the program took the log first.
    #[error("a log is installed already")]
    LogInstalled(#[source] TryInitError),
    /// Another part of the program took the metrics first, or a bucket list is empty.
    #[error("the metrics could not be installed")]
    Metrics(#[source] BuildError),
}

/// Sends the program's log to standard error. `filter` is a `tracing` filter: `info,access=debug` also logs requests.
///
/// # Errors
/// See [`TelemetryError`].
pub fn init_logs(format: LogFormat, filter: &str) -> Result<(), TelemetryError> {
    use tracing_subscriber::util::SubscriberInitExt;
    let filter = EnvFilter::try_new(filter).map_err(|source| TelemetryError::Filter {
        filter: filter.to_owned(),
        source,
    })?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let installed = match format {
        LogFormat::Pretty => lines.finish().try_init(),
        LogFormat::Json => lines.json().flatten_event(true).finish().try_init(),
    };
    installed.map_err(TelemetryError::LogInstalled)
}

/// Upper bounds of the classes that durations are counted in.
const SECONDS: [f64; 14] = [
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0,
];

/// Makes this program's metrics countable and answers the handle that writes them out.
///
/// # Errors
/// [`TelemetryError::Metrics`] when a recorder is installed already.
pub fn install_metrics() -> Result<PrometheusHandle, TelemetryError> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
        .map_err(TelemetryError::Metrics)?;
    let handle = builder.install_recorder().map_err(TelemetryError::Metrics)?;
    metrics::describe_counter!("http_requests_total", "Answers by route pattern and class of status");
    metrics::describe_histogram!(
        "http_request_duration_seconds",
        metrics::Unit::Seconds,
        "Time to answer by route"
    );
    Ok(handle)
}

/// Folds recorded durations into their classes every five seconds until `stop`: without it they pile up for as
/// long as nobody reads the metrics.
pub async fn run_metrics_upkeep(handle: PrometheusHandle, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(Duration::from_secs(5));
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        handle.run_upkeep();
    }
}

/// The metrics as Prometheus reads them.
#[must_use]
pub fn metrics_answer(handle: &PrometheusHandle) -> Response {
    let media_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, handle.render()).into_response()
}
