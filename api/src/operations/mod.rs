//! One operation, many doors: what REST answers can be asked from within, by the same rules and with the same result.
//!
//! A door (MCP, discover, a shared protocol) makes an [`OperationCall`] and hands it to [`CallOperation`]. In one process
//! [`LocalOperations`] asks the servers' own routes, below the edge; [`RemoteOperations`] asks a server elsewhere. Who
//! calls is known by then ([`Asker`]), and the way in has counted the request. A door that takes several requests in one
//! charges the others itself, by [`crate::Guard::charge`].

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

/// Characters of a segment of a path or of a query that need no escape (RFC 3986, 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// One call of an operation, as a request of REST would say it.
#[derive(Debug, Clone)]
pub struct OperationCall {
    /// The operation's id in the interface description: what the access table names.
    pub operation_id: Cow<'static, str>,
    /// Its method.
    pub method: Method,
    /// Its path, filled in and escaped: see [`OperationCall::segment`].
    pub path: String,
    /// Its query parameters, as they are, not escaped.
    pub query: Vec<(Cow<'static, str>, String)>,
    /// Its body: JSON, where it takes one.
    pub body: Option<Bytes>,
    /// The key under which it is done once, where it takes one.
    pub idempotency_key: Option<HeaderValue>,
    /// The caller, and the request.
    pub asker: Asker,
}

/// The answer of an operation: the envelope of REST, or a problem's document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationAnswer {
    /// The status that REST answers with.
    pub status: StatusCode,
    /// JSON, whole.
    pub body: Bytes,
    /// When to try again, where that may help.
    pub retry_after: Option<Duration>,
}

/// Carries operations out.
#[async_trait]
pub trait CallOperation: fmt::Debug + Send + Sync {
    /// Carries one call out. Whatever goes wrong is an answer: a problem's document with the status that it has in REST.
    /// The caller must be allowed to call the operation (the access table); nothing is charged.
    async fn call(&self, call: OperationCall) -> OperationAnswer;
}

impl OperationCall {
    /// A call without parameters and body.
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

    /// Adds a body: JSON.
    #[must_use]
    pub fn body(mut self, json: impl Into<Bytes>) -> Self {
        self.body = Some(json.into());
        self
    }

    /// `text` as one segment of a path.
    #[must_use]
    pub fn segment(text: &str) -> String {
        utf8_percent_encode(text, ESCAPED).to_string()
    }

    /// Path and query, escaped.
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
    /// True where the operation succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// The answer with a problem, for `asker`.
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
