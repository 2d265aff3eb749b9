use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::failure::{Failure, Fault};
use crate::market::Market;
use crate::message::{Capability, ErrorAnswer};

/// Outcome of a request over REST or MCP.
#[derive(Debug)]
pub(crate) enum RequestOutcome {
    /// The request has a response in the protocol's format, JSON.
    Answer(StatusCode, Bytes),
    /// The request is invalid, or cannot be served now.
    Fault(Fault),
}

/// Converts the result of an operation to an outcome: a response with `status`, or the failure.
pub(crate) fn ended<T: Serialize>(
    status: StatusCode,
    capability: Capability,
    market: &Market<'_>,
    result: Result<T, Failure>,
) -> RequestOutcome {
    let written = match result {
        Ok(result) => serde_json::to_vec(&result).map(|body| (status, body)),
        Err(Failure::Outcome(messages)) => {
            let answer = ErrorAnswer::new(market.version(), capability, messages, market.home());
            serde_json::to_vec(&answer).map(|body| (StatusCode::OK, body))
        }
        Err(Failure::Transport(fault)) => return RequestOutcome::Fault(fault),
    };
    match written {
        Ok((status, body)) => RequestOutcome::Answer(status, body.into()),
        Err(error) => {
            tracing::error!(%error, "a response could not be written as JSON");
            RequestOutcome::Fault(Fault::internal())
        }
    }
}

impl IntoResponse for RequestOutcome {
    fn into_response(self) -> Response {
        let fault = match self {
            Self::Answer(status, body) => {
                let mut response = api::LiveAnswer(body).into_response();
                *response.status_mut() = status;
                return response;
            }
            Self::Fault(fault) => fault,
        };
        let mut response = api::json(fault.status, &fault).into_response();
        let headers = response.headers_mut();
        if let Some(wait) = fault.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        if fault.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"ucp\"");
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
