use api::{Location, QueryReader, Rule};
use data_index::FacetClause;
use serde_json::{Number, Value};

use crate::operations::FacetFilter;

/// Maximum length of the `facets` parameter, in characters.
const CHARS_MAX: usize = 4096;

/// Reads the `facets` parameter: a JSON object of names, each with a value or a list of values. An empty object sets no
/// filter.
pub(super) fn read(reader: &mut QueryReader<'_>) -> FacetFilter {
    let object = reader
        .optional("facets")
        .text(CHARS_MAX)
        .map(|text| match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(other) => Err((Rule::DictType, other)),
            Err(error) => Err((Rule::JsonInvalid(error.to_string()), text.as_ref().into())),
        });
    let object = match object {
        None => return FacetFilter::default(),
        Some(Ok(object)) => object,
        Some(Err((rule, input))) => {
            reader.refuse("facets", &rule, Some(input));
            return FacetFilter::default();
        }
    };
    if object.len() > FacetFilter::CLAUSES_MAX {
        reader.refuse(
            "facets",
            &Rule::TooLong {
                max: FacetFilter::CLAUSES_MAX,
                actual: object.len(),
            },
            None,
        );
        return FacetFilter::default();
    }
    let mut clauses = Vec::with_capacity(object.len());
    for (name, value) in object {
        let loc = |below: &[Location]| [&["facets".into(), name.clone().into()], below].concat();
        let values = match value {
            Value::Array(items) if items.len() > FacetFilter::VALUES_MAX => {
                reader.refuse_at(
                    loc(&[]),
                    &Rule::TooLong {
                        max: FacetFilter::VALUES_MAX,
                        actual: items.len(),
                    },
                    None,
                );
                continue;
            }
            Value::Array(items) => {
                let read = items.into_iter().enumerate().filter_map(|(at, item)| {
                    scalar(item)
                        .map_err(|item| reader.refuse_at(loc(&[at.into()]), &Rule::StringType, Some(item)))
                        .ok()
                });
                read.collect()
            }
            one => match scalar(one) {
                Ok(text) => vec![text],
                Err(item) => {
                    reader.refuse_at(loc(&[]), &Rule::StringType, Some(item));
                    continue;
                }
            },
        };
        clauses.push(FacetClause { name, values });
    }
    FacetFilter::new(clauses).unwrap_or_default()
}

/// Converts a scalar to its text in facets. Other values are returned as the error.
fn scalar(value: Value) -> Result<String, Value> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(spelled(&number)),
        Value::Bool(flag) => Ok(flag.to_string()),
        other => Err(other),
    }
}

/// Formats a number by its value, whatever its spelling: `41.0` and `4.1e1` become `41`.
fn spelled(number: &Number) -> String {
    match number.as_f64() {
        // Integers keep their own form, because `f64` is not exact beyond 53 bits.
        Some(_) if number.is_i64() || number.is_u64() => number.to_string(),
        // Adding zero turns -0 into 0. An `f64` is displayed without exponent and without a final `.0`.
        Some(value) => (value + 0.0).to_string(),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_counts_by_its_value_not_by_its_spelling() {
        for (written, read) in [
            ("41", "41"),
            ("41.0", "41"),
            ("4.1e1", "41"),
            ("-0.0", "0"),
            ("0.50", "0.5"),
            ("-7.0", "-7"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            let value = serde_json::from_str(written).unwrap();
            assert_eq!(scalar(value), Ok(read.to_owned()), "{written}");
        }
        assert_eq!(scalar(Value::Null), Err(Value::Null));
    }
}
