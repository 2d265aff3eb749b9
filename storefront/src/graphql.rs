use std::fmt;

use data_model::{Classify, ErrorCode, read_store_json};
use memchr::memmem;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{self, PaceRefusal};
use crate::error::StoreError;
use crate::page::CallResult;

const MESSAGE_CHARS_MAX: usize = 500;
const ERRORS_MAX: usize = 100;
const PATH_MAX: usize = 50;
/// Error code that Shopify uses for too many requests in a response with status 200.
const THROTTLED: &str = "THROTTLED";
/// Header with the API version that Shopify used for the response.
static VERSION: http::HeaderName = http::HeaderName::from_static("x-shopify-api-version");

/// A GraphQL request with its variables. The document is part of this program ([`crate::documents`]), never a caller's
/// text.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphqlRequest {
    #[serde(rename = "query")]
    document: &'static str,
    operation_name: &'static str,
    variables: Value,
}

impl fmt::Debug for GraphqlRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The variables may contain a password, a token or a cart key.
        write!(f, "GraphqlRequest({})", self.operation_name)
    }
}

impl GraphqlRequest {
    /// Creates a request for the named operation of the document. `variables` must be an object.
    #[must_use]
    pub const fn new(document: &'static str, operation_name: &'static str, variables: Value) -> Self {
        Self {
            document,
            operation_name,
            variables,
        }
    }
}

/// Response to a GraphQL request. The response can contain both `data` and `errors`. Failed fields are null in the
/// data.
#[derive(Debug, Clone)]
pub struct GraphqlAnswer {
    /// Data, verbatim. `None` if it is null or missing.
    pub data: Option<Box<RawValue>>,
    /// Errors, at most a hundred.
    pub errors: Vec<GraphqlError>,
    /// API version that Shopify used (`X-Shopify-API-Version`). For an expired version, Shopify uses the oldest version
    /// that it supports.
    pub version: Option<String>,
    /// True if an earlier attempt of the same call got no answer, so that the store may still carry it out.
    pub is_open: bool,
}

/// An error in a GraphQL answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphqlError {
    /// Message of the store, truncated to 500 characters. Messages change, so that decisions use `code`.
    pub message: String,
    /// Shopify's error code (`extensions.code`), for example `MAX_COMPLEXITY_EXCEEDED`.
    pub code: Option<String>,
    /// Path of the error in the answer, with indexes as text.
    pub path: Vec<String>,
}

/// Kind of a GraphQL error, which determines whether the call was carried out and whether a repeated call can succeed.
/// Later variants leave the outcome less certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GraphqlErrorKind {
    /// The call requests more data than the store accepts. The store did not execute it. A smaller call may succeed.
    Size,
    /// The document or its variables are wrong. The call was not carried out.
    Call,
    /// The store accepts no such calls from us, because we lack the access right. The call was not carried out, and may
    /// succeed after the merchant changes something.
    Access,
    /// The store is closed: locked, or inactive. The call was not carried out.
    Closed,
    /// Shopify failed, or gives no reason. The call may have been carried out.
    Failure,
}

impl GraphqlErrorKind {
    /// Shopify uses camel case codes for a document that it rejected before execution.
    fn of(code: Option<&str>) -> Self {
        match code {
            Some("MAX_COMPLEXITY_EXCEEDED" | "MAX_COST_EXCEEDED" | "MAX_INPUT_SIZE_EXCEEDED") => Self::Size,
            Some("BAD_USER_INPUT" | "INVALID_VARIABLE" | "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED") => {
                Self::Call
            }
            Some(code) if code.starts_with(|first: char| first.is_ascii_lowercase()) => Self::Call,
            Some("ACCESS_DENIED" | "UNAUTHORIZED") => Self::Access,
            Some("SHOP_INACTIVE" | "ONLINE_STORE_LOCKED") => Self::Closed,
            _ => Self::Failure,
        }
    }

    /// Returns true if the store may have carried out the call.
    #[must_use]
    pub const fn leaves_open(self) -> bool {
        matches!(self, Self::Failure)
    }
}

impl Classify for GraphqlErrorKind {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Size | Self::Call => ErrorCode::StoreRejected,
            Self::Access | Self::Closed | Self::Failure => ErrorCode::StoreUnavailable,
        }
    }
}

impl GraphqlAnswer {
    /// Returns the kind of the errors. Of several kinds, returns the one with the least certain outcome.
    #[must_use]
    pub fn error_kind(&self) -> GraphqlErrorKind {
        let kinds = self
            .errors
            .iter()
            .map(|error| GraphqlErrorKind::of(error.code.as_deref()));
        kinds.max().unwrap_or(GraphqlErrorKind::Failure)
    }
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    data: Option<Box<RawValue>>,
    #[serde(default)]
    errors: Option<Vec<WireError>>,
}

#[derive(Deserialize)]
struct WireError {
    #[serde(default)]
    message: String,
    #[serde(default)]
    extensions: Option<Extensions>,
    #[serde(default)]
    path: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Extensions {
    #[serde(default)]
    code: Option<Value>,
}

#[derive(Deserialize)]
struct Faults {
    #[serde(default, rename = "data")]
    _data: IgnoredAny,
    #[serde(default)]
    errors: Option<Vec<WireError>>,
}

impl WireError {
    fn code(&self) -> Option<&str> {
        self.extensions.as_ref()?.code.as_ref()?.as_str()
    }
}

impl From<WireError> for GraphqlError {
    fn from(error: WireError) -> Self {
        let step = |step: Value| match step {
            Value::String(name) => name,
            other => other.to_string(),
        };
        Self {
            code: error.code().map(str::to_owned),
            message: error.message.chars().take(MESSAGE_CHARS_MAX).collect(),
            path: error
                .path
                .unwrap_or_default()
                .into_iter()
                .take(PATH_MAX)
                .map(step)
                .collect(),
        }
    }
}

/// Returns the refusal in a response with status 200 that reports too many requests. An error with a path is about that
/// operation alone (GraphQL, 7.1.2), as are the platform's limits on sign-ins and new customers.
pub(crate) fn throttled(body: &[u8]) -> Option<PaceRefusal> {
    // Almost no response contains this code, so almost none is parsed twice.
    memmem::find(body, THROTTLED.as_bytes())?;
    let errors = read_store_json::<Faults>(body).ok()?.errors?;
    let mut throttled = errors.iter().filter(|error| error.code() == Some(THROTTLED)).peekable();
    throttled.peek()?;
    Some(
        if throttled.all(|error| error.path.as_ref().is_some_and(|path| !path.is_empty())) {
            PaceRefusal::OfOperation
        } else {
            PaceRefusal::TooFast { retry_after: None }
        },
    )
}

pub(crate) fn answer(found: CallResult) -> Result<GraphqlAnswer, StoreError> {
    let version = answer::text(&found.headers, &VERSION).map(|version| version.chars().take(40).collect());
    let page = found.into_page()?;
    let wire = read_store_json::<Wire>(&page.bytes)
        .ok()
        .filter(|wire| wire.data.is_some() || wire.errors.as_ref().is_some_and(|errors| !errors.is_empty()));
    let Some(Wire { data, errors }) = wire else {
        let content_type = page.content_type.map(|text| text.chars().take(80).collect());
        return Err(StoreError::NotJson { content_type });
    };
    let errors = errors.unwrap_or_default().into_iter().take(ERRORS_MAX);
    Ok(GraphqlAnswer {
        data,
        errors: errors.map(GraphqlError::from).collect(),
        version,
        is_open: false,
    })
}
