//! Columns of every table, read from `columns.tsv`, each with the comment that analysts see.
//!
//! Amounts are integers in the currency's minor unit, next to a currency column. Timestamps are microseconds in UTC.
//! Shopify's ids are 64-bit integers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

/// Tab-separated lines of table, column, type and comment, in the order of the columns. A column whose type ends in `?`
/// may be null. A line without a type and a comment stands for the column of that name of the table `*`. The members of
/// a struct type that lists contain have lines too, without a comment.
const COLUMNS: &str = include_str!("columns.tsv");

/// Returns the columns of a table.
pub(crate) fn of(table: &str) -> SchemaRef {
    Arc::new(Schema::new(columns(table)))
}

fn columns(table: &str) -> Vec<Field> {
    let column = |line: &str| match *line.split('\t').collect::<Vec<_>>() {
        [of, name] if of == table => columns("*").into_iter().find(|shared| shared.name() == name),
        [of, name, kind] if of == table => Some(field(name, kind)),
        [of, name, kind, comment] if of == table => {
            let metadata = HashMap::from([("comment".to_owned(), comment.to_owned())]);
            Some(field(name, kind).with_metadata(metadata))
        }
        _ => None,
    };
    COLUMNS.lines().filter_map(column).collect()
}

/// Returns the members of a struct type.
pub(crate) fn members(record: &str) -> Fields {
    columns(record).into()
}

fn field(name: &str, kind: &str) -> Field {
    Field::new(name, data_type(kind.trim_end_matches('?')), kind.ends_with('?'))
}

fn data_type(kind: &str) -> DataType {
    match kind {
        "text" => DataType::Utf8,
        "int" => DataType::Int64,
        "bucket" => DataType::Int32,
        "flag" => DataType::Boolean,
        "float" => DataType::Float32,
        "double" => DataType::Float64,
        "date" => DataType::Date32,
        "moment" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        _ => match kind.strip_prefix("list<").and_then(|kind| kind.strip_suffix('>')) {
            Some(element) => DataType::List(element_field(data_type(element))),
            None => DataType::Struct(members(kind)),
        },
    }
}

/// Parquet and Spark use this name for the element field of a list.
pub(crate) fn element_field(element: DataType) -> FieldRef {
    Arc::new(Field::new("element", element, true))
}
