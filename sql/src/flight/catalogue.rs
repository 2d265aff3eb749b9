//! What clients ask about a server before they send statements: catalogues, schemas, tables, keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BinaryArray, RecordBatch, StringArray};
use datafusion::arrow::compute;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;

use super::ipc;
use super::messages::{GetDbSchemas, GetTables};
use crate::SqlError;
use crate::tables::{CATALOG, Tables};

const TABLE: &str = "TABLE";

pub(super) fn failed(error: &ArrowError) -> SqlError {
    tracing::error!(%error, "what the server has cannot be told");
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

/// Whether a name matches a pattern of SQL's `like`.
fn matches(name: &str, pattern: Option<&str>) -> bool {
    let Some(pattern) = pattern else { return true };
    let (name, pattern) = (StringArray::from(vec![name]), StringArray::from(vec![pattern]));
    compute::like(&name, &pattern).is_ok_and(|matched| matched.value(0))
}

fn is_catalog(wanted: Option<&str>) -> bool {
    wanted.is_none_or(|name| name == CATALOG)
}

pub(super) fn db_schemas(tables: &Tables, wanted: &GetDbSchemas) -> Result<RecordBatch, SqlError> {
    let known: BTreeSet<&str> = tables.schemas.keys().map(|name| name.schema.as_str()).collect();
    let pattern = wanted.schema_pattern.as_deref();
    let found: Vec<&str> = known
        .into_iter()
        .filter(|name| is_catalog(wanted.catalog.as_deref()) && matches(name, pattern))
        .collect();
    batch(
        vec![text("catalog_name", true), text("db_schema_name", false)],
        vec![texts(found.iter().map(|_| CATALOG)), texts(found.iter().copied())],
    )
}

pub(super) fn tables(tables: &Tables, wanted: &GetTables) -> Result<RecordBatch, SqlError> {
    let is_wanted = |schema: &str, name: &str| {
        is_catalog(wanted.catalog.as_deref())
            && matches(schema, wanted.schema_pattern.as_deref())
            && matches(name, wanted.table_pattern.as_deref())
            && (wanted.table_types.is_empty() || wanted.table_types.iter().any(|kind| kind == TABLE))
    };
    let all = tables.schemas.iter();
    let found: Vec<_> = all.filter(|(name, _)| is_wanted(&name.schema, &name.table)).collect();
    let mut fields = vec![
        text("catalog_name", true),
        text("db_schema_name", true),
        text("table_name", false),
        text("table_type", false),
    ];
    let mut columns = vec![
        texts(found.iter().map(|_| CATALOG)),
        texts(found.iter().map(|(name, _)| name.schema.as_str())),
        texts(found.iter().map(|(name, _)| name.table.as_str())),
        texts(found.iter().map(|_| TABLE)),
    ];
    if wanted.include_schema {
        let schemas = found
            .iter()
            .map(|(_, schema)| ipc::schema_message(&ipc::remarked(schema)));
        let schemas = schemas.collect::<Result<Vec<_>, _>>()?;
        fields.push(Field::new("table_schema", DataType::Binary, false));
        columns.push(Arc::new(BinaryArray::from_iter_values(schemas)));
    }
    batch(fields, columns)
}

/// No table has keys that the engine knows of.
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

/// No table refers to another one as far as the engine knows.
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
