use std::fmt;

use data_model::read_store_json;
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
