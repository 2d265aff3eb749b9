//! Calls of REST operations from within the program, with the same rules and results as over REST.
//!
//! An endpoint (MCP, discover, a shared protocol) creates an [`OperationCall`] and passes it to [`CallOperation`].
//! [`LocalOperations`] calls this process's own routes below the edge. [`RemoteOperations`] calls another server. The
//! caller is already identified ([`Asker`]), and the edge has counted the request. An endpoint that accepts several
//! operations in one request charges the others itself with [`crate::Guard::charge`].

mod asker;
mod local;
mod remote;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub use self::asker::Asker;
pub use self::local::LocalOperations;
pub use self::remote::{RemoteError, RemoteOperations};
use crate::{Problem, ProblemForm};

/// Characters that are percent-encoded in a path segment or query: all but the unreserved ones (RFC 3986, 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// One call of an operation, in terms of a REST request.
#[derive(Debug, Clone)]
pub struct OperationCall {
    /// Operation id in the interface description, as used in the access table.
    pub operation_id: Cow<'static, str>,
    /// HTTP method of the operation.
    pub method: Method,
    /// Path with its parameters filled in and escaped: see [`OperationCall::segment`].
    pub path: String,
    /// Query parameters, not escaped.
    pub query: Vec<(Cow<'static, str>, String)>,
    /// JSON body, if the operation takes one.
    pub body: Option<Bytes>,
    /// Idempotency key, if the operation takes one.
    pub idempotency_key: Option<HeaderValue>,
    /// Caller and request id.
    pub asker: Asker,
}

/// The response of an operation: the REST envelope, or a problem document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationAnswer {
    /// HTTP status of the REST response.
    pub status: StatusCode,
    /// Complete JSON body.
    pub body: Bytes,
    /// Time after which to retry, if a retry may help.
    pub retry_after: Option<Duration>,
}

/// Executes operations.
#[async_trait]
pub trait CallOperation: fmt::Debug + Send + Sync {
    /// Executes one call. An error is returned as a problem document with its REST status. The access table must allow
    /// the call, but the caller is not charged.
    async fn call(&self, call: OperationCall) -> OperationAnswer;
}

impl OperationCall {
    /// Creates a call without parameters and body.
    #[must_use]
    pub fn new(
        operation_id: impl Into<Cow<'static, str>>,
        method: Method,
        path: impl Into<String>,
        asker: Asker,
    ) -> Self {
        Self {
            operation_id: operation_id.into(),
            method,
            path: path.into(),
            query: Vec::new(),
            body: None,
            idempotency_key: None,
            asker,
        }
    }

    /// Adds a query parameter.
    #[must_use]
    pub fn query(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Adds a JSON body.
    #[must_use]
    pub fn body(mut self, json: impl Into<Bytes>) -> Self {
        self.body = Some(json.into());
        self
    }

    /// Escapes `text` as one path segment.
    #[must_use]
    pub fn segment(text: &str) -> String {
        utf8_percent_encode(text, ESCAPED).to_string()
    }

    fn target(&self) -> String {
        let mut target = self.path.clone();
        for (index, (name, value)) in self.query.iter().enumerate() {
            target.push(if index == 0 { '?' } else { '&' });
            target.extend(utf8_percent_encode(name, ESCAPED));
            target.push('=');
            target.extend(utf8_percent_encode(value, ESCAPED));
        }
        target
    }
}

impl OperationAnswer {
    /// Returns true if the operation succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// Creates the response for a problem of `asker`'s request.
    #[must_use]
    pub fn problem(problem: Problem, asker: &Asker) -> Self {
        let mut response = problem.clone().into_response();
        let body = problem.render(&mut response, &asker.request_id, ProblemForm::Document);
        Self::told(response.status(), response.headers(), body)
    }

    fn told(status: StatusCode, headers: &HeaderMap, body: Bytes) -> Self {
        let retry_after = headers
            .get(header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok());
        Self {
            status,
            body,
            retry_after: retry_after.map(Duration::from_secs),
        }
    }
}

#[cfg(test)]
mod tests;
