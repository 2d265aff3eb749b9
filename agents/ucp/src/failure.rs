use std::time::Duration;

use api::OperationAnswer;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};

use crate::message::Message;

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The request itself is at fault, or cannot be served now: a status says so.
    Transport {
        status: StatusCode,
        code: String,
        content: String,
        retry_after: Option<Duration>,
    },
    /// What was asked for cannot be: the protocol answers that with 200 and messages.
    Outcome(Vec<Message>),
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    code: &'a str,
    content: &'a str,
}

/// What is read of a problem's document; the list of faults is one sentence a fault.
#[derive(Debug, Deserialize)]
struct Problem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    detail: Option<Detail>,
    #[serde(default)]
    title: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Detail {
    Text(String),
    Faults(Vec<Fault>),
}

#[derive(Debug, Deserialize)]
struct Fault {
    loc: Vec<serde_json::Value>,
    msg: String,
}

impl Failure {
    /// The request is not as it must be.
    pub(crate) fn bad(code: &str, content: impl Into<String>) -> Self {
        Self::Transport {
            status: StatusCode::BAD_REQUEST,
            code: code.to_owned(),
            content: content.into(),
            retry_after: None,
        }
    }

    /// There is no such thing.
    pub(crate) fn not_found(content: impl Into<String>) -> Self {
        Self::Outcome(vec![Message::unrecoverable("not_found", content)])
    }

    /// What an operation answered that has no result.
    pub(crate) fn of(answer: &OperationAnswer) -> Self {
        let problem = serde_json::from_slice(&answer.body).unwrap_or(Problem {
            code: String::new(),
            detail: None,
            title: None,
        });
        let content = match problem.detail {
            Some(Detail::Text(text)) => text,
            Some(Detail::Faults(faults)) => faults.iter().map(Fault::told).collect::<Vec<_>>().join("; "),
            None => problem.title.unwrap_or_else(|| "The request failed.".to_owned()),
        };
        let status = match (answer.status, problem.code.as_str()) {
            (StatusCode::NOT_FOUND, _) => return Self::not_found(content),
            (_, "store_rejected") => return Self::Outcome(vec![Message::recoverable("store_rejected", content)]),
            (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_mismatch") => StatusCode::CONFLICT,
            (StatusCode::UNPROCESSABLE_ENTITY, _) => StatusCode::BAD_REQUEST,
            (status, _) => status,
        };
        Self::Transport {
            status,
            code: if problem.code.is_empty() {
                "internal".to_owned()
            } else {
                problem.code
            },
            content,
            retry_after: answer.retry_after,
        }
    }

    /// An operation answered what nobody understands.
    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        tracing::error!(%error, "an operation's answer is not what it is described as");
        Self::Transport {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: "internal".to_owned(),
            content: "Something went wrong on our side.".to_owned(),
            retry_after: None,
        }
    }
}

impl Fault {
    fn told(&self) -> String {
        let steps = self.loc.iter().map(|step| match step {
            serde_json::Value::String(name) => name.clone(),
            other => other.to_string(),
        });
        format!("{}: {}", steps.collect::<Vec<_>>().join("."), self.msg)
    }
}

/// The answer of a transport error.
pub(crate) fn transport(status: StatusCode, code: &str, content: &str, retry_after: Option<Duration>) -> Response {
    let mut response = api::json(status, &Document { code, content }).into_response();
    let headers = response.headers_mut();
    if let Some(wait) = retry_after {
        let seconds = wait.as_secs().max(1);
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"ucp\""),
        );
    }
    response
}
