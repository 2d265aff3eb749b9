use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::fault::Fault;

/// Number from which on a floating-point number may stand for several integers.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// Id of a request: a text or an integer, never null.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(Number),
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// Message that gets a response.
    Request(Request),
    /// Message that gets no response.
    Notification { method: String },
    /// Response, although this server never sends requests.
    Response,
    /// Invalid message, with its id if it has one.
    Invalid { id: Option<Id>, why: &'static str },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    /// Parameters, if any. Values that are not objects stay, so that a later check can reject them.
    pub(crate) params: Option<Value>,
}

impl Message {
    pub(crate) fn of(value: Value) -> Self {
        let Value::Object(mut members) = value else {
            return Self::Invalid {
                id: None,
                why: "A message must be a JSON object.",
            };
        };
        let given = members.remove("id");
        let is_given = given.is_some();
        let id = given.and_then(Id::of);
        let invalid = |why| Self::Invalid { id: id.clone(), why };
        if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid("`jsonrpc` must be \"2.0\".");
        }
        match members.remove("method") {
            Some(Value::String(method)) if !is_given => Self::Notification { method },
            Some(Value::String(method)) => match id {
                Some(id) => Self::Request(Request {
                    id,
                    method,
                    params: members.remove("params"),
                }),
                None => invalid("`id` must be a string or an integer of at most 64 bits."),
            },
            Some(_) => invalid("`method` must be a string."),
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
                // A response must repeat the id exactly. The parser rounds integers of more than 64 bits.
                let is_exact = |it: f64| it.fract() == 0.0 && it.abs() < INEXACT;
                let whole = number.is_i64() || number.is_u64() || number.as_f64().is_some_and(is_exact);
                whole.then_some(Self::Number(number))
            }
            _ => None,
        }
    }
}

impl Request {
    /// Returns the parameters. Missing parameters are an empty object.
    pub(crate) fn params(&self) -> Result<Option<&Map<String, Value>>, Fault> {
        match &self.params {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(_) => Err(Fault::invalid_params("`params` must be an object.")),
        }
    }

    pub(crate) fn param(&self, name: &str) -> Option<&Value> {
        self.params.as_ref()?.get(name)
    }

    pub(crate) fn meta(&self, name: &str) -> Option<&Value> {
        self.param("_meta")?.get(name)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// Result as complete JSON on one line.
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

/// Returns the response to a request. For a message that could not be parsed, `id` is null.
pub(crate) fn response(id: Option<&Id>, outcome: &Outcome) -> String {
    // Ids and errors contain only values that JSON can represent.
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
