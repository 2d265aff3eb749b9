use std::time::Duration;

use api::OperationAnswer;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Message;
use crate::wire::Problem as CartProblem;

/// A failure as callers get it.
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
    /// A request that is not as it must be.
    pub(crate) fn invalid(content: &str) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: "invalid".to_owned(),
            content: content.to_owned(),
            retry_after: None,
        }
    }

    /// Something is wrong on our side.
    pub(crate) fn internal() -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: "internal".to_owned(),
            content: "Something went wrong on our side.".to_owned(),
            retry_after: None,
        }
    }
}

/// The body that was sent along: a JSON object, or the reason why it is none.
pub(crate) type RequestBody = Result<Value, Failure>;

/// Reasons why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The request itself is at fault, or cannot be served now: a status says so.
    Transport(Fault),
    /// The request cannot be fulfilled: the protocol answers that with 200 and messages.
    Outcome(Vec<Message>),
}

/// The members of a problem document that are read; the list of faults becomes one sentence a fault.
#[derive(Debug, Deserialize)]
struct Problem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    detail: Option<Detail>,
    #[serde(default)]
    title: Option<String>,
    /// Items that nobody sells, where that is why.
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
    /// The request is not as it must be.
    pub(crate) fn bad(code: &str, content: impl Into<String>) -> Self {
        Self::Transport(Fault {
            status: StatusCode::BAD_REQUEST,
            code: code.to_owned(),
            content: content.into(),
            retry_after: None,
        })
    }

    /// There is no such thing.
    pub(crate) fn not_found(content: impl Into<String>) -> Self {
        Self::Outcome(vec![Message::unrecoverable("not_found", content)])
    }

    /// The failure that an operation without a result stands for.
    pub(crate) fn of(answer: &OperationAnswer) -> Self {
        let problem = serde_json::from_slice(&answer.body).unwrap_or(Problem {
            code: String::new(),
            detail: None,
            title: None,
            problems: Vec::new(),
        });
        // An item that nobody sells is an outcome of the protocol, and no fault of the request.
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

    /// An operation answered what nobody understands.
    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        tracing::error!(%error, "an operation's answer is not what it is described as");
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
