mod values;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use data_model::{ErrorCode, ProductIdent};
use http::request::Parts;
use percent_encoding::percent_decode;
use serde_json::Value;

use crate::edge::RoutePattern;
use crate::{Location, Problem, Rule, Violation};
pub use values::{parse_boolean, parse_integer};

/// Reads query parameters by name and collects every fault on the way.
///
/// As in FastAPI, the last of several parameters of one name counts and unknown names are ignored. A `%` that begins
/// no escape stands for itself; an escape that makes no UTF-8 is a fault. A reading method answers `None` both for an
/// absent and for a faulty value; [`QueryReader::finish`] tells the two apart.
#[derive(Debug)]
pub struct QueryReader<'a> {
    pairs: Vec<(Cow<'a, [u8]>, &'a [u8])>,
    violations: Vec<Violation>,
}

impl<'a> QueryReader<'a> {
    /// Takes the query part of a URI apart; `None` and an empty text hold no parameters.
    #[must_use]
    pub fn new(query: Option<&'a str>) -> Self {
        let pairs = query
            .unwrap_or_default()
            .as_bytes()
            .split(|byte| *byte == b'&')
            .filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let end = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            (unescape(&pair[..end]), pair.get(end + 1..).unwrap_or_default())
        });
        Self {
            pairs: pairs.collect(),
            violations: Vec::new(),
        }
    }

    /// The text of a parameter, of at most `chars_max` characters.
    pub fn text(&mut self, name: &'static str, chars_max: usize) -> Option<Cow<'a, str>> {
        let raw = self
            .pairs
            .iter()
            .rev()
            .find(|(key, _)| key.as_ref() == name.as_bytes())?
            .1;
        let Ok(text) = utf8(unescape(raw)) else {
            self.refuse(name, &Rule::StringUnicode, Some(String::from_utf8_lossy(raw).into()));
            return None;
        };
        if text.len() > chars_max && text.chars().count() > chars_max {
            self.refuse(name, &Rule::StringTooLong(chars_max), Some(text.as_ref().into()));
            return None;
        }
        Some(text)
    }

    /// An integer within bounds; beyond 64 bits it counts as the largest or smallest one.
    pub fn integer(&mut self, name: &'static str, bounds: RangeInclusive<i64>) -> Option<i64> {
        let text = self.text(name, usize::MAX)?;
        let value = parse_integer(&text).and_then(|value| {
            if value < *bounds.start() {
                Err(Rule::GreaterThanEqual(*bounds.start()))
            } else if value > *bounds.end() {
                Err(Rule::LessThanEqual(*bounds.end()))
            } else {
                Ok(value)
            }
        });
        self.checked(name, &text, value)
    }

    /// A boolean in any of the spellings that pydantic takes.
    pub fn boolean(&mut self, name: &'static str) -> Option<bool> {
        let text = self.text(name, usize::MAX)?;
        self.checked(name, &text, parse_boolean(&text))
    }

    /// One of named values.
    pub fn choice<T: Copy>(&mut self, name: &'static str, choices: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(name, usize::MAX)?;
        let found = choices
            .iter()
            .find(|(choice, _)| *choice == text)
            .map(|(_, value)| *value);
        self.checked(
            name,
            &text,
            found.ok_or_else(|| Rule::Enum(choices.iter().map(|(choice, _)| *choice).collect())),
        )
    }

    /// A value that `read` makes of the text.
    pub fn parsed<T>(&mut self, name: &'static str, read: impl FnOnce(&str) -> Result<T, Rule>) -> Option<T> {
        let text = self.text(name, usize::MAX)?;
        self.checked(name, &text, read(&text))
    }

    /// Records a fault when the parameter is absent.
    pub fn require(&mut self, name: &'static str) {
        if !self.pairs.iter().any(|(key, _)| key.as_ref() == name.as_bytes()) {
            self.refuse(name, &Rule::Missing, Some(Value::Null));
        }
    }

    /// Records that a parameter breaks a rule.
    pub fn refuse(&mut self, name: impl Into<Location>, rule: &Rule, input: Option<Value>) {
        self.refuse_at(vec![name.into()], rule, input);
    }

    /// Records that something within a parameter breaks a rule; `below` is the way from `query` to it.
    pub fn refuse_at(&mut self, below: Vec<Location>, rule: &Rule, input: Option<Value>) {
        // A request is bounded and so are its parameters, but a parameter can hold many faulty values.
        if self.violations.len() < 100 {
            let loc = std::iter::once(Location::from("query")).chain(below).collect();
            self.violations.push(Violation::new(loc, rule, input));
        }
    }

    /// Whether a parameter is at fault already.
    #[must_use]
    pub fn refused(&self, name: &str) -> bool {
        self.violations
            .iter()
            .any(|violation| violation.is_within("query", name))
    }

    fn checked<T>(&mut self, name: &'static str, text: &str, value: Result<T, Rule>) -> Option<T> {
        value.map_err(|rule| self.refuse(name, &rule, Some(text.into()))).ok()
    }

    /// Ends the reading: `value` when there was no fault in the query or in `path`.
    ///
    /// # Errors
    /// A 422 that lists every fault.
    pub fn finish<T>(self, path: PathParameters, value: T) -> Result<T, Problem> {
        let mut violations = path.violations;
        violations.extend(self.violations);
        if violations.is_empty() {
            Ok(value)
        } else {
            Err(Problem::invalid(violations))
        }
    }
}

fn utf8(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>, ()> {
    match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| ()),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|_| ()),
    }
}

/// Undoes the escapes of `application/x-www-form-urlencoded`.
fn unescape(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.iter().any(|byte| matches!(byte, b'+' | b'%')) {
        return Cow::Borrowed(raw);
    }
    let spaced: Vec<u8> = raw
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    Cow::Owned(percent_decode(&spaced).collect())
}

/// Reads parameters from the path and collects every fault on the way.
#[derive(Debug, Default)]
pub struct PathParameters {
    values: Vec<(String, String)>,
    violations: Vec<Violation>,
}

impl<S: Send + Sync> FromRequestParts<S> for PathParameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match RawPathParams::from_request_parts(parts, state).await {
            Ok(raw) => {
                let values = raw
                    .iter()
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect();
                Ok(Self {
                    values,
                    violations: Vec::new(),
                })
            }
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => Ok(Self::of_segments(parts)),
            Err(_) => Err(Problem::new(ErrorCode::Internal)),
        }
    }
}

impl PathParameters {
    /// No parameters: for operations whose path has none.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads a path of which some parameter is no UTF-8: axum turns such a path away whole, so the route's pattern is
    /// laid beside it to tell which parameters are at fault.
    fn of_segments(parts: &Parts) -> Self {
        let mut read = Self::default();
        let pattern = parts.extensions.get::<RoutePattern>().map_or("", RoutePattern::as_str);
        for (name, raw) in pattern.split('/').zip(parts.uri.path().split('/')) {
            let Some(name) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
                continue;
            };
            match percent_decode(raw.as_bytes()).decode_utf8() {
                Ok(text) => read.values.push((name.to_owned(), text.into_owned())),
                Err(_) => read.violations.push(Violation::new(
                    vec!["path".into(), name.to_owned().into()],
                    &Rule::StringUnicode,
                    Some(raw.into()),
                )),
            }
        }
        if read.violations.is_empty() {
            // No pattern, or one that takes several segments at once: the fault is somewhere in the path.
            let unicode = Violation::new(vec!["path".into()], &Rule::StringUnicode, None);
            read.violations.push(unicode);
        }
        read
    }

    /// The text of a parameter; `None` where it is no UTF-8, which is then one of the faults.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A product's identifier in either form.
    pub fn product_ident(&mut self, name: &'static str) -> Option<ProductIdent> {
        let text = self.text(name)?.to_owned();
        let ident = product_ident(&text);
        ident.map_err(|rule| self.refuse(name, &rule, &text)).ok()
    }

    /// Records that a parameter breaks a rule.
    pub fn refuse(&mut self, name: &'static str, rule: &Rule, input: &str) {
        self.violations.push(Violation::new(
            vec!["path".into(), name.into()],
            rule,
            Some(input.into()),
        ));
    }
}

/// Reads either public form of a product's identifier, and says of a wrong one which form it was nearest to.
///
/// # Errors
/// The rule that the text breaks.
pub fn product_ident(text: &str) -> Result<ProductIdent, Rule> {
    text.parse().map_err(|_| {
        if text.starts_with("sha:") {
            return Rule::StringPatternMismatch("^sha:[0-9a-f]{40}$");
        }
        let reason = uuid::Uuid::parse_str(text).err().map(|error| error.to_string());
        Rule::UuidParsing(reason.unwrap_or_else(|| format!("invalid length: found {}", text.len())))
    })
}

#[cfg(test)]
mod tests;
