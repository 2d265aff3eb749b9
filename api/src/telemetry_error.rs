use metrics_exporter_prometheus::BuildError;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::util::TryInitError;

/// Errors in the setup of telemetry.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// `tracing` cannot parse the filter.
    #[error("the log filter {filter:?} cannot be read")]
    Filter {
        /// The configured filter.
        filter: String,
        /// The fault in the filter.
        #[source]
        source: ParseError,
    },
    /// Another part of the program installed a logger first.
    #[error("a logger is installed already")]
    LogInstalled(#[source] TryInitError),
    /// The program was built without trace export.
    #[cfg(not(feature = "otlp"))]
    #[error(
        "traces.endpoint is set, but this program was built without OpenTelemetry: build it with `--features otlp`, or \
         leave traces.endpoint empty"
    )]
    NoExport,
    /// The HTTP client for sending spans could not be created.
    #[cfg(feature = "otlp")]
    #[error("the HTTP client for traces cannot be created")]
    TraceClient(#[source] reqwest::Error),
    /// The collector's URL is invalid.
    #[cfg(feature = "otlp")]
    #[error("traces cannot be sent to {endpoint:?}")]
    TraceExporter {
        /// The configured URL.
        endpoint: String,
        /// The exporter's own error.
        #[source]
        source: opentelemetry_otlp::ExporterBuildError,
    },
    /// Another part of the program installed a metrics recorder first, or a bucket list is empty.
    #[error("the metrics could not be installed")]
    Metrics(#[source] BuildError),
}
