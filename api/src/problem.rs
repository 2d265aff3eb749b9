use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use data_model::{Classify, ErrorCode, Retry};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Location, RequestId, Rule, Violation};

/// Error response: a problem document (RFC 9457), or the list of validation errors for an invalid request.
///
/// A handler returns the problem, and the edge writes the body, because only the edge knows the request id. The text of
/// a problem is for the caller; internal causes belong in the log.
#[derive(Debug, Clone)]
pub struct Problem(Box<Inner>);

/// The format of error bodies on a route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProblemForm {
    /// The format of RFC 9457.
    #[default]
    Document,
    /// An object with `code` and `content`, like the errors of shared commerce protocols.
    CodeAndContent,
}

#[derive(Debug, Clone)]
struct Inner {
    code: ErrorCode,
    /// Status that replaces the code's default status.
    status: Option<StatusCode>,
    detail: Option<Cow<'static, str>>,
    violations: Vec<Violation>,
    members: Map<String, Value>,
    retry_after: Option<Duration>,
    headers: HeaderMap,
}

/// Problem document of RFC 9457, with additional fields.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: ErrorCode,
    request_id: &'a str,
    #[serde(flatten)]
    members: Map<String, Value>,
}

/// Error with a code and a sentence.
#[derive(Serialize)]
struct CodeAndContent<'a> {
    code: ErrorCode,
    content: &'a str,
}

/// FastAPI's list of validation errors, with additional fields.
#[derive(Serialize)]
struct Faults<'a> {
    detail: Vec<Violation>,
    code: ErrorCode,
    request_id: &'a str,
    #[serde(flatten)]
    members: Map<String, Value>,
}

impl Problem {
    /// Creates a problem with this code and without details.
    #[must_use]
    pub fn new(code: ErrorCode) -> Self {
        let retry_after = match code {
            ErrorCode::Overloaded | ErrorCode::NotReady => Some(Duration::from_secs(1)),
            _ => None,
        };
        Self(Box::new(Inner {
            code,
            status: None,
            detail: None,
            violations: Vec::new(),
            members: Map::new(),
            retry_after,
            headers: HeaderMap::new(),
        }))
    }

    /// Creates a 422 that lists these faults.
    #[must_use]
    pub fn invalid(violations: Vec<Violation>) -> Self {
        Self::refused(ErrorCode::Validation, violations)
    }

    /// Creates a 422 with a specific code. `loc` is the path to the faulty value, and `words` explain the fault.
    #[must_use]
    pub fn refused_at(code: ErrorCode, loc: Vec<Location>, words: impl Into<Cow<'static, str>>) -> Self {
        Self::refused(code, vec![Violation::new(loc, &Rule::Code(code, words.into()), None)])
    }

    /// Creates a 422 with a specific code that lists these faults.
    #[must_use]
    pub fn refused(code: ErrorCode, violations: Vec<Violation>) -> Self {
        let mut problem = Self::new(code);
        problem.0.violations = violations;
        problem
    }

    /// Creates a 400 with these faults, for requests that are invalid as HTTP.
    #[must_use]
    pub(crate) fn no_http(violations: Vec<Violation>) -> Self {
        Self::invalid(violations).with_status(StatusCode::BAD_REQUEST)
    }

    #[must_use]
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.0.status = Some(status);
        self
    }

    #[must_use]
    pub(crate) fn malformed_json(violation: Violation) -> Self {
        Self::refused(ErrorCode::MalformedJson, vec![violation])
    }

    /// Creates the problem for the code of an error. The error's own text is not shown, because it may name internal
    /// causes.
    #[must_use]
    pub fn of(error: &impl Classify) -> Self {
        let problem = Self::new(error.code());
        match error.retry() {
            Retry::After(wait) => problem.retry_after(wait),
            Retry::Never | Retry::SameKey => problem,
        }
    }

    /// Adds a sentence about this occurrence.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds a custom field.
    #[must_use]
    pub fn member(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.members.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the time after which the caller may retry, sent in whole seconds, rounded up, at least one.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Adds a header, such as `WWW-Authenticate`.
    #[must_use]
    pub fn header(mut self, name: header::HeaderName, value: HeaderValue) -> Self {
        self.0.headers.insert(name, value);
        self
    }

    /// Returns the code of the problem.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    fn status(&self) -> StatusCode {
        let of_code = || StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.0.status.unwrap_or_else(of_code)
    }

    /// Writes the headers of the response, and returns its body.
    pub(crate) fn render(self, response: &mut Response, request_id: &RequestId, form: ProblemForm) -> Bytes {
        let status = self.status();
        let Inner {
            code,
            status: _,
            detail,
            mut violations,
            members,
            retry_after,
            headers,
        } = *self.0;
        if violations.is_empty() && code.status() == StatusCode::UNPROCESSABLE_ENTITY.as_u16() {
            // The API contract requires a list of faults in every 422.
            let rule = Rule::Code(code, detail.clone().unwrap_or(code.title().into()));
            violations.push(Violation::new(vec!["body".into()], &rule, None));
        }
        let (media_type, body) = if form == ProblemForm::CodeAndContent {
            let told: Vec<String> = violations.iter().map(ToString::to_string).collect();
            let told = Some(told.join("; ")).filter(|told| !told.is_empty());
            let content = told.as_deref().or(detail.as_deref()).unwrap_or(code.title());
            (
                "application/json",
                serde_json::to_vec(&CodeAndContent { code, content }),
            )
        } else if violations.is_empty() {
            let document = Document {
                kind: format!("urn:haat:problem:{code}"),
                title: code.title(),
                status: status.as_u16(),
                detail: detail.as_deref().unwrap_or(code.title()),
                code,
                request_id: request_id.as_str(),
                members,
            };
            ("application/problem+json", serde_json::to_vec(&document))
        } else {
            let document = Faults {
                detail: violations,
                code,
                request_id: request_id.as_str(),
                members,
            };
            ("application/json", serde_json::to_vec(&document))
        };
        // The problem document and its fallback contain only values that JSON can represent.
        let body = Bytes::from(body.unwrap_or_default());
        *response.body_mut() = Body::from(body.clone());
        let own = response.headers_mut();
        own.extend(headers);
        own.remove(header::CONTENT_LENGTH);
        own.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        own.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(wait) = retry_after {
            let seconds = wait.as_millis().div_ceil(1000).clamp(1, 86_400);
            own.insert(
                header::RETRY_AFTER,
                HeaderValue::from(u32::try_from(seconds).unwrap_or(1)),
            );
        }
        body
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}
