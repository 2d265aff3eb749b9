//! Conversion of a tool's arguments to the call of an operation. The operation validates the values. Only values that a
//! path or query cannot express are rejected here.

use api::{Asker, IDEMPOTENCY_KEY, Location, OperationCall, Problem, Rule, Violation};
use http::HeaderValue;
use serde_json::{Map, Value};

use super::operation::{Kind, Operation, Parameter, Place};

/// Builds the call of an operation from `arguments`. Unknown arguments are ignored, and null means absent.
///
/// # Errors
/// Returns a 422 problem with the values that a path or query cannot express.
pub(super) fn call(
    operation: &Operation,
    mut arguments: Map<String, Value>,
    asker: Asker,
) -> Result<OperationCall, Problem> {
    let mut violations = Vec::new();
    let mut path = operation.path.clone();
    let mut query = Vec::new();
    let idempotency_key = match arguments.remove("idempotency_key") {
        Some(given) if operation.idempotent_by_key && !given.is_null() => header(given, &mut violations),
        _ => None,
    };
    for parameter in operation.parameters.iter().filter(|one| one.place != Place::Body) {
        let given = arguments.remove(&parameter.name).filter(|given| !given.is_null());
        let text = match given {
            Some(given) => text(parameter, given, &mut violations),
            None if parameter.place == Place::Path => {
                refuse(parameter, &Rule::Missing, Some(Value::Null), &mut violations);
                None
            }
            None => None,
        };
        let Some(text) = text else { continue };
        if parameter.place == Place::Query {
            query.push((parameter.name.clone().into(), text));
        } else if text.is_empty() || text == "." || text == ".." {
            // An empty segment would change the path.
            refuse(parameter, &Rule::StringTooShort(1), Some(text.into()), &mut violations);
        } else {
            path = path.replace(&format!("{{{}}}", parameter.name), &OperationCall::segment(&text));
        }
    }
    if !violations.is_empty() {
        return Err(Problem::invalid(violations));
    }
    for parameter in operation.parameters.iter().filter(|one| one.place == Place::Body) {
        if let Some(given) = arguments.get_mut(&parameter.name) {
            *given = meant(parameter.kind, given.take());
        }
    }
    let mut call = OperationCall::new(operation.id.clone(), operation.method.clone(), path, asker);
    call.query = query;
    call.idempotency_key = idempotency_key;
    if operation.has_body {
        call = call.body(Value::Object(arguments).to_string());
    }
    Ok(call)
}

/// Parses a value of the body that a client sent as JSON text. Other texts stay unchanged, and the operation rejects
/// them.
fn meant(kind: Kind, given: Value) -> Value {
    let read = given.as_str().and_then(|text| serde_json::from_str(text).ok());
    let is_meant = |read: &Value| match kind {
        Kind::Structure => read.is_array() || read.is_object(),
        Kind::Integer => read.is_i64() || read.is_u64(),
        Kind::Boolean => read.is_boolean(),
        Kind::Text | Kind::JsonText | Kind::List | Kind::Code => false,
    };
    read.filter(is_meant).unwrap_or(given)
}

/// Converts a value to text for a path or query.
fn text(parameter: &Parameter, given: Value, violations: &mut Vec<Violation>) -> Option<String> {
    // A number is rejected for a text parameter, because the operation could not tell `5` from `"5"`.
    let is_worded = matches!(parameter.kind, Kind::Text | Kind::List | Kind::Code);
    match given {
        Value::String(text) if parameter.kind == Kind::List && text.starts_with('[') => {
            Some(serde_json::from_str::<Vec<String>>(&text).map_or(text, |words| words.join(",")))
        }
        Value::String(text) => Some(text),
        Value::Number(number) if !is_worded => Some(number.to_string()),
        Value::Number(number) if parameter.kind == Kind::Code && !number.is_f64() => Some(number.to_string()),
        Value::Bool(flag) if !is_worded => Some(flag.to_string()),
        Value::Object(_) if parameter.kind == Kind::JsonText => Some(given.to_string()),
        Value::Array(words) if parameter.kind == Kind::List && words.iter().all(Value::is_string) => {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            Some(words.join(","))
        }
        given => {
            let rule = match parameter.kind {
                Kind::Integer => Rule::IntType,
                Kind::Boolean => Rule::BoolType,
                Kind::Text | Kind::JsonText | Kind::List | Kind::Code | Kind::Structure => Rule::StringType,
            };
            refuse(parameter, &rule, Some(given), violations);
            None
        }
    }
}

fn refuse(parameter: &Parameter, rule: &Rule, input: Option<Value>, violations: &mut Vec<Violation>) {
    let part = if parameter.place == Place::Path {
        "path"
    } else {
        "query"
    };
    let loc = vec![Location::from(part), parameter.name.clone().into()];
    violations.push(Violation::new(loc, rule, input));
}

fn header(given: Value, violations: &mut Vec<Violation>) -> Option<HeaderValue> {
    let key = given.as_str().and_then(|key| HeaderValue::from_str(key).ok());
    if key.is_none() {
        let loc = vec![Location::from("header"), IDEMPOTENCY_KEY.as_str().to_owned().into()];
        violations.push(Violation::new(loc, &Rule::StringType, Some(given)));
    }
    key
}
