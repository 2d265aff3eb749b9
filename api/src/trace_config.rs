/// The trace collector, and the filter for the spans that it receives.
#[derive(Debug, Clone)]
pub struct TraceConfig {
    /// Base URL of an OTLP collector that accepts HTTP with protobuf, such as `http://127.0.0.1:4318`; `/v1/traces` is
    /// appended.
    pub endpoint: String,
    /// The spans to send, as a `tracing` filter.
    pub filter: String,
    /// Share of traces to record, from 0 to 1, if the caller has not decided.
    pub sample_share: f64,
    /// Service name of the program at the collector.
    pub service: String,
}
