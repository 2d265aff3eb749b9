use std::time::Duration;

use api::OperationAnswer;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Message;
use crate::wire::Problem as CartProblem;

/// A failure as callers receive it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    pub(crate) content: String,
    #[serde(skip)]
    pub(crate) retry_after: Option<Duration>,
}

impl Fault {
    pub(crate) fn invalid(content: &str) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: "invalid".to_owned(),
            content: content.to_owned(),
            retry_after: None,
        }
    }

    pub(crate) fn internal() -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: "internal".to_owned(),
            content: "Something went wrong on our side.".to_owned(),
            retry_after: None,
        }
    }
}

/// Request body: a JSON object, or the failure if it is none.
pub(crate) type RequestBody = Result<Value, Failure>;

/// Reason why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The request is invalid or cannot be served now. The HTTP status reports it.
    Transport(Fault),
    /// The request cannot be fulfilled. The protocol reports this with status 200 and messages.
    Outcome(Vec<Message>),
}

/// Fields of a problem document. Each fault in the list becomes one sentence.
#[derive(Debug, Deserialize)]
struct Problem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    detail: Option<Detail>,
    #[serde(default)]
    title: Option<String>,
    /// Items that cannot be bought, if they are the reason.
    #[serde(default)]
    problems: Vec<CartProblem>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Detail {
    Text(String),
    Faults(Vec<Violation>),
}

#[derive(Debug, Deserialize)]
struct Violation {
    loc: Vec<Value>,
    msg: String,
}

impl Failure {
    pub(crate) fn bad(code: &str, content: impl Into<String>) -> Self {
        Self::Transport(Fault {
            status: StatusCode::BAD_REQUEST,
            code: code.to_owned(),
            content: content.into(),
            retry_after: None,
        })
    }

    /// Creates the failure of a request for something that does not exist.
    pub(crate) fn not_found(content: impl Into<String>) -> Self {
        Self::Outcome(vec![Message::unrecoverable("not_found", content)])
    }

    /// Converts an operation's error response to a failure.
    pub(crate) fn of(answer: &OperationAnswer) -> Self {
        let problem = serde_json::from_slice(&answer.body).unwrap_or(Problem {
            code: String::new(),
            detail: None,
            title: None,
            problems: Vec::new(),
        });
        // In the protocol, an item that cannot be bought is an outcome, not an invalid request.
        if !problem.problems.is_empty() {
            let told = |one: CartProblem| Message::recoverable("item_unavailable", one.detail);
            return Self::Outcome(problem.problems.into_iter().map(told).collect());
        }
        let content = match problem.detail {
            Some(Detail::Text(text)) => text,
            Some(Detail::Faults(faults)) => faults.iter().map(Violation::told).collect::<Vec<_>>().join("; "),
            None => problem.title.unwrap_or_else(|| "The request failed.".to_owned()),
        };
        let status = match (answer.status, problem.code.as_str()) {
            (StatusCode::NOT_FOUND, _) => return Self::not_found(content),
            (_, "store_rejected") => return Self::Outcome(vec![Message::recoverable("store_rejected", content)]),
            (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_mismatch") => StatusCode::CONFLICT,
            (StatusCode::UNPROCESSABLE_ENTITY, _) => StatusCode::BAD_REQUEST,
            (status, _) => status,
        };
        Self::Transport(Fault {
            status,
            code: if problem.code.is_empty() {
                "internal".to_owned()
            } else {
                problem.code
            },
            content,
            retry_after: answer.retry_after,
        })
    }

    /// Creates the failure for an operation's response that cannot be parsed.
    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        tracing::error!(%error, "an operation's answer does not match its description");
        Self::Transport(Fault::internal())
    }
}

impl Violation {
    fn told(&self) -> String {
        let steps = self.loc.iter().map(|step| match step {
            Value::String(name) => name.clone(),
            other => other.to_string(),
        });
        format!("{}: {}", steps.collect::<Vec<_>>().join("."), self.msg)
    }
}
