use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use data_model::{ErrorCode, ProductIdent};
use http::request::Parts;
use percent_encoding::percent_decode;

use crate::edge::RoutePattern;
use crate::{Problem, Rule, Violation};

/// Reads parameters from the path, and collects every fault.
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
    /// Creates a reader without parameters, for operations whose path has none.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads a path with a parameter that is not valid UTF-8. axum rejects such a path as a whole, so the path is
    /// compared with the route's pattern to find the invalid parameters.
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
            // Without a pattern, or with one that spans several segments, the invalid parameter is unknown.
            let unicode = Violation::new(vec!["path".into()], &Rule::StringUnicode, None);
            read.violations.push(unicode);
        }
        read
    }

    pub(super) fn into_violations(self) -> Vec<Violation> {
        self.violations
    }

    /// Returns the text of a parameter. Returns `None` if the text is not valid UTF-8, which is one of the faults.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Parses a product id in either form.
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

/// Parses a product id in either public form. The error for an invalid id names the form that is closest.
///
/// # Errors
/// The rule that the text breaks.
pub fn product_ident(text: &str) -> Result<ProductIdent, Rule> {
    text.parse().map_err(|_| {
        let scheme = text.split_once(':').map(|(scheme, _)| scheme);
        if scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("sha")) {
            return Rule::StringPatternMismatch("(?i)^sha:[0-9a-f]{40}$");
        }
        let reason = uuid::Uuid::parse_str(text).err().map(|error| error.to_string());
        let reason = reason.unwrap_or_else(|| format!("invalid length: found {}", text.len()));
        Rule::UuidParsing(format!("{reason} (or a product_uid, `sha:` and 40 hex digits)"))
    })
}
