//! What clients ask about a server before they send statements: catalogues, schemas, tables, keys, abilities.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array, UnionArray,
    new_empty_array,
};
use datafusion::arrow::buffer::ScalarBuffer;
use datafusion::arrow::compute;
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, UnionFields};
use datafusion::arrow::error::ArrowError;

use super::ipc;
use super::messages::{GetDbSchemas, GetSqlInfo, GetTables};
use crate::SqlError;
use crate::tables::{ABOUT, CATALOG, SCHEMA, Tables};

const TABLE: &str = "TABLE";

fn failed(error: &ArrowError) -> SqlError {
    tracing::error!(%error, "what the server has cannot be told");
    SqlError::Internal
}

fn batch(fields: Vec<Field>, columns: Vec<ArrayRef>) -> Result<RecordBatch, SqlError> {
    RecordBatch::try_new(SchemaRef::new(Schema::new(fields)), columns).map_err(|error| failed(&error))
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

fn text(name: &str, nullable: bool) -> Field {
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

pub(super) fn db_schemas(wanted: &GetDbSchemas) -> Result<RecordBatch, SqlError> {
    let known = [ABOUT, SCHEMA].into_iter();
    let pattern = wanted.schema_pattern.as_deref();
    let found: Vec<&str> = known
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
    let about = tables.about.iter().map(|(name, schema)| (ABOUT, name, schema));
    let own = tables.schemas.iter().map(|(name, schema)| (SCHEMA, name, schema));
    let found: Vec<_> = about
        .chain(own)
        .filter(|(schema, name, _)| is_wanted(schema, name))
        .collect();
    let mut fields = vec![
        text("catalog_name", true),
        text("db_schema_name", true),
        text("table_name", false),
        text("table_type", false),
    ];
    let mut columns = vec![
        texts(found.iter().map(|_| CATALOG)),
        texts(found.iter().map(|(schema, ..)| *schema)),
        texts(found.iter().map(|(_, name, _)| name.as_str())),
        texts(found.iter().map(|_| TABLE)),
    ];
    if wanted.include_schema {
        let schemas = found
            .iter()
            .map(|(.., schema)| ipc::schema_message(&ipc::remarked(schema)));
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

/// A fact about the server.
enum Fact {
    Text(&'static str),
    Flag(bool),
    Whole(i64),
}

/// By the numbers of `SqlInfo`.
const FACTS: [(u32, Fact); 11] = [
    (0, Fact::Text("haat")),
    (1, Fact::Text(env!("CARGO_PKG_VERSION"))),
    (2, Fact::Text("1.3")),
    // Only reads; SQL it is, Substrait it is not; no transactions; nothing to cancel but the call itself.
    (3, Fact::Flag(true)),
    (4, Fact::Flag(true)),
    (5, Fact::Flag(false)),
    (8, Fact::Whole(0)),
    (9, Fact::Flag(false)),
    (500, Fact::Flag(false)),
    (501, Fact::Flag(false)),
    (502, Fact::Flag(false)),
];

pub(super) fn sql_info(wanted: &GetSqlInfo) -> Result<RecordBatch, SqlError> {
    let facts: Vec<_> = FACTS
        .iter()
        .filter(|(number, _)| wanted.info.is_empty() || wanted.info.contains(number))
        .collect();
    let (mut words, mut flags, mut wholes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut kinds, mut offsets) = (Vec::new(), Vec::new());
    for (_, fact) in &facts {
        let (kind, at) = match fact {
            Fact::Text(text) => {
                words.push(*text);
                (0_i8, words.len())
            }
            Fact::Flag(flag) => {
                flags.push(*flag);
                (1, flags.len())
            }
            Fact::Whole(whole) => {
                wholes.push(*whole);
                (2, wholes.len())
            }
        };
        kinds.push(kind);
        offsets.push(i32::try_from(at - 1).unwrap_or_default());
    }
    let fields = value_fields();
    let rest = fields
        .iter()
        .skip(3)
        .map(|(_, field)| new_empty_array(field.data_type()));
    let first: [ArrayRef; 3] = [
        texts(words),
        Arc::new(BooleanArray::from(flags)),
        Arc::new(Int64Array::from(wholes)),
    ];
    let children = first.into_iter().chain(rest).collect();
    let (kinds, offsets) = (ScalarBuffer::from(kinds), ScalarBuffer::from(offsets));
    let values = UnionArray::try_new(fields, kinds, Some(offsets), children).map_err(|error| failed(&error))?;
    let numbers: UInt32Array = facts.iter().map(|(number, _)| Some(*number)).collect();
    batch(
        vec![
            Field::new("info_name", DataType::UInt32, false),
            Field::new("value", values.data_type().clone(), false),
        ],
        vec![Arc::new(numbers), Arc::new(values)],
    )
}

/// The kinds of facts that the specification has.
fn value_fields() -> UnionFields {
    let list = |of: DataType| DataType::List(Arc::new(Field::new("item", of, true)));
    let entry = Fields::from(vec![
        Field::new("keys", DataType::Int32, false),
        Field::new("values", list(DataType::Int32), true),
    ]);
    let map = DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entry), false)), false);
    let fields = [
        Field::new("string_value", DataType::Utf8, true),
        Field::new("bool_value", DataType::Boolean, true),
        Field::new("bigint_value", DataType::Int64, true),
        Field::new("int32_bitmask", DataType::Int32, true),
        Field::new("string_list", list(DataType::Utf8), true),
        Field::new("int32_to_int32_list_map", map, true),
    ];
    (0_i8..).zip(fields.map(Arc::new)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_patterns_and_facts_by_their_numbers() {
        assert!(matches("products", Some("prod%")));
        assert!(!matches("products", Some("brand_")));
        assert!(matches("products", None));
        let all = sql_info(&GetSqlInfo { info: Vec::new() }).unwrap();
        assert_eq!(all.num_rows(), FACTS.len());
        let one = sql_info(&GetSqlInfo { info: vec![8, 4_711] }).unwrap();
        assert_eq!(one.num_rows(), 1);
        assert_eq!(one.column(0).as_ref(), &UInt32Array::from(vec![8]) as &dyn Array);
        assert_eq!(one.column(1).len(), 1);
    }
}
