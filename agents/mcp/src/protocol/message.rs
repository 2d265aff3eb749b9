use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::fault::Fault;

/// The id of a request: a text or a whole number, never null.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(Number),
    Text(String),
}

/// One message of a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// Is answered.
    Request(Request),
    /// Is taken, and never answered.
    Notification { method: String },
    /// Answers what this server never asks.
    Response,
    /// No message; the id as far as there is one.
    Invalid { id: Option<Id>, why: &'static str },
}

/// A message that needs an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    /// `None` where there are none; what is no object is kept, to be refused.
    pub(crate) params: Option<Value>,
}

impl Message {
    pub(crate) fn of(value: Value) -> Self {
        let Value::Object(mut members) = value else {
            return Self::Invalid {
                id: None,
                why: "A message is a JSON object.",
            };
        };
        let given = members.remove("id");
        let is_given = given.is_some();
        let id = given.and_then(Id::of);
        let invalid = |why| Self::Invalid { id: id.clone(), why };
        if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid("`jsonrpc` is to be \"2.0\".");
        }
        match members.remove("method") {
            Some(Value::String(method)) if !is_given => Self::Notification { method },
            Some(Value::String(method)) => match id {
                Some(id) => Self::Request(Request {
                    id,
                    method,
                    params: members.remove("params"),
                }),
                None => invalid("`id` is to be a text or a whole number."),
            },
            Some(_) => invalid("`method` is to be a text."),
            None if members.contains_key("result") || members.contains_key("error") => Self::Response,
            None => invalid("`method` is missing."),
        }
    }
}

impl Id {
    fn of(value: Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text)),
            Value::Number(number) => {
                let whole = number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|it| it.fract() == 0.0);
                whole.then_some(Self::Number(number))
            }
            _ => None,
        }
    }
}

impl Request {
    /// The parameters: none are an empty object.
    pub(crate) fn params(&self) -> Result<Option<&Map<String, Value>>, Fault> {
        match &self.params {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(_) => Err(Fault::invalid_params("`params` is to be an object.")),
        }
    }

    /// A member of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<&Value> {
        self.params.as_ref()?.get(name)
    }

    /// A member of `_meta`.
    pub(crate) fn meta(&self, name: &str) -> Option<&Value> {
        self.param("_meta")?.get(name)
    }
}

/// The end of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// A result: JSON, whole, on one line.
    Result(String),
    Fault(Fault),
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    code: i64,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
}

/// The message that answers a request, or what could not be read as one (`id` is null then).
pub(crate) fn response(id: Option<&Id>, outcome: &Outcome) -> String {
    // Neither an id nor an error holds anything that JSON cannot.
    let id = serde_json::to_string(&id).unwrap_or_else(|_| "null".to_owned());
    match outcome {
        Outcome::Result(result) => ["{\"jsonrpc\":\"2.0\",\"id\":", &id, ",\"result\":", result, "}"].concat(),
        Outcome::Fault(fault) => {
            let body = ErrorBody {
                code: fault.code,
                message: &fault.message,
                data: fault.data.as_ref(),
            };
            let error = serde_json::to_string(&body).unwrap_or_else(|_| "{}".to_owned());
            ["{\"jsonrpc\":\"2.0\",\"id\":", &id, ",\"error\":", &error, "}"].concat()
        }
    }
}
