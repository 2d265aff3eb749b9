use std::borrow::Cow;
use std::ops::RangeInclusive;

use data_model::ProductIdent;
use serde_json::Value;

use super::source::{Raw, unescape, utf8};
use super::{MembersReader, collect, parse_boolean, parse_integer, product_ident};
use crate::{Location, Rule, Violation};

/// The place of what holds a value of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldPlace<'r> {
    /// The part of the request.
    pub(super) part: &'static str,
    /// The way from there.
    pub(super) above: &'r [Location],
}

/// One value of a request, wherever it lies: a parameter, a member, an item of a list. Every reading answers `None` for
/// an absent value, and for a faulty one, whose fault it records.
#[derive(Debug)]
pub struct Field<'r, 'a> {
    violations: &'r mut Vec<Violation>,
    place: FieldPlace<'r>,
    /// The value's own name or position.
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

    /// True where there is nothing to read.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.raw.is_none()
    }

    /// A text of at most `chars_max` characters.
    pub fn text(mut self, chars_max: usize) -> Option<Cow<'a, str>> {
        let text = self.any_text()?;
        if text.len() > chars_max && text.chars().count() > chars_max {
            self.refuse(&Rule::StringTooLong(chars_max), Some(text.as_ref().into()));
            return None;
        }
        Some(text)
    }

    /// An integer within bounds; beyond 64 bits it counts as the largest or smallest one. Of a body: a number without
    /// fraction, or a text that stands for one; a boolean is none.
    pub fn integer(mut self, bounds: RangeInclusive<i64>) -> Option<i64> {
        let read = match self.raw? {
            Raw::Json(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Ok(integer),
                (None, Some(float)) if float.fract() != 0.0 => Err(Rule::IntFromFloat),
                // Saturates, as everywhere where a number is beyond 64 bits.
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

    /// An amount of money in minor units, within bounds. A decimal point is a fault, also before zeros: who writes `500.00` means
    /// major units.
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

    /// A boolean in any of the spellings that pydantic takes; of a body also the numbers 0 and 1.
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

    /// One of some values, by its name.
    pub fn choice<T: Copy>(self, choices: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
        self.parsed(|text| {
            let found = choices.iter().find(|choice| name(**choice) == text);
            let names = || choices.iter().map(|choice| name(*choice)).collect();
            found.copied().ok_or_else(|| Rule::Enum(names()))
        })
    }

    /// A value that `read` makes of the text.
    pub fn parsed<T>(mut self, read: impl FnOnce(&str) -> Result<T, Rule>) -> Option<T> {
        let text = self.any_text()?;
        let value = read(&text);
        self.checked_text(&text, value)
    }

    /// A list of at most `items_max` values, each of which `read` reads; `None` too where one of them is at fault. Only
    /// a body holds lists.
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

    /// A list of at most `items_max` identifiers of products.
    pub fn idents(self, items_max: usize) -> Option<Vec<ProductIdent>> {
        self.list(items_max, |item| item.parsed(product_ident))
    }

    /// An object, whose members `read` reads. Only a body holds objects.
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

    /// Records that the value breaks a rule; there is nothing to read then.
    pub(super) fn refused(mut self, rule: &Rule, input: Option<Value>) -> Self {
        self.refuse(rule, input);
        self.raw = None;
        self
    }

    /// The text, however long.
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

    /// The value, or nothing and a fault that states the value as it was sent.
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
