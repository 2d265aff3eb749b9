use serde_json::{Value, json};

use super::version::{Era, MODERN};

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
/// Until the revision of 2025-11-25.
const RESOURCE_NOT_FOUND: i64 = -32002;
/// From the revision of 2026-07-28 on.
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;
/// The first of our own, outside what JSON-RPC reserves: what is asked too often.
const TOO_MUCH: i64 = 429;

/// The reason for an error of JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    /// The status of the HTTP answer, where the message came alone.
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
        Self::new(PARSE_ERROR, 400, format!("The body is no JSON: {why}"))
    }

    pub(crate) fn invalid_request(why: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, 400, why)
    }

    pub(crate) fn header_mismatch(why: impl Into<String>) -> Self {
        Self::new(HEADER_MISMATCH, 400, why)
    }

    /// `requested` as the client sent it, cut by whoever reads headers.
    pub(crate) fn unsupported_version(requested: &str) -> Self {
        Self::new(
            UNSUPPORTED_VERSION,
            400,
            "This server does not speak that protocol version.",
        )
        .with(json!({ "supported": MODERN, "requested": requested }))
    }

    /// A fault: the request lacks a statement about itself that this era requires.
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

    /// A limit is reached; `problem` is the document that REST answers with.
    pub(crate) fn too_much(problem: Value) -> Self {
        Self::new(TOO_MUCH, 200, "Too many requests").with(problem)
    }
}
