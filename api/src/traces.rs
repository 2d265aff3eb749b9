use axum::extract::Request;
use tracing::Span;

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

/// The span of a request, child of the caller's where the request names one (W3C Trace Context); disabled unless
/// traces are sent.
pub(crate) fn request_span(request: &Request, route: &str, request_id: &str) -> Span {
    let span = tracing::info_span!(
        target: "trace::request",
        "request",
        otel.name = route,
        otel.kind = "server",
        http.request.method = request.method().as_str(),
        http.route = route,
        http.response.status_code = tracing::field::Empty,
        request_id,
    );
    #[cfg(feature = "otlp")]
    crate::export::set_parent(&span, request.headers());
    span
}
