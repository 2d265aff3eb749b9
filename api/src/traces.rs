use axum::extract::Request;
use tracing::Span;

/// Creates the span of a request. If the request names a span of the caller, that is the parent (W3C Trace Context).
/// The span is disabled unless traces are sent.
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
