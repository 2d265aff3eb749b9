use api::Problem;
use axum::response::Response;
use data_model::Classify;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use state::StateError;

/// Builds a JSON response in the usual envelope. Caches must not store it.
pub(crate) fn data(status: StatusCode, data: Value) -> Response {
    api::json(status, &json!({ "data": data }))
}

/// Builds the error response for a failure of the state database, without the reason. Lasting failures are logged.
pub(crate) fn state_problem(error: &StateError) -> Problem {
    metrics::counter!("dashboard_state_failures_total").increment(1);
    if error.is_transient() {
        return Problem::of(error).detail("Keys and sessions cannot be read at the moment. Try again shortly.");
    }
    let cause: &dyn std::error::Error = error;
    tracing::error!(error = cause, "the dashboard cannot read or change the state");
    Problem::new(error.code())
}

/// Adds a `Set-Cookie` header to those of the response.
pub(crate) fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
