use api::Problem;
use axum::response::Response;
use data_model::Classify;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use state::StateError;

/// A JSON answer in the envelope, which no cache keeps.
pub(crate) fn data(status: StatusCode, data: Value) -> Response {
    api::json(status, &json!({ "data": data }))
}

/// The answer to whoever asks while the state fails. The answer gives no reason; a lasting failure is logged.
pub(crate) fn state_problem(error: &StateError) -> Problem {
    metrics::counter!("dashboard_state_failures_total").increment(1);
    if error.is_transient() {
        return Problem::of(error).detail("Keys and sessions cannot be read just now. It goes on in a moment.");
    }
    let cause: &dyn std::error::Error = error;
    tracing::error!(error = cause, "the dashboard cannot read or change the state");
    Problem::new(error.code())
}

/// Sets a cookie beside those that the answer sets already.
pub(crate) fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
