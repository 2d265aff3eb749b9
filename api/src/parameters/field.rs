use std::borrow::Cow;
use std::ops::RangeInclusive;

use data_model::ProductIdent;
use serde_json::Value;

use super::source::{Raw, unescape, utf8};
use super::{MembersReader, collect, parse_boolean, parse_integer, product_ident};
use crate::{Location, Rule, Violation};

/// Location of the object that contains a value of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldPlace<'r> {
    /// Section of the request: `query` or `body`.
    pub(super) part: &'static str,
    /// Path from the section to the object.
    pub(super) above: &'r [Location],
}

/// One value of a request: a parameter, a field, or an item of a list. Every read method returns `None` for an absent
/// or invalid value, and records a fault for an invalid one.
#[derive(Debug)]
pub struct Field<'r, 'a> {
    violations: &'r mut Vec<Violation>,
    place: FieldPlace<'r>,
    /// The value's own name or index.
    step: Location,
    raw: Option<Raw<'a>>,
}

impl<'r, 'a> Field<'r, 'a> {
    pub(super) fn new(
        violations: &'r mut Vec<Violation>,
        place: FieldPlace<'r>,
        step: Location,
        raw: Option<Raw<'a>>,
    ) -> Self {
        Self {
            violations,
            place,
            step,
            raw,
        }
    }

    /// Returns true if the value is absent.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.raw.is_none()
    }

    /// Reads a text of at most `chars_max` characters.
    pub fn text(mut self, chars_max: usize) -> Option<Cow<'a, str>> {
        let text = self.any_text()?;
        if text.len() > chars_max && text.chars().count() > chars_max {
            self.refuse(&Rule::StringTooLong(chars_max), Some(text.as_ref().into()));
            return None;
        }
        Some(text)
    }

    /// Reads an integer within bounds. A number beyond 64 bits becomes the largest or smallest one. In a body, the
    /// value may be a number without fraction or a numeric text, but not a boolean.
    pub fn integer(mut self, bounds: RangeInclusive<i64>) -> Option<i64> {
        let read = match self.raw? {
            Raw::Json(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Ok(integer),
                (None, Some(float)) if float.fract() != 0.0 => Err(Rule::IntFromFloat),
                // The cast saturates, as all numbers beyond 64 bits do here.
                (None, Some(float)) => Ok(float as i64),
                (None, None) => Err(Rule::IntType),
            },
            Raw::Json(Value::String(text)) => parse_integer(text),
            Raw::Json(_) => Err(Rule::IntType),
            Raw::Text(_) => {
                let text = self.any_text()?;
                let integer = parse_integer(&text).and_then(|integer| within(integer, &bounds));
                return self.checked_text(&text, integer);
            }
        };
        self.checked(read.and_then(|integer| within(integer, &bounds)))
    }

    /// Reads an amount of money in minor units, within bounds. A decimal point is a fault even before zeros, because
    /// `500.00` means major units.
    pub fn minor(mut self, bounds: RangeInclusive<i64>) -> Option<i64> {
        let has_point = match self.raw? {
            Raw::Json(Value::Number(number)) => number.is_f64(),
            Raw::Json(Value::String(text)) => text.contains('.'),
            Raw::Json(_) => false,
            Raw::Text(_) => self.any_text()?.contains('.'),
        };
        if has_point {
            self.checked::<i64>(Err(Rule::MinorUnits));
            return None;
        }
        self.integer(bounds)
    }

    /// Reads a boolean in any spelling that pydantic accepts; in a body also the numbers 0 and 1.
    pub fn boolean(mut self) -> Option<bool> {
        let read = match self.raw? {
            Raw::Json(Value::Bool(flag)) => Ok(*flag),
            Raw::Json(Value::String(text)) => parse_boolean(text),
            Raw::Json(Value::Number(number)) => match number.as_f64() {
                Some(0.0) => Ok(false),
                Some(1.0) => Ok(true),
                _ => Err(Rule::BoolParsing),
            },
            Raw::Json(_) => Err(Rule::BoolType),
            Raw::Text(_) => {
                let text = self.any_text()?;
                let flag = parse_boolean(&text);
                return self.checked_text(&text, flag);
            }
        };
        self.checked(read)
    }

    /// Reads one of several named values.
    pub fn choice<T: Copy>(self, choices: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
        self.parsed(|text| {
            let found = choices.iter().find(|choice| name(**choice) == text);
            let names = || choices.iter().map(|choice| name(*choice)).collect();
            found.copied().ok_or_else(|| Rule::Enum(names()))
        })
    }

    /// Reads a text and parses it with `read`.
    pub fn parsed<T>(mut self, read: impl FnOnce(&str) -> Result<T, Rule>) -> Option<T> {
        let text = self.any_text()?;
        let value = read(&text);
        self.checked_text(&text, value)
    }

    /// Reads a list of at most `items_max` values, each with `read`. Returns `None` if any value is invalid. Only a
    /// body can contain lists.
    pub fn list<T>(mut self, items_max: usize, mut read: impl FnMut(Field<'_, 'a>) -> Option<T>) -> Option<Vec<T>> {
        let items = match self.raw? {
            Raw::Json(Value::Array(items)) if items.len() <= items_max => Ok(items),
            Raw::Json(Value::Array(items)) => Err(Rule::TooLong {
                max: items_max,
                actual: items.len(),
            }),
            Raw::Json(_) | Raw::Text(_) => Err(Rule::ListType),
        };
        let items = self.checked(items)?;
        let part = self.place.part;
        let above = [self.place.above, std::slice::from_ref(&self.step)].concat();
        let before = self.violations.len();
        let mut values = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let place = FieldPlace { part, above: &above };
            let item = Field::new(self.violations, place, at.into(), Some(Raw::Json(item)));
            values.extend(read(item));
        }
        (self.violations.len() == before && values.len() == items.len()).then_some(values)
    }

    /// Reads a list of at most `items_max` product ids.
    pub fn idents(self, items_max: usize) -> Option<Vec<ProductIdent>> {
        self.list(items_max, |item| item.parsed(product_ident))
    }

    /// Reads an object, the fields of which `read` reads. Only a body can contain objects.
    pub fn object<T>(mut self, read: impl FnOnce(&mut MembersReader<'a>) -> T) -> Option<T> {
        let members = match self.raw? {
            Raw::Json(Value::Object(members)) => Ok(members),
            Raw::Json(_) | Raw::Text(_) => Err(Rule::DictType),
        };
        let members = self.checked(members)?;
        let above = [self.place.above, std::slice::from_ref(&self.step)].concat();
        let before = self.violations.len();
        let mut reader = MembersReader::within(members, above, std::mem::take(self.violations));
        let value = read(&mut reader);
        *self.violations = reader.violations;
        (self.violations.len() == before).then_some(value)
    }

    /// Records that the value breaks a rule. Further reads treat the value as absent.
    pub(super) fn refused(mut self, rule: &Rule, input: Option<Value>) -> Self {
        self.refuse(rule, input);
        self.raw = None;
        self
    }

    /// Reads a text of any length.
    fn any_text(&mut self) -> Option<Cow<'a, str>> {
        match self.raw? {
            Raw::Json(Value::String(text)) => Some(Cow::Borrowed(text)),
            Raw::Json(_) => self.checked(Err(Rule::StringType)),
            Raw::Text(raw) => {
                let text = utf8(unescape(raw));
                if text.is_none() {
                    self.refuse(&Rule::StringUnicode, Some(String::from_utf8_lossy(raw).into()));
                }
                text
            }
        }
    }

    fn checked_text<T>(&mut self, text: &str, read: Result<T, Rule>) -> Option<T> {
        read.map_err(|rule| self.refuse(&rule, Some(text.into()))).ok()
    }

    /// Returns the parsed value, or records a fault with the value as sent.
    fn checked<T>(&mut self, read: Result<T, Rule>) -> Option<T> {
        let sent = match self.raw? {
            Raw::Json(value) => value,
            Raw::Text(raw) => return self.checked_text(&String::from_utf8_lossy(raw), read),
        };
        read.map_err(|rule| self.refuse(&rule, Some(sent.clone()))).ok()
    }

    fn refuse(&mut self, rule: &Rule, input: Option<Value>) {
        collect(self.violations, self.place, vec![self.step.clone()], rule, input);
    }
}

fn within(integer: i64, bounds: &RangeInclusive<i64>) -> Result<i64, Rule> {
    if integer < *bounds.start() {
        Err(Rule::GreaterThanEqual(*bounds.start()))
    } else if integer > *bounds.end() {
        Err(Rule::LessThanEqual(*bounds.end()))
    } else {
        Ok(integer)
    }
}
