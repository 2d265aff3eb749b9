//! Column types for ODBC and JDBC clients, which list them with `CommandGetXdbcTypeInfo`.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int32Array, RecordBatch, StringArray, new_null_array};
use datafusion::arrow::datatypes::{DataType, Field};

use super::catalogue::{batch, text};
use super::messages::GetXdbcTypeInfo;
use crate::SqlError;

/// Column type: its name, its type code and the code of its general type.
struct Type {
    name: &'static str,
    number: i32,
    kind: i32,
    /// Maximum number of digits or characters, or the length of a date or time as text.
    size: Option<i32>,
    /// Quotation mark around a literal.
    quote: Option<&'static str>,
    /// Number base of the size: 10 for digits, 2 for bits.
    radix: Option<i32>,
    /// Subcode of a date or time type.
    moment: Option<i32>,
}

const fn number(name: &'static str, number: i32, size: i32, radix: i32) -> Type {
    Type {
        name,
        number,
        kind: number,
        size: Some(size),
        quote: None,
        radix: Some(radix),
        moment: None,
    }
}

const fn moment(name: &'static str, number: i32, size: i32, subcode: i32) -> Type {
    Type {
        name,
        number,
        kind: 9,
        size: Some(size),
        quote: Some("'"),
        radix: None,
        moment: Some(subcode),
    }
}

/// All types, sorted by type code as the specification requires.
const TYPES: [Type; 11] = [
    Type {
        size: Some(1),
        radix: None,
        ..number("boolean", -7, 1, 10)
    },
    number("tinyint", -6, 3, 10),
    number("bigint", -5, 19, 10),
    number("decimal", 3, 76, 10),
    number("integer", 4, 10, 10),
    number("smallint", 5, 5, 10),
    number("real", 7, 24, 2),
    number("double", 8, 53, 2),
    Type {
        name: "varchar",
        number: 12,
        kind: 12,
        size: None,
        quote: Some("'"),
        radix: None,
        moment: None,
    },
    moment("date", 91, 10, 1),
    moment("timestamp", 93, 29, 3),
];

/// Returns all types, or only those with the requested type code.
pub(super) fn types(wanted: &GetXdbcTypeInfo) -> Result<RecordBatch, SqlError> {
    let found: Vec<&Type> = TYPES
        .iter()
        .filter(|one| wanted.data_type.is_none_or(|number| number == one.number))
        .collect();
    let number = |name: &str, nullable| Field::new(name, DataType::Int32, nullable);
    let flag = |name: &str, nullable| Field::new(name, DataType::Boolean, nullable);
    let words = DataType::List(Arc::new(Field::new("item", DataType::Utf8, false)));
    let numbers = |read: &dyn Fn(&Type) -> Option<i32>| -> ArrayRef {
        Arc::new(found.iter().map(|one| read(one)).collect::<Int32Array>())
    };
    let texts = |read: &dyn Fn(&Type) -> Option<&'static str>| -> ArrayRef {
        Arc::new(found.iter().map(|one| read(one)).collect::<StringArray>())
    };
    let flags = |read: &dyn Fn(&Type) -> Option<bool>| -> ArrayRef {
        Arc::new(found.iter().map(|one| read(one)).collect::<BooleanArray>())
    };
    let is_text = |one: &Type| one.number == 12;
    let signed = |one: &Type| one.radix.map(|_| false);
    let columns: Vec<(Field, ArrayRef)> = vec![
        (text("type_name", false), texts(&|one| Some(one.name))),
        (number("data_type", false), numbers(&|one| Some(one.number))),
        (number("column_size", true), numbers(&|one| one.size)),
        (text("literal_prefix", true), texts(&|one| one.quote)),
        (text("literal_suffix", true), texts(&|one| one.quote)),
        (
            Field::new("create_params", words.clone(), true),
            new_null_array(&words, found.len()),
        ),
        (number("nullable", false), numbers(&|_| Some(1))),
        (flag("case_sensitive", false), flags(&|one| Some(is_text(one)))),
        // Strings can be searched with all operators including `like`, and other types only with comparisons.
        (
            number("searchable", false),
            numbers(&|one| Some(if is_text(one) { 3 } else { 2 })),
        ),
        (flag("unsigned_attribute", true), flags(&signed)),
        (flag("fixed_prec_scale", false), flags(&|_| Some(false))),
        (flag("auto_increment", true), flags(&signed)),
        (text("local_type_name", true), texts(&|one| Some(one.name))),
        (number("minimum_scale", true), numbers(&|_| None)),
        (number("maximum_scale", true), numbers(&|_| None)),
        (number("sql_data_type", false), numbers(&|one| Some(one.kind))),
        (number("datetime_subcode", true), numbers(&|one| one.moment)),
        (number("num_prec_radix", true), numbers(&|one| one.radix)),
        (number("interval_precision", true), numbers(&|_| None)),
    ];
    let (fields, arrays) = columns.into_iter().unzip();
    batch(fields, arrays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_in_order_and_by_number() {
        let all = types(&GetXdbcTypeInfo { data_type: None }).unwrap();
        assert_eq!((all.num_rows(), all.num_columns()), (TYPES.len(), 19));
        assert!(TYPES.is_sorted_by_key(|one| one.number));
        let one = types(&GetXdbcTypeInfo { data_type: Some(12) }).unwrap();
        assert_eq!(one.num_rows(), 1);
        assert_eq!(types(&GetXdbcTypeInfo { data_type: Some(2) }).unwrap().num_rows(), 0);
    }
}
