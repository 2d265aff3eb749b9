use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::io::IsTerminal;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

#[cfg(feature = "otlp")]
use crate::export::Traces;
use crate::telemetry_error::TelemetryError;
use crate::trace_config::TraceConfig;

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Human-readable lines.
    #[default]
    Pretty,
    /// One JSON object per line.
    Json,
}

/// Placeholder for trace export in a build without it; it is never created.
#[cfg(not(feature = "otlp"))]
#[derive(Debug)]
pub enum Traces {}

#[cfg(not(feature = "otlp"))]
impl Traces {
    /// Never called: in this build the type has no values.
    pub const fn end(self) {
        match self {}
    }
}

/// The collector that spans are sent to.
#[derive(Debug, Clone)]
pub struct TraceCollector<'a> {
    /// Settings of the collector.
    pub config: &'a TraceConfig,
    /// Runtime that sends the spans.
    pub runtime: tokio::runtime::Handle,
}

/// Sends the program's log to standard error. `filter` is a `tracing` filter: `info,access=debug` also logs requests.
///
/// With `traces`, spans are also sent to a collector. The caller must end the returned `Traces`.
///
/// # Errors
/// See [`TelemetryError`].
pub fn init_logs(
    format: LogFormat,
    filter: &str,
    traces: Option<TraceCollector<'_>>,
) -> Result<Option<Traces>, TelemetryError> {
    let filter = env_filter(filter)?;
    let Some(TraceCollector { config, runtime }) = traces else {
        // A filter for the whole subscriber is cheaper than one for a layer.
        let log = tracing_subscriber::registry().with(filter).with(lines(format));
        log.try_init().map_err(TelemetryError::LogInstalled)?;
        return Ok(None);
    };
    let log = lines::<tracing_subscriber::Registry>(format).with_filter(filter);
    init_traces(log, config, runtime).map(Some)
}

/// Sends the log to standard error and spans to a collector.
#[cfg(feature = "otlp")]
fn init_traces(
    log: impl Layer<tracing_subscriber::Registry> + Send + Sync,
    config: &TraceConfig,
    runtime: tokio::runtime::Handle,
) -> Result<Traces, TelemetryError> {
    let spans = env_filter(&config.filter)?;
    let (traces, tracer) = Traces::start(config, runtime)?;
    let spans = tracing_opentelemetry::layer().with_tracer(tracer).with_filter(spans);
    let log = tracing_subscriber::registry().with(log).with(spans);
    log.try_init().map_err(TelemetryError::LogInstalled)?;
    Ok(traces)
}

#[cfg(not(feature = "otlp"))]
fn init_traces<L>(_: L, _: &TraceConfig, _: tokio::runtime::Handle) -> Result<Traces, TelemetryError> {
    Err(TelemetryError::NoExport)
}

fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span>,
{
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Pretty => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    }
}

fn env_filter(filter: &str) -> Result<EnvFilter, TelemetryError> {
    EnvFilter::try_new(filter).map_err(|source| TelemetryError::Filter {
        filter: filter.to_owned(),
        source,
    })
}

/// Upper bounds of the histogram buckets for durations, in seconds.
const SECONDS: [f64; 14] = [
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0,
];

/// Installs a metrics recorder and returns the handle that renders the metrics. `version` is the program's version.
///
/// # Errors
/// [`TelemetryError::Metrics`] if a recorder is installed already.
pub fn install_metrics(version: &str) -> Result<PrometheusHandle, TelemetryError> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
        .map_err(TelemetryError::Metrics)?;
    let handle = builder.install_recorder().map_err(TelemetryError::Metrics)?;
    metrics::describe_counter!(
        "http_requests_total",
        "HTTP responses by route pattern and status class"
    );
    metrics::describe_histogram!(
        "http_request_duration_seconds",
        metrics::Unit::Seconds,
        "Response time by route"
    );
    metrics::describe_gauge!("http_connections", "Open HTTP connections");
    metrics::describe_counter!(
        "http_connections_refused_total",
        "Connections refused because their address reached its limit"
    );
    metrics::describe_counter!(
        "http_connections_reclaimed_total",
        "Idle connections closed because another client waited for a slot"
    );
    metrics::describe_counter!(
        "http_bodies_refused_total",
        "Requests refused while their bodies were being received, by reason"
    );
    for counter in ["http_connections_refused_total", "http_connections_reclaimed_total"] {
        metrics::counter!(counter).increment(0);
    }
    metrics::describe_gauge!(
        "haat_build_info",
        "Always 1; the label is the version of the running program"
    );
    metrics::gauge!("haat_build_info", "version" => version.to_owned()).set(1.0);
    metrics::describe_gauge!(
        "process_resident_memory_bytes",
        "Resident memory of the process in bytes, including mapped files"
    );
    metrics::describe_counter!("process_cpu_seconds_total", "CPU time of the process in whole seconds");
    Ok(handle)
}

/// Records the system resources that the process uses.
fn measure(system: &mut System, process: Pid) {
    let wanted = ProcessRefreshKind::nothing().with_memory().with_cpu().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), false, wanted);
    // A system without these figures gets no metrics.
    let Some(used) = system.process(process) else { return };
    // The conversion is exact up to 2^53 bytes.
    metrics::gauge!("process_resident_memory_bytes").set(used.memory() as f64);
    metrics::counter!("process_cpu_seconds_total").absolute(used.accumulated_cpu_time() / 1000);
}

/// Moves recorded durations into their histogram buckets every five seconds until `stop`. Otherwise durations
/// accumulate in memory while no client scrapes the metrics. Also measures the process.
pub async fn run_metrics_upkeep(handle: PrometheusHandle, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(Duration::from_secs(5));
    let process = sysinfo::get_current_pid().ok();
    let mut system = System::new();
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        handle.run_upkeep();
        if let Some(process) = process {
            measure(&mut system, process);
        }
    }
}

/// Returns the metrics in the format of Prometheus.
#[must_use]
pub fn metrics_answer(handle: &PrometheusHandle) -> Response {
    let media_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, handle.render()).into_response()
}
