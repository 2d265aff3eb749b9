/// The collector of spans, and the filter of those that it gets.
#[derive(Debug, Clone)]
pub struct TraceConfig {
    /// Base URL of an OTLP collector that takes HTTP with protobuf, `http://127.0.0.1:4318` say; `/v1/traces` is added.
    pub endpoint: String,
    /// The spans to send, as a `tracing` filter.
    pub filter: String,
    /// Share of traces that are recorded, from 0 to 1, where the caller has not decided.
    pub sample_share: f64,
    /// The name under which the program is found at the collector.
    pub service: String,
}
