//! Errors in the platform's format. Codes and formats are the platform's if they are known. Messages that recordings
//! lack are those of the GraphQL library.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::request::RequestError;
use apollo_compiler::response::GraphQLError;
use apollo_compiler::validation::{DiagnosticData, DiagnosticList};
use serde_json::{Value, json};

use super::customer::EXCEEDED;
use super::scope::DENIED;

/// Returns the line and column of a position in a document.
pub(super) fn locations(location: Option<SourceSpan>, document: &ExecutableDocument) -> Value {
    let found = location.and_then(|location| location.line_column(&document.sources));
    found.map_or_else(|| json!([]), |at| json!([{ "line": at.line, "column": at.column }]))
}

/// Error kinds that follow from a field that does not exist.
const CONSEQUENCES: &[&str] = &["MissingSubselection", "UnusedVariable", "UnusedFragment"];

/// Returns the errors in a document: syntax errors, or violations of the schema.
pub(super) fn of_document(diagnostics: &DiagnosticList) -> Vec<Value> {
    let name = |data: &DiagnosticData| data.unstable_error_name().unwrap_or_default();
    let is_cause = diagnostics
        .iter()
        .any(|diagnostic| name(diagnostic.error) == "UndefinedField");
    // A field that does not exist leaves its parent empty and variables unused. The platform reports only the cause.
    let told = diagnostics
        .iter()
        .filter(|diagnostic| !(is_cause && CONSEQUENCES.contains(&name(diagnostic.error))));
    let listed = told.map(|diagnostic| {
        let error = diagnostic.to_json();
        let name = diagnostic.error.unstable_error_name().unwrap_or_default();
        let words = diagnostic
            .error
            .unstable_compat_message()
            .unwrap_or_else(|| error.message.clone());
        let mut told = json!({ "message": words, "locations": error.locations });
        if let Some((code, message, more)) = coded(name, &words) {
            told["message"] = message.into();
            told["extensions"] = more;
            told["extensions"]["code"] = code.into();
        }
        told
    });
    listed.collect()
}

/// Returns the platform's code for a validation error, its message and its additional keys.
fn coded(name: &str, words: &str) -> Option<(&'static str, String, Value)> {
    // The compatible wording puts names in double quotes: `Cannot query field "x" on type "Y".`
    let mut quoted = words.split('"').skip(1).step_by(2);
    let (first, second) = (quoted.next().unwrap_or_default(), quoted.next().unwrap_or_default());
    Some(match name {
        "UndefinedField" => (
            "undefinedField",
            format!("Field '{first}' doesn't exist on type '{second}'"),
            json!({ "typeName": second, "fieldName": first }),
        ),
        "UndefinedArgument" => (
            "argumentNotAccepted",
            words.to_owned(),
            json!({ "argumentName": first }),
        ),
        "RequiredArgument" => ("missingRequiredArguments", words.to_owned(), json!({})),
        "UnsupportedValueType" | "UndefinedEnumValue" | "UndefinedInputValue" | "RequiredField" => {
            ("argumentLiteralsIncompatible", words.to_owned(), json!({}))
        }
        "DisallowedVariableUsage" => ("variableMismatch", words.to_owned(), json!({})),
        "UnusedVariable" => ("variableNotUsed", words.to_owned(), json!({ "variableName": first })),
        "UndefinedVariable" => ("variableNotDefined", words.to_owned(), json!({ "variableName": first })),
        "UndefinedFragment" => (
            "useAndDefineFragment",
            words.to_owned(),
            json!({ "fragmentName": first }),
        ),
        "UnusedFragment" => (
            "useAndDefineFragment",
            words.to_owned(),
            json!({ "fragmentName": first }),
        ),
        "MissingSubselection" | "SubselectionOnScalarType" | "SubselectionOnEnumType" => {
            ("selectionMismatch", words.to_owned(), json!({}))
        }
        _ => return None,
    })
}

/// Returns an error about the request as a whole.
pub(super) fn of_request(error: &RequestError, document: &ExecutableDocument) -> Value {
    json!({ "message": error.message().to_string(), "locations": locations(error.location(), document) })
}

pub(super) fn of_variable(error: &RequestError, document: &ExecutableDocument) -> Value {
    let mut told = of_request(error, document);
    told["extensions"] = json!({ "code": "INVALID_VARIABLE" });
    told
}

/// Prefix that the library adds to the message of a field error.
const LIBRARY: &str = "resolver error: ";

/// Returns an error about a field that occurred during execution.
pub(super) fn of_field(error: &GraphQLError) -> Value {
    let message = error.message.strip_prefix(LIBRARY).unwrap_or(&error.message);
    let mut told = json!({ "message": message, "locations": error.locations, "path": error.path });
    let denied = message.starts_with(DENIED);
    if let Some(required) = message.split("Required access: ").nth(1).filter(|_| denied) {
        told["extensions"] = json!({
            "code": "ACCESS_DENIED",
            "documentation": "https://shopify.dev/api/usage/access-scopes",
            "requiredAccess": required.trim_end_matches('.'),
        });
    }
    if message.ends_with(EXCEEDED) {
        told["extensions"] = json!({ "code": "THROTTLED" });
    }
    told
}
