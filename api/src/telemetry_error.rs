use metrics_exporter_prometheus::BuildError;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::util::TryInitError;

/// The reason why telemetry cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter is not one that `tracing` understands.
    #[error("the log filter {filter:?} cannot be read")]
    Filter {
        /// The filter as configured.
        filter: String,
        /// The fault in the filter.
        #[source]
        source: ParseError,
    },
    /// Another part of the program took the log first.
    #[error("a log is installed already")]
    LogInstalled(#[source] TryInitError),
    /// The program was built without the export of spans.
    #[cfg(not(feature = "otlp"))]
    #[error(
        "traces.endpoint is set, but this program was built without OpenTelemetry: build it with `--features otlp`, or \
         leave traces.endpoint empty"
    )]
    NoExport,
    /// The client that would send spans could not be made.
    #[cfg(feature = "otlp")]
    #[error("no HTTP client for traces")]
    TraceClient(#[source] reqwest::Error),
    /// The collector's address is of no use.
    #[cfg(feature = "otlp")]
    #[error("traces cannot be sent to {endpoint:?}")]
    TraceExporter {
        /// The address as configured.
        endpoint: String,
        /// The exporter's own error.
        #[source]
        source: opentelemetry_otlp::ExporterBuildError,
    },
    /// Another part of the program took the metrics first, or a bucket list is empty.
    #[error("the metrics could not be installed")]
    Metrics(#[source] BuildError),
}
