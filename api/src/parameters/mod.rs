//! Reads what a request states, wherever it states it, and collects every fault on the way.

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

/// Most faults that one answer lists: a request is bounded, but one list can hold many faulty values.
const VIOLATIONS_MAX: usize = 100;

/// Reads named values of a request, whether of its query string or of its body, with pydantic's lax rules, and collects
/// every fault on the way.
///
/// [`ParameterReader::required`] and [`ParameterReader::optional`] take a value by its name; what they answer reads it
/// as a text, a number, a list and so on. Unknown names are ignored, and [`QueryReader::ignored`] lists them. A reading
/// answers `None` both for an absent and for a faulty value; [`ParameterReader::finish`] tells the two apart.
#[derive(Debug)]
pub struct ParameterReader<S> {
    source: S,
    /// The way from the part of the request to what is read: empty but for objects within a body.
    above: Vec<Location>,
    violations: Vec<Violation>,
}

/// Reads the parameters of a query string. As in FastAPI, the last of several of one name counts. A `%` that begins no
/// escape stands for itself; an escape that makes no UTF-8 is a fault.
pub type QueryReader<'a> = ParameterReader<QueryString<'a>>;

/// Reads the members of a body's object, and of objects within it. An optional member that is null, or an empty text,
/// counts as absent.
pub type MembersReader<'a> = ParameterReader<Members<'a>>;

impl<'a> QueryReader<'a> {
    /// Takes the query part of a URI apart; `None` and an empty text hold no parameters.
    #[must_use]
    pub fn new(query: Option<&'a str>) -> Self {
        Self::of(QueryString::new(query))
    }

    /// Every value of these names, in their order in the query, as `read` reads them; more than `items_max` are a
    /// fault. Faults of one are stated by its name and its number among those of the name, as FastAPI states them of
    /// lists.
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

    /// A list of words, empty where it is absent: each time that the name is given, one word or some with commas between,
    /// each time at most `chars_max` characters. An empty text counts as absent.
    pub fn words(&mut self, name: &'static str, chars_max: usize) -> Vec<String> {
        let mut words = Vec::new();
        for (_, raw) in self.source.all(&[name]) {
            let text = self.field(name, Some(raw)).text(chars_max).unwrap_or_default();
            let text = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            words.extend(text.map(str::to_owned));
        }
        words
    }

    /// Parameters of the query that no one has read so far.
    #[must_use]
    pub fn ignored(&self) -> Vec<IgnoredParameter> {
        IgnoredParameter::of(self.source.names().iter().map(|name| &**name), &self.source.asked)
    }

    /// Ends the reading: `value` when there was no fault in the query or in `path`.
    ///
    /// # Errors
    /// A 422 that lists every fault, those of the path first.
    pub fn finish<T>(self, path: PathParameters, value: T) -> Result<T, Problem> {
        self.end(path, value)
    }
}

impl<'a> MembersReader<'a> {
    /// Reads the members of `object`.
    #[must_use]
    pub fn new(object: &'a JsonObject) -> Self {
        Self::of(Members(&object.0))
    }

    /// Reads the members of an object that lies at `above` in the body and goes on with the faults found so far.
    fn within(members: &'a Map<String, Value>, above: Vec<Location>, violations: Vec<Violation>) -> Self {
        Self {
            source: Members(members),
            above,
            violations,
        }
    }

    /// A required list of identifiers of products, at most `items_max`; an empty one is allowed. It is empty too where
    /// it is at fault, as [`ParameterReader::finish`] finds.
    pub fn idents(&mut self, name: &'static str, items_max: usize) -> Vec<ProductIdent> {
        self.required(name).idents(items_max).unwrap_or_default()
    }

    /// Ends the reading: `value` when there was no fault.
    ///
    /// # Errors
    /// A 422 that lists every fault.
    pub fn finish<T>(self, value: T) -> Result<T, Problem> {
        self.end(PathParameters::none(), value)
    }

    /// As [`MembersReader::finish`], for an operation whose path has parameters too.
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

    /// A value that must be there; that it is not is a fault.
    pub fn required(&mut self, name: &'static str) -> Field<'_, 'a> {
        let raw = self.source.find(name);
        let field = self.field(name, raw);
        if raw.is_none() {
            return field.refused(&Rule::Missing, Some(Value::Null));
        }
        field
    }

    /// A value that may be absent; an empty text counts as absent.
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

    /// Records that something within a value breaks a rule; `below` is the way to it from what is read.
    pub fn refuse_at(&mut self, below: Vec<Location>, rule: &Rule, input: Option<Value>) {
        let place = FieldPlace {
            part: S::PART,
            above: self.above.as_slice(),
        };
        collect(&mut self.violations, place, below, rule, input);
    }

    /// True where a value is at fault already.
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

/// The one place where faults are collected: `below` leads from `place` to the faulty value.
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
