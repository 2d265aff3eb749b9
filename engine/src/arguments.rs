use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use sql::SqlError;

/// Name of a table function and its parameter names in order. The first parameter is required.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [&'static str],
}

/// Values that a call passes for the parameters of its function.
#[derive(Debug)]
pub(crate) struct Arguments {
    function: &'static Signature,
    values: Vec<Option<ScalarValue>>,
}

/// Argument of a call: a value and, if given, the parameter name.
struct Argument {
    name: Option<String>,
    value: ScalarValue,
}

impl Argument {
    /// Reads one argument. The `sql` crate has rewritten `name => value` as a struct with one field, because the engine
    /// has no named arguments.
    fn of(expr: &Expr) -> Option<Self> {
        let Expr::Literal(value, _) = expr else { return None };
        let ScalarValue::Struct(named) = value else {
            let value = value.clone();
            return Some(Self { name: None, value });
        };
        let name = named.fields().first()?.name().clone();
        let value = ScalarValue::try_from_array(named.columns().first()?, 0).ok()?;
        Some(Self {
            name: Some(name),
            value,
        })
    }
}

/// Builds an error whose text is for the sender of the statement.
pub(crate) fn refused(words: String) -> DataFusionError {
    DataFusionError::External(Box::new(SqlError::Invalid(words)))
}

impl Arguments {
    pub(crate) fn read(function: &'static Signature, exprs: &[Expr]) -> Result<Self> {
        let mut read = Self {
            function,
            values: vec![None; function.parameters.len()],
        };
        let mut is_named = false;
        for (at, expr) in exprs.iter().enumerate() {
            let known = function.parameters.get(at).copied().unwrap_or("an argument");
            let Some(argument) = Argument::of(expr) else {
                return Err(read.refused(known, "must be a constant value, not a column or a query"));
            };
            let place = match &argument.name {
                Some(name) => function.parameters.iter().position(|known| known == name),
                None if is_named => {
                    return Err(read.refused(known, "follows a named argument, so it must be named too"));
                }
                None => Some(at).filter(|at| *at < function.parameters.len()),
            };
            is_named |= argument.name.is_some();
            let place = place.ok_or_else(|| read.unknown(argument.name.as_deref()))?;
            if read.values[place].is_some() {
                return Err(read.refused(function.parameters[place], "is given twice"));
            }
            read.values[place] = Some(argument.value).filter(|value| !value.is_null());
        }
        Ok(read)
    }

    fn unknown(&self, name: Option<&str>) -> DataFusionError {
        let Signature {
            name: function,
            parameters,
        } = self.function;
        let told = match name {
            Some(name) => format!("{function} has no argument {name}"),
            None => format!("{function} accepts at most {} arguments", parameters.len()),
        };
        refused(format!("{told}: its arguments are {}", parameters.join(", ")))
    }

    pub(crate) fn refused(&self, name: &str, words: &str) -> DataFusionError {
        refused(format!("{}: {name} {words}", self.function.name))
    }

    fn value(&self, name: &str) -> Option<&ScalarValue> {
        let at = self.function.parameters.iter().position(|known| *known == name)?;
        self.values.get(at)?.as_ref()
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match value.try_as_str() {
            Some(text) => Ok(text),
            None => Err(self.refused(name, &format!("must be a text in single quotes, not {value}"))),
        }
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str> {
        self.text(name)?.ok_or_else(|| self.refused(name, "is missing"))
    }

    /// Parses a text argument with `make`. If `make` returns `None`, the error message states that the value must be
    /// `form`.
    pub(crate) fn parsed<T>(&self, name: &str, form: &str, make: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let made = make(text);
        let made = made.ok_or_else(|| self.refused(name, &format!("must be {form}, not '{text}'")))?;
        Ok(Some(made))
    }

    /// Returns the index in `names` of the name that the call passes.
    pub(crate) fn choice(&self, name: &str, names: &[&str]) -> Result<Option<usize>> {
        let form = format!("one of {}", names.join(", "));
        self.parsed(name, &form, |text| names.iter().position(|known| *known == text))
    }

    /// Reads the `limit` argument, a whole number from 1 to `max`.
    pub(crate) fn limit<T: Default>(&self, max: i64, make: impl FnOnce(i64) -> Option<T>) -> Result<T> {
        let Some(value) = self.value("limit") else {
            return Ok(T::default());
        };
        let number = match value.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(Some(number))) if value.data_type().is_integer() => Some(number),
            _ => None,
        };
        number
            .and_then(make)
            .ok_or_else(|| self.refused("limit", &format!("must be a whole number from 1 to {max}, not {value}")))
    }
}
