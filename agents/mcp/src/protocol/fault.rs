use serde_json::{Value, json};

use super::version::{Era, MODERN};

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
/// Error code up to revision 2025-11-25.
const RESOURCE_NOT_FOUND: i64 = -32002;
/// Error code from revision 2026-07-28.
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;
/// Error code of this server for exceeded limits, outside the range that JSON-RPC reserves.
const TOO_MUCH: i64 = 429;

/// Reason for a JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    /// Status of the HTTP response if the message was not part of a batch.
    pub(crate) status: u16,
}

impl Fault {
    fn new(code: i64, status: u16, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            status,
        }
    }

    fn with(self, data: Value) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }

    pub(crate) fn unreadable(why: &str) -> Self {
        Self::new(PARSE_ERROR, 400, format!("The body is not valid JSON: {why}"))
    }

    pub(crate) fn invalid_request(why: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, 400, why)
    }

    pub(crate) fn header_mismatch(why: impl Into<String>) -> Self {
        Self::new(HEADER_MISMATCH, 400, why)
    }

    /// Creates the fault for an unsupported version. `requested` is the client's version, which was truncated when the
    /// headers were read.
    pub(crate) fn unsupported_version(requested: &str) -> Self {
        Self::new(
            UNSUPPORTED_VERSION,
            400,
            "This server does not support that protocol version.",
        )
        .with(json!({ "supported": MODERN, "requested": requested }))
    }

    /// Creates the fault for a request without the metadata that its era requires.
    pub(crate) fn incomplete_meta(why: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, 400, why)
    }

    pub(crate) fn invalid_params(why: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, 200, why)
    }

    pub(crate) fn unknown_method(modern: bool) -> Self {
        let status = if modern { 404 } else { 200 };
        Self::new(METHOD_NOT_FOUND, status, "This server has no such method.")
    }

    pub(crate) fn unknown_resource(uri: Option<&str>, era: Era) -> Self {
        let code = match era {
            Era::Modern => INVALID_PARAMS,
            Era::Legacy => RESOURCE_NOT_FOUND,
        };
        Self::new(code, 200, "Resource not found").with(json!({ "uri": uri }))
    }

    pub(crate) fn internal() -> Self {
        Self::new(INTERNAL, 200, "Something went wrong on our side.")
    }

    /// Creates the fault for an exceeded limit. `problem` is a problem document of the REST API.
    pub(crate) fn too_much(problem: Value) -> Self {
        Self::new(TOO_MUCH, 200, "Too many requests").with(problem)
    }
}
