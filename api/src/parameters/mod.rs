//! Readers of the values in query, path and body, which collect every fault.

mod field;
mod ignored;
mod path;
mod source;
mod values;

use serde_json::{Map, Value};

pub use self::field::Field;
use self::field::FieldPlace;
pub use self::ignored::IgnoredParameter;
pub use self::path::{PathParameters, product_ident};
use self::source::Raw;
pub use self::source::{Members, ParameterSource, QueryString};
pub use self::values::{parse_boolean, parse_integer};
use crate::{JsonObject, Location, Problem, Rule, Violation};
use data_model::ProductIdent;

/// Maximum number of faults in a response, because a single list can have very many.
const VIOLATIONS_MAX: usize = 100;

/// Reader of named values of a query string or body, with pydantic's lax rules. The reader collects every fault.
///
/// [`ParameterReader::required`] and [`ParameterReader::optional`] return a value by its name, which is then read as
/// text, number, list and so on. Unknown names are ignored; [`QueryReader::ignored`] lists them. A read returns `None`
/// for an absent or invalid value; [`ParameterReader::finish`] distinguishes the two.
#[derive(Debug)]
pub struct ParameterReader<S> {
    source: S,
    /// Path to the object that is read; empty except for nested objects in a body.
    above: Vec<Location>,
    violations: Vec<Violation>,
}

/// Reader of a query string. As in FastAPI, the last of several values with one name is used. A `%` that does not begin
/// an escape stays as it is. An escape that is not valid UTF-8 is a fault.
pub type QueryReader<'a> = ParameterReader<QueryString<'a>>;

/// Reader of a body's JSON object, and of nested objects. An optional field that is null or an empty text counts as
/// absent.
pub type MembersReader<'a> = ParameterReader<Members<'a>>;

impl<'a> QueryReader<'a> {
    /// Parses the query part of a URI; `None` and an empty text contain no parameters.
    #[must_use]
    pub fn new(query: Option<&'a str>) -> Self {
        Self::of(QueryString::new(query))
    }

    /// Reads all values of the given names with `read`, in query order. More than `items_max` values are a fault. A
    /// fault names the parameter and the index of its value, as FastAPI does for lists.
    pub fn each<T>(
        &mut self,
        names: &[&'static str],
        items_max: usize,
        mut read: impl FnMut(&'static str, Field<'_, 'a>) -> Option<T>,
    ) -> Vec<T> {
        let found = self.source.all(names);
        if let Some((name, _)) = found.get(items_max) {
            let (max, actual) = (items_max, found.len());
            self.refuse(*name, &Rule::TooLong { max, actual }, None);
            return Vec::new();
        }
        let mut values = Vec::with_capacity(found.len());
        for (at, (name, raw)) in found.iter().enumerate() {
            let before = found.iter().take(at).filter(|(earlier, _)| earlier == name).count();
            let above = [Location::from(*name)];
            let place = FieldPlace {
                part: QueryString::PART,
                above: above.as_slice(),
            };
            values.extend(read(
                name,
                Field::new(&mut self.violations, place, before.into(), Some(*raw)),
            ));
        }
        values
    }

    /// Reads a list of words, which is empty if absent. The parameter may be repeated. Each value is one word or a
    /// comma-separated list, with at most `chars_max` characters in total. An empty text counts as absent.
    pub fn words(&mut self, name: &'static str, chars_max: usize) -> Vec<String> {
        let mut words = Vec::new();
        for (_, raw) in self.source.all(&[name]) {
            let text = self.field(name, Some(raw)).text(chars_max).unwrap_or_default();
            let text = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            words.extend(text.map(str::to_owned));
        }
        words
    }

    /// Returns the query parameters that were not read so far.
    #[must_use]
    pub fn ignored(&self) -> Vec<IgnoredParameter> {
        IgnoredParameter::of(self.source.names().iter().map(|name| &**name), &self.source.asked)
    }

    /// Returns `value` if neither the query nor `path` had a fault.
    ///
    /// # Errors
    /// A 422 that lists every fault, those of the path first.
    pub fn finish<T>(self, path: PathParameters, value: T) -> Result<T, Problem> {
        self.end(path, value)
    }
}

impl<'a> MembersReader<'a> {
    /// Creates a reader for the fields of `object`.
    #[must_use]
    pub fn new(object: &'a JsonObject) -> Self {
        Self::of(Members(&object.0))
    }

    /// Creates a reader for a nested object at the path `above`. The new reader adds to the faults found so far.
    fn within(members: &'a Map<String, Value>, above: Vec<Location>, violations: Vec<Violation>) -> Self {
        Self {
            source: Members(members),
            above,
            violations,
        }
    }

    /// Reads a required list of at most `items_max` product ids, which may be empty. An invalid list is returned as
    /// empty, and [`ParameterReader::finish`] reports the fault.
    pub fn idents(&mut self, name: &'static str, items_max: usize) -> Vec<ProductIdent> {
        self.required(name).idents(items_max).unwrap_or_default()
    }

    /// Returns `value` if there was no fault.
    ///
    /// # Errors
    /// A 422 that lists every fault.
    pub fn finish<T>(self, value: T) -> Result<T, Problem> {
        self.end(PathParameters::none(), value)
    }

    /// Returns `value` if neither the body nor `path` had a fault.
    ///
    /// # Errors
    /// A 422 that lists every fault, those of the path first.
    pub fn finish_with<T>(self, path: PathParameters, value: T) -> Result<T, Problem> {
        self.end(path, value)
    }
}

impl<'a, S: ParameterSource<'a>> ParameterReader<S> {
    fn of(source: S) -> Self {
        Self {
            source,
            above: Vec::new(),
            violations: Vec::new(),
        }
    }

    /// Returns a required value; its absence is a fault.
    pub fn required(&mut self, name: &'static str) -> Field<'_, 'a> {
        let raw = self.source.find(name);
        let field = self.field(name, raw);
        if raw.is_none() {
            return field.refused(&Rule::Missing, Some(Value::Null));
        }
        field
    }

    /// Returns an optional value; an empty text counts as absent.
    pub fn optional(&mut self, name: &'static str) -> Field<'_, 'a> {
        let raw = self.source.find(name).filter(|raw| !raw.is_null() && !raw.is_empty());
        self.field(name, raw)
    }

    fn field(&mut self, name: &'static str, raw: Option<Raw<'a>>) -> Field<'_, 'a> {
        let place = FieldPlace {
            part: S::PART,
            above: &self.above,
        };
        Field::new(&mut self.violations, place, name.into(), raw)
    }

    /// Records that a value breaks a rule.
    pub fn refuse(&mut self, name: impl Into<Location>, rule: &Rule, input: Option<Value>) {
        self.refuse_at(vec![name.into()], rule, input);
    }

    /// Records that a value at the path `below` breaks a rule. The path begins at the object that is read.
    pub fn refuse_at(&mut self, below: Vec<Location>, rule: &Rule, input: Option<Value>) {
        let place = FieldPlace {
            part: S::PART,
            above: self.above.as_slice(),
        };
        collect(&mut self.violations, place, below, rule, input);
    }

    /// Returns true if a fault of this value was already recorded.
    #[must_use]
    pub fn refused(&self, name: &str) -> bool {
        let within = |violation: &Violation| violation.is_within(S::PART, &self.above, name);
        self.violations.iter().any(within)
    }

    fn end<T>(self, path: PathParameters, value: T) -> Result<T, Problem> {
        let mut violations = path.into_violations();
        violations.extend(self.violations);
        if violations.is_empty() {
            Ok(value)
        } else {
            Err(Problem::invalid(violations))
        }
    }
}

/// Collects the faults of all readers; `below` is the path from `place` to the invalid value.
fn collect(
    violations: &mut Vec<Violation>,
    place: FieldPlace<'_>,
    below: Vec<Location>,
    rule: &Rule,
    input: Option<Value>,
) {
    if violations.len() < VIOLATIONS_MAX {
        let loc = std::iter::once(Location::from(place.part)).chain(place.above.iter().cloned());
        violations.push(Violation::new(loc.chain(below).collect(), rule, input));
    }
}

#[cfg(test)]
mod body_tests;
#[cfg(test)]
mod tests;
