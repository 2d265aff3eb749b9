use std::fmt;

use data_model::{Classify, ErrorCode, read_store_json};
use memchr::memmem;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer;
use crate::error::StoreError;
use crate::page::CallResult;

/// Most characters of an error's message that are kept.
const MESSAGE_CHARS_MAX: usize = 500;
/// Most errors of an answer that are kept.
const ERRORS_MAX: usize = 100;
/// Most steps of an error's path that are kept.
const PATH_MAX: usize = 50;
/// The platform's code for too many requests in an answer of status 200.
const THROTTLED: &str = "THROTTLED";
/// The header that names the version in which the platform answered.
static VERSION: http::HeaderName = http::HeaderName::from_static("x-shopify-api-version");

/// One GraphQL request: a document that is part of this program ([`crate::documents`]), never text of a caller, and its
/// variables.
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
        // Variables may hold a password, a token, or the key of a cart.
        write!(f, "GraphqlRequest({})", self.operation_name)
    }
}

impl GraphqlRequest {
    /// The operation of that name in the document; `variables` is an object.
    #[must_use]
    pub const fn new(document: &'static str, operation_name: &'static str, variables: Value) -> Self {
        Self {
            document,
            operation_name,
            variables,
        }
    }
}

/// An answer of GraphQL. `data` and `errors` may stand beside each other: what failed is null in the data.
#[derive(Debug, Clone)]
pub struct GraphqlAnswer {
    /// The data as the store wrote it; `None` where it is null or missing.
    pub data: Option<Box<RawValue>>,
    /// The failures, a hundred at the most.
    pub errors: Vec<GraphqlError>,
    /// The version in which the platform answered (`X-Shopify-API-Version`): an expired one is answered in the oldest that it
    /// supports.
    pub version: Option<String>,
    /// An earlier sending of the same call was not answered: the store may carry that one out yet.
    pub is_open: bool,
}

/// One error of a GraphQL answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphqlError {
    /// In the store's words, cut to 500 characters. Wordings change; `code` decides.
    pub message: String,
    /// The platform's code (`extensions.code`), `MAX_COMPLEXITY_EXCEEDED` say.
    pub code: Option<String>,
    /// Its place in the answer, indexes as text.
    pub path: Vec<String>,
}

/// The kind of a GraphQL error, by which a caller knows if the call was carried out and if the same is refused again. The
/// later ones leave more open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GraphqlErrorKind {
    /// The call asks for more at once than the store takes. It was not carried out; a smaller one may be.
    Size,
    /// The call itself is wrong, its document or its variables. It was not carried out.
    Call,
    /// The store takes no such calls from us: it is locked or inactive, or knows no right of ours. It was not carried out,
    /// and may be when the merchant wants it.
    Access,
    /// The platform failed, or does not say what is wrong. The call may have been carried out.
    Failure,
}

impl GraphqlErrorKind {
    /// Codes as the platform states them. In camel case it states those of a document that it found wrong before it began.
    fn of(code: Option<&str>) -> Self {
        match code {
            Some("MAX_COMPLEXITY_EXCEEDED" | "MAX_COST_EXCEEDED" | "MAX_INPUT_SIZE_EXCEEDED") => Self::Size,
            Some("BAD_USER_INPUT" | "INVALID_VARIABLE" | "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED") => {
                Self::Call
            }
            Some(code) if code.starts_with(|first: char| first.is_ascii_lowercase()) => Self::Call,
            Some("ACCESS_DENIED" | "UNAUTHORIZED" | "SHOP_INACTIVE" | "ONLINE_STORE_LOCKED") => Self::Access,
            _ => Self::Failure,
        }
    }

    /// True where the store may have carried out the call.
    #[must_use]
    pub const fn leaves_open(self) -> bool {
        matches!(self, Self::Failure)
    }
}

impl Classify for GraphqlErrorKind {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Size | Self::Call => ErrorCode::StoreRejected,
            Self::Access | Self::Failure => ErrorCode::StoreUnavailable,
        }
    }
}

impl GraphqlAnswer {
    /// The kind of its errors, of several the one that leaves the most open.
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

/// The errors alone.
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

/// True where an answer of status 200 says "too many requests".
pub(crate) fn is_throttled(body: &[u8]) -> bool {
    // Hardly any answer has the word in it, so hardly any is read twice.
    memmem::find(body, THROTTLED.as_bytes()).is_some()
        && read_store_json::<Faults>(body)
            .ok()
            .and_then(|faults| faults.errors)
            .is_some_and(|errors| errors.iter().any(|error| error.code() == Some(THROTTLED)))
}

/// Reads an answer.
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
