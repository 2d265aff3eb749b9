use axum::body::Body;
use axum::extract::{FromRequest, Request};
use data_model::ErrorCode;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Map, Value};

use crate::edge::BodyLimit;
use crate::{Location, Problem, Rule, Violation, parse_boolean, parse_integer};

/// The JSON object that a request carries. Everything that can be wrong with the body as such is answered here:
/// 415 for another media type, 413 for one that is too large, 422 for one that is no JSON or no object.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonObject(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::new(ErrorCode::UnsupportedMediaType));
        }
        let bytes_max = request
            .extensions()
            .get::<BodyLimit>()
            .map_or(BodyLimit::DEFAULT, |limit| limit.0);
        let bytes = read(request.into_body(), bytes_max).await?;
        parse(&bytes).map(Self)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let stated = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = stated.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

async fn read(body: Body, bytes_max: usize) -> Result<bytes::Bytes, Problem> {
    match Limited::new(body, bytes_max).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(bytes_max)),
        // The client broke off: nobody will read this answer.
        Err(_) => Err(Problem::new(ErrorCode::MalformedJson).detail("The body ended early.")),
    }
}

/// The answer to a body of more than `bytes_max`, whether its length was stated or not.
pub(crate) fn too_large(bytes_max: usize) -> Problem {
    let detail = format!("The body is too large: it may have at most {bytes_max} bytes.");
    Problem::new(ErrorCode::PayloadTooLarge).detail(detail)
}

fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let at = |below: Option<Location>| std::iter::once(Location::from("body")).chain(below).collect::<Vec<_>>();
    if bytes.trim_ascii().is_empty() {
        return Err(Problem::invalid(vec![Violation::new(
            at(None),
            &Rule::Missing,
            Some(Value::Null),
        )]));
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(members)) => Ok(members),
        // Not echoed: a text or list in place of the object may hold what should be secret.
        Ok(_) => Err(Problem::invalid(vec![Violation::new(at(None), &Rule::DictType, None)])),
        Err(error) => {
            let line_start = bytes.split(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
            let position = line_start.map(|line| line.len() + 1).sum::<usize>() + error.column().saturating_sub(1);
            let rule = Rule::BodyInvalid(error.to_string());
            let input = Some(Value::Object(Map::new()));
            Err(Problem::malformed_json(Violation::new(
                at(Some(position.into())),
                &rule,
                input,
            )))
        }
    }
}

/// Reads the members of a body's object and collects every fault on the way, with pydantic's lax rules.
#[derive(Debug)]
pub struct MembersReader<'a> {
    members: &'a Map<String, Value>,
    violations: Vec<Violation>,
}

impl<'a> MembersReader<'a> {
    /// Reads the members of `object`.
    #[must_use]
    pub fn new(object: &'a JsonObject) -> Self {
        Self {
            members: &object.0,
            violations: Vec::new(),
        }
    }

    /// A member that is there and not null; a fault when it is required and is not.
    pub fn value(&mut self, name: &'static str, required: bool) -> Option<&'a Value> {
        let found = self.members.get(name);
        if found.is_none() && required {
            self.refuse(vec![name.into()], &Rule::Missing, Some(Value::Null));
        }
        found.filter(|value| required || !value.is_null())
    }

    /// A text of at most `chars_max` characters.
    pub fn text(&mut self, name: &'static str, required: bool, chars_max: usize) -> Option<&'a str> {
        let value = self.value(name, required)?;
        let text = value.as_str().ok_or(Rule::StringType).and_then(|text| {
            if text.chars().count() > chars_max {
                Err(Rule::StringTooLong(chars_max))
            } else {
                Ok(text)
            }
        });
        self.checked(name, value, text)
    }

    /// An integer: a JSON number without fraction or a text that holds one.
    pub fn integer(&mut self, name: &'static str, required: bool) -> Option<i64> {
        let value = self.value(name, required)?;
        let integer = match value {
            Value::Number(number) => number.as_i64().map_or_else(
                || match number.as_f64() {
                    Some(float) if float.fract() != 0.0 => Err(Rule::IntFromFloat),
                    // Saturates, as everywhere where a number is beyond 64 bits.
                    Some(float) => Ok(float as i64),
                    None => Err(Rule::IntType),
                },
                Ok,
            ),
            Value::String(text) => parse_integer(text),
            Value::Bool(flag) => Ok(i64::from(*flag)),
            _ => Err(Rule::IntType),
        };
        self.checked(name, value, integer)
    }

    /// A boolean, or a text or number that stands for one.
    pub fn boolean(&mut self, name: &'static str, required: bool) -> Option<bool> {
        let value = self.value(name, required)?;
        let flag = match value {
            Value::Bool(flag) => Ok(*flag),
            Value::String(text) => parse_boolean(text),
            Value::Number(number) => match number.as_f64() {
                Some(0.0) => Ok(false),
                Some(1.0) => Ok(true),
                _ => Err(Rule::BoolParsing),
            },
            _ => Err(Rule::BoolType),
        };
        self.checked(name, value, flag)
    }

    /// A list of at most `items_max` values.
    pub fn list(&mut self, name: &'static str, required: bool, items_max: usize) -> Option<&'a [Value]> {
        let value = self.value(name, required)?;
        let items = value.as_array().ok_or(Rule::ListType).and_then(|items| {
            let actual = items.len();
            if actual > items_max {
                Err(Rule::TooLong { max: items_max, actual })
            } else {
                Ok(items.as_slice())
            }
        });
        self.checked(name, value, items)
    }

    /// Records that something breaks a rule; `below` is the way from `body` to it.
    pub fn refuse(&mut self, below: Vec<Location>, rule: &Rule, input: Option<Value>) {
        if self.violations.len() < 100 {
            let loc = std::iter::once(Location::from("body")).chain(below).collect();
            self.violations.push(Violation::new(loc, rule, input));
        }
    }

    fn checked<T>(&mut self, name: &'static str, value: &Value, read: Result<T, Rule>) -> Option<T> {
        read.map_err(|rule| self.refuse(vec![name.into()], &rule, Some(value.clone())))
            .ok()
    }

    /// Ends the reading: `value` when there was no fault.
    ///
    /// # Errors
    /// A 422 that lists every fault.
    pub fn finish<T>(self, value: T) -> Result<T, Problem> {
        if self.violations.is_empty() {
            Ok(value)
        } else {
            Err(Problem::invalid(self.violations))
        }
    }
}
