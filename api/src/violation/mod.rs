use std::borrow::Cow;
use std::fmt;

use data_model::ErrorCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// One step of the path to an invalid value: a field name or a list index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Location {
    /// `query`, `path`, `header`, `body`, or a name below them.
    Name(Cow<'static, str>),
    /// An index in a list, or a position in the text of a body that is not JSON.
    Index(u64),
}

impl From<&'static str> for Location {
    fn from(name: &'static str) -> Self {
        Self::Name(Cow::Borrowed(name))
    }
}

impl From<String> for Location {
    fn from(name: String) -> Self {
        Self::Name(Cow::Owned(name))
    }
}

impl From<usize> for Location {
    fn from(index: usize) -> Self {
        Self::Index(index as u64)
    }
}

/// One fault of a request, in the format of FastAPI and pydantic v2.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Violation {
    #[serde(rename = "type")]
    kind: &'static str,
    loc: Vec<Location>,
    msg: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctx: Option<Value>,
}

impl fmt::Display for Violation {
    /// Formats the path to the value and the fault: `body.items.0.qty: Input should be …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, step) in self.loc.iter().enumerate() {
            let dot = if nth == 0 { "" } else { "." };
            match step {
                Location::Name(name) => write!(f, "{dot}{name}")?,
                Location::Index(index) => write!(f, "{dot}{index}")?,
            }
        }
        write!(f, ": {}", self.msg)
    }
}

/// Rule that a value breaks. Types, messages and contexts are those of pydantic 2.14.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// A required value is absent.
    Missing,
    /// The text is not an integer.
    IntParsing,
    /// The text is an integer of more than 4,300 digits.
    IntParsingSize,
    /// The JSON value is neither a number nor a text.
    IntType,
    /// The JSON number has a fraction.
    IntFromFloat,
    /// The value is below this minimum.
    GreaterThanEqual(i64),
    /// The value is above this maximum.
    LessThanEqual(i64),
    /// The text is not a boolean.
    BoolParsing,
    /// The JSON value is not a boolean.
    BoolType,
    /// The value is not one of the allowed names.
    Enum(Vec<&'static str>),
    /// The JSON value is not a string.
    StringType,
    /// The bytes are not valid UTF-8.
    StringUnicode,
    /// The text has more characters than this.
    StringTooLong(usize),
    /// The text has fewer characters than this.
    StringTooShort(usize),
    /// The text does not match this regular expression.
    StringPatternMismatch(&'static str),
    /// The text is not a UUID; contains the reason.
    UuidParsing(String),
    /// A parameter that should contain JSON does not; contains the parser's message.
    JsonInvalid(String),
    /// The body is not JSON; contains the parser's message.
    BodyInvalid(String),
    /// The JSON value is not an object.
    DictType,
    /// The JSON value is not a list.
    ListType,
    /// The list contains more than `max` items.
    TooLong {
        /// Maximum number of items.
        max: usize,
        /// Number of items found.
        actual: usize,
    },
    /// The text or number of an amount has a decimal point.
    MinorUnits,
    /// An unknown field, and the field that was probably meant.
    ExtraForbidden(Option<String>),
    /// A rule of this service, with its message.
    Value(&'static str),
    /// Rule with an error code, for rules that pydantic does not have. The text is the message about this fault.
    Code(ErrorCode, Cow<'static, str>),
}

/// Fields whose values are never repeated in a response.
const SECRETS: [&str; 4] = ["password", "key", "token", "secret"];

/// Maximum length of an echoed input in characters. A response must not grow with the request.
const ECHO_CHARS_MAX: usize = 256;

impl Violation {
    /// Creates a violation: the value `input` at `loc` breaks `rule`. An `input` of `None` is not echoed, and neither
    /// is the value of a field with a secret-sounding name.
    #[must_use]
    pub fn new(loc: Vec<Location>, rule: &Rule, input: Option<Value>) -> Self {
        let secret = loc.iter().any(|part| match part {
            Location::Name(name) => SECRETS.iter().any(|secret| name.to_ascii_lowercase().contains(secret)),
            Location::Index(_) => false,
        });
        let (kind, msg, ctx) = rule.describe();
        Self {
            kind,
            loc,
            msg,
            input: input.filter(|_| !secret).and_then(cut),
            ctx,
        }
    }

    /// True if the fault is in the field `member` of the object at `above` in this section of the request, or below
    /// that field.
    pub(crate) fn is_within(&self, part: &str, above: &[Location], member: &str) -> bool {
        let named = |step: &Location, wanted: &str| matches!(step, Location::Name(name) if name == wanted);
        let Some((first, rest)) = self.loc.split_first() else {
            return false;
        };
        let below = rest.strip_prefix(above).and_then(<[Location]>::first);
        named(first, part) && below.is_some_and(|step| named(step, member))
    }

    /// Returns pydantic's name of the rule.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }
}

/// Limits an echoed value: a long text is truncated, and a long list or the content of an object is left out.
fn cut(input: Value) -> Option<Value> {
    Some(match input {
        Value::String(text) if text.chars().count() > ECHO_CHARS_MAX => text
            .chars()
            .take(ECHO_CHARS_MAX)
            .chain(['…'])
            .collect::<String>()
            .into(),
        Value::Array(items) if items.len() > 20 => return None,
        Value::Object(_) => Value::Object(Map::new()),
        Value::Array(items) => Value::Array(items.into_iter().map(cut).collect::<Option<_>>()?),
        other => other,
    })
}

/// Formats names as `'a', 'b' or 'c'`.
fn list_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("'{one}'"),
        [head @ .., last] => {
            let head: Vec<_> = head.iter().map(|name| format!("'{name}'")).collect();
            format!("{} or '{last}'", head.join(", "))
        }
    }
}

type Description = (&'static str, String, Option<Value>);

impl Rule {
    fn describe(&self) -> Description {
        let plain = |kind, msg: &str| (kind, msg.to_owned(), None);
        match self {
            Self::Missing => plain("missing", "Field required"),
            Self::ExtraForbidden(None) => plain("extra_forbidden", "Extra inputs are not permitted"),
            Self::ExtraForbidden(Some(meant)) => (
                "extra_forbidden",
                format!("Extra inputs are not permitted; did you mean '{meant}'?"),
                Some(json!({ "meant": meant })),
            ),
            Self::MinorUnits => plain(
                "int_parsing",
                "Input should be a valid integer: amounts are minor units, 49900 stands for 499.00",
            ),
            Self::IntParsing => plain(
                "int_parsing",
                "Input should be a valid integer, unable to parse string as an integer",
            ),
            Self::IntParsingSize => plain(
                "int_parsing_size",
                "Unable to parse input string as an integer, exceeded maximum size",
            ),
            Self::IntType => plain("int_type", "Input should be a valid integer"),
            Self::IntFromFloat => plain(
                "int_from_float",
                "Input should be a valid integer, got a number with a fractional part",
            ),
            Self::BoolParsing => plain(
                "bool_parsing",
                "Input should be a valid boolean, unable to interpret input",
            ),
            Self::BoolType => plain("bool_type", "Input should be a valid boolean"),
            Self::StringType => plain("string_type", "Input should be a valid string"),
            Self::StringUnicode => plain(
                "string_unicode",
                "Input should be a valid string, unable to parse raw data as a unicode string",
            ),
            Self::DictType => plain("dict_type", "Input should be a valid dictionary"),
            Self::ListType => plain("list_type", "Input should be a valid list"),
            bounded => bounded.describe_with_context(),
        }
    }

    fn describe_with_context(&self) -> Description {
        match self {
            Self::GreaterThanEqual(ge) => (
                "greater_than_equal",
                format!("Input should be greater than or equal to {ge}"),
                Some(json!({ "ge": ge })),
            ),
            Self::LessThanEqual(le) => (
                "less_than_equal",
                format!("Input should be less than or equal to {le}"),
                Some(json!({ "le": le })),
            ),
            Self::Enum(names) => {
                let expected = list_of(names);
                (
                    "enum",
                    format!("Input should be {expected}"),
                    Some(json!({ "expected": expected })),
                )
            }
            Self::StringTooLong(max) => (
                "string_too_long",
                format!("String should have at most {max} characters"),
                Some(json!({ "max_length": max })),
            ),
            Self::StringTooShort(min) => (
                "string_too_short",
                format!(
                    "String should have at least {min} character{}",
                    if *min == 1 { "" } else { "s" }
                ),
                Some(json!({ "min_length": min })),
            ),
            Self::StringPatternMismatch(pattern) => (
                "string_pattern_mismatch",
                format!("String should match pattern '{pattern}'"),
                Some(json!({ "pattern": pattern })),
            ),
            Self::UuidParsing(error) => (
                "uuid_parsing",
                format!("Input should be a valid UUID, {error}"),
                Some(json!({ "error": error })),
            ),
            Self::JsonInvalid(error) => (
                "json_invalid",
                format!("Invalid JSON: {error}"),
                Some(json!({ "error": error })),
            ),
            Self::BodyInvalid(error) => (
                "json_invalid",
                "JSON decode error".to_owned(),
                Some(json!({ "error": error })),
            ),
            Self::TooLong { max, actual } => (
                "too_long",
                format!("List should have at most {max} items after validation, not {actual}"),
                Some(json!({ "field_type": "List", "max_length": max, "actual_length": actual })),
            ),
            Self::Value(words) => (
                "value_error",
                format!("Value error, {words}"),
                Some(json!({ "error": words })),
            ),
            Self::Code(code, words) => (code.as_str(), words.clone().into_owned(), None),
            _ => ("value_error", "Value error".to_owned(), None),
        }
    }
}

#[cfg(test)]
mod tests;
