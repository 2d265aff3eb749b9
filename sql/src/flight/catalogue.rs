//! Metadata that clients read before they send statements: catalogues, schemas, tables and keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, StringArray};
use datafusion::arrow::compute;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::reader::StreamReader;

use super::messages::{GetDbSchemas, GetTables};
use crate::SqlError;
use crate::tables::CATALOG;

const TABLE: &str = "TABLE";

pub(super) fn failed(error: &ArrowError) -> SqlError {
    tracing::error!(%error, "the list of tables and columns cannot be written");
    SqlError::Internal
}

pub(super) fn batch(fields: Vec<Field>, columns: Vec<ArrayRef>) -> Result<RecordBatch, SqlError> {
    RecordBatch::try_new(SchemaRef::new(Schema::new(fields)), columns).map_err(|error| failed(&error))
}

pub(super) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

pub(super) fn text(name: &str, nullable: bool) -> Field {
    Field::new(name, DataType::Utf8, nullable)
}

pub(super) fn catalogs() -> Result<RecordBatch, SqlError> {
    batch(vec![text("catalog_name", false)], vec![texts([CATALOG])])
}

pub(super) fn table_types() -> Result<RecordBatch, SqlError> {
    batch(vec![text("table_type", false)], vec![texts([TABLE])])
}

/// True if a name matches a pattern of SQL `like`.
fn matches(name: &str, pattern: Option<&str>) -> bool {
    let Some(pattern) = pattern else { return true };
    let (name, pattern) = (StringArray::from(vec![name]), StringArray::from(vec![pattern]));
    compute::like(&name, &pattern).is_ok_and(|matched| matched.value(0))
}

fn is_catalog(wanted: Option<&str>) -> bool {
    wanted.is_none_or(|name| name == CATALOG)
}

/// Decodes the table list that a worker sends as an Arrow stream.
pub(super) fn known(bytes: &[u8]) -> Result<RecordBatch, SqlError> {
    let mut reader = StreamReader::try_new(bytes, None).map_err(|error| failed(&error))?;
    let known = reader.next().ok_or(SqlError::Internal)?;
    known.map_err(|error| failed(&error))
}

/// Returns the names in one column of the table list.
fn names(known: &RecordBatch, column: usize) -> impl Iterator<Item = &str> {
    known.column(column).as_string::<i32>().iter().flatten()
}

pub(super) fn db_schemas(known: &RecordBatch, wanted: &GetDbSchemas) -> Result<RecordBatch, SqlError> {
    let schemas: BTreeSet<&str> = names(known, 0).collect();
    let pattern = wanted.schema_pattern.as_deref();
    let found: Vec<&str> = schemas
        .into_iter()
        .filter(|name| is_catalog(wanted.catalog.as_deref()) && matches(name, pattern))
        .collect();
    batch(
        vec![text("catalog_name", true), text("db_schema_name", false)],
        vec![texts(found.iter().map(|_| CATALOG)), texts(found.iter().copied())],
    )
}

pub(super) fn tables(known: &RecordBatch, wanted: &GetTables) -> Result<RecordBatch, SqlError> {
    let is_wanted = |(schema, name): (&str, &str)| {
        is_catalog(wanted.catalog.as_deref())
            && matches(schema, wanted.schema_pattern.as_deref())
            && matches(name, wanted.table_pattern.as_deref())
            && (wanted.table_types.is_empty() || wanted.table_types.iter().any(|kind| kind == TABLE))
    };
    let wanted_rows: BooleanArray = names(known, 0)
        .zip(names(known, 1))
        .map(|named| Some(is_wanted(named)))
        .collect();
    let found = compute::filter_record_batch(known, &wanted_rows).map_err(|error| failed(&error))?;
    let constant = |value: &'static str| texts(std::iter::repeat_n(value, found.num_rows()));
    let mut fields = vec![
        text("catalog_name", true),
        text("db_schema_name", true),
        text("table_name", false),
        text("table_type", false),
    ];
    let (schemas, tables) = (Arc::clone(found.column(0)), Arc::clone(found.column(1)));
    let mut columns = vec![constant(CATALOG), schemas, tables, constant(TABLE)];
    if wanted.include_schema {
        fields.push(Field::new("table_schema", DataType::Binary, false));
        columns.push(Arc::clone(found.column(2)));
    }
    batch(fields, columns)
}

/// Returns an empty list, because the engine knows no primary keys.
pub(super) fn primary_keys() -> Result<RecordBatch, SqlError> {
    let fields = vec![
        text("catalog_name", true),
        text("db_schema_name", true),
        text("table_name", false),
        text("column_name", false),
        Field::new("key_sequence", DataType::Int32, false),
        text("key_name", true),
    ];
    Ok(RecordBatch::new_empty(SchemaRef::new(Schema::new(fields))))
}

/// Returns an empty list, because the engine knows no foreign keys.
pub(super) fn foreign_keys() -> Result<RecordBatch, SqlError> {
    let mut fields = Vec::new();
    for side in ["pk", "fk"] {
        fields.push(text(&format!("{side}_catalog_name"), true));
        fields.push(text(&format!("{side}_db_schema_name"), true));
        fields.push(text(&format!("{side}_table_name"), false));
        fields.push(text(&format!("{side}_column_name"), false));
    }
    fields.extend([
        Field::new("key_sequence", DataType::Int32, false),
        text("fk_key_name", true),
        text("pk_key_name", true),
        Field::new("update_rule", DataType::UInt8, false),
        Field::new("delete_rule", DataType::UInt8, false),
    ]);
    Ok(RecordBatch::new_empty(SchemaRef::new(Schema::new(fields))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_patterns() {
        assert!(matches("products", Some("prod%")));
        assert!(!matches("products", Some("brand_")));
        assert!(matches("products", None));
    }
}
