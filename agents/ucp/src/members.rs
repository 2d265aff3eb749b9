//! Parser of the fields of a request object, which reports invalid fields.

use std::error::Error as _;

use api::{Location, Rule, Violation};
use axum::Json;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

/// Deserialises the fields of a request object.
///
/// # Errors
/// The failure names the invalid field in the REST API's words.
pub(crate) fn members<T: DeserializeOwned>(sent: &Value) -> Result<T, Failure> {
    let read = Json::from_bytes(sent.to_string().as_bytes());
    let Json(members) = read.map_err(|error| {
        let fault = error.source().map(ToString::to_string).unwrap_or_default();
        Failure::bad("invalid", violation(&fault).to_string())
    })?;
    Ok(members)
}

/// Converts a deserialisation error to a violation. The error's message looks like `way.to[0].member: invalid type:
/// string "x", expected u32 at line 1 column 9`.
fn violation(fault: &str) -> Violation {
    let begins = ["missing field ", "invalid type: ", "invalid value: ", "invalid length "];
    let at = begins.iter().filter_map(|begin| fault.find(begin)).min();
    let (way, fault) = fault.split_at(at.unwrap_or(fault.len()));
    let fault = fault.rsplit_once(" at line ").map_or(fault, |(fault, _)| fault);
    let step = |step: &str| step.parse().map_or_else(|_| step.to_owned().into(), Location::Index);
    let way = way.trim_end_matches(": ").split(['.', '[', ']']);
    let mut loc: Vec<Location> = vec!["body".into()];
    loc.extend(way.filter(|name| !name.is_empty()).map(step));
    let expected = fault.rsplit_once("expected ").map_or("", |(_, expected)| expected);
    let rule = if let Some(name) = fault.strip_prefix("missing field ") {
        loc.push(name.trim_matches('`').to_owned().into());
        Rule::Missing
    } else if let "i64" | "u64" | "u32" = expected {
        match fault.split_once('`') {
            Some((_, given)) if fault.starts_with("invalid value") && given.starts_with('-') => {
                Rule::GreaterThanEqual(0)
            }
            Some(_) if fault.starts_with("invalid value") => Rule::IntParsingSize,
            Some(_) if fault.contains("floating point") => Rule::IntFromFloat,
            _ => Rule::IntType,
        }
    } else if expected == "a string" {
        Rule::StringType
    } else if expected == "a sequence" {
        Rule::ListType
    } else if expected.starts_with("struct ") {
        Rule::DictType
    } else {
        Rule::Value("the value does not have the form that the operation expects")
    };
    Violation::new(loc, &rule, None)
}
