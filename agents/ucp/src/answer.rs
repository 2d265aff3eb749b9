use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;

use crate::failure::{Failure, transport};
use crate::message::{Capability, ErrorAnswer};

/// The answer to a request: its result with `status`, or why there is none.
pub(crate) fn answered<T: Serialize>(
    (status, capability, home): (StatusCode, Capability, &str),
    result: Result<T, Failure>,
) -> Response {
    match result {
        Ok(result) => api::json(status, &result).into_response(),
        Err(Failure::Outcome(messages)) => {
            let answer = ErrorAnswer::new(capability, messages, home);
            api::json(StatusCode::OK, &answer).into_response()
        }
        Err(Failure::Transport {
            status,
            code,
            content,
            retry_after,
        }) => transport(status, &code, &content, retry_after),
    }
}
