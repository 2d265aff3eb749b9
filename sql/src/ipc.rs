//! Encoders of schemas, rows and tables as Arrow Flight messages, for the workers, which have the rows.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::BufMut;
use datafusion::arrow::array::{ArrayRef, BinaryArray, RecordBatch, RecordBatchOptions, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::{
    DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions, write_message,
};

use prost::Message;

use crate::SqlError;
use crate::encode::Encode;
use crate::tables::Tables;

/// Length of the gRPC message prefix: a compression flag and the message length.
pub(crate) const PREFIX_BYTES: usize = 5;

/// Metadata key of a column comment in Flight SQL.
const REMARKS: &str = "ARROW:FLIGHT:SQL:REMARKS";

#[derive(Clone, PartialEq, Message)]
struct FlightData {
    #[prost(bytes = "vec", tag = "2")]
    data_header: Vec<u8>,
    #[prost(bytes = "vec", tag = "1000")]
    data_body: Vec<u8>,
}

/// Encodes a message with its gRPC prefix.
pub(crate) fn framed(message: &impl Message) -> Vec<u8> {
    let length = message.encoded_len();
    let mut out = Vec::with_capacity(PREFIX_BYTES + length);
    out.put_u8(0);
    out.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    out.extend(message.encode_to_vec());
    out
}

/// Returns the schema of a response, without comments and view types. JDBC clients would use a comment as the column
/// name, and cannot read string views, which become plain strings.
pub(crate) fn answered(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let plain = field.as_ref().clone().with_data_type(plain(field.data_type()));
        plain.with_metadata(HashMap::new())
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// Returns a table schema with the column comments under the metadata key of Flight SQL.
fn remarked(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let comment = field.metadata().get("comment");
        let metadata: HashMap<_, _> = comment
            .map(|text| (REMARKS.to_owned(), text.clone()))
            .into_iter()
            .collect();
        let plain = field.as_ref().clone().with_data_type(plain(field.data_type()));
        plain.with_metadata(metadata)
    });
    Schema::new(fields.collect::<Vec<_>>())
}

fn plain(of: &DataType) -> DataType {
    let field = |field: &FieldRef| {
        let kind = plain(field.data_type());
        FieldRef::new(field.as_ref().clone().with_data_type(kind))
    };
    match of {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(of) => DataType::List(field(of)),
        DataType::LargeList(of) => DataType::LargeList(field(of)),
        DataType::FixedSizeList(of, length) => DataType::FixedSizeList(field(of), *length),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        other => other.clone(),
    }
}

fn encoded_schema(schema: &Schema, tracker: &mut DictionaryTracker) -> EncodedData {
    let options = IpcWriteOptions::default();
    IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(schema, tracker, &options)
}

/// Encodes a schema as a message of the Arrow IPC stream format.
pub(crate) fn schema_message(schema: &Schema) -> Result<Vec<u8>, SqlError> {
    let encoded = encoded_schema(schema, &mut DictionaryTracker::new(false));
    let mut out = Vec::new();
    write_message(&mut out, encoded, &IpcWriteOptions::default()).map_err(|error| unwritten(&error))?;
    Ok(out)
}

fn unwritten(error: &ArrowError) -> SqlError {
    SqlError::Invalid(format!("the answer cannot be written: {error}"))
}

/// Encoder of rows as `DoGet` messages of Arrow Flight.
pub(crate) struct FlightRows {
    schema: SchemaRef,
    tracker: DictionaryTracker,
    options: IpcWriteOptions,
    context: IpcWriteContext,
}

impl FlightRows {
    pub(crate) fn of(schema: &Schema) -> Self {
        Self {
            schema: SchemaRef::new(answered(schema)),
            tracker: DictionaryTracker::new(false),
            options: IpcWriteOptions::default(),
            context: IpcWriteContext::default(),
        }
    }
}

fn data(encoded: EncodedData) -> Vec<u8> {
    framed(&FlightData {
        data_header: encoded.ipc_message,
        data_body: encoded.arrow_data,
    })
}

impl Encode for FlightRows {
    fn head(&mut self) -> Result<Vec<u8>, SqlError> {
        Ok(data(encoded_schema(&self.schema, &mut self.tracker)))
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, SqlError> {
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
            true => Ok(ArrayRef::clone(column)),
            false => cast(column, field.data_type()),
        });
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = columns
            .collect::<Result<_, _>>()
            .and_then(|columns| RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &rows));
        let batch = batch.map_err(|error| unwritten(&error))?;
        let written = IpcDataGenerator::default().encode(&batch, &mut self.tracker, &self.options, &mut self.context);
        let (dictionaries, rows) = written.map_err(|error| unwritten(&error))?;
        Ok(dictionaries.into_iter().chain([rows]).flat_map(data).collect())
    }

    fn end(&mut self) -> Result<Vec<u8>, SqlError> {
        Ok(Vec::new())
    }
}

/// Returns one row for each table: schema name, table name, and the columns encoded as an Arrow IPC schema message.
pub(crate) fn known(tables: &Tables) -> Result<RecordBatch, SqlError> {
    let names = |name: &dyn Fn(&crate::tables::TableName) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(tables.schemas.keys().map(name)))
    };
    let columns = tables.schemas.values().map(|schema| schema_message(&remarked(schema)));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let known = RecordBatch::try_from_iter([
        ("schema", names(&|name| name.schema.clone())),
        ("table", names(&|name| name.table.clone())),
        ("columns", Arc::new(BinaryArray::from_iter_values(columns))),
    ]);
    known.map_err(|error| unwritten(&error))
}

/// Encodes a whole table as `DoGet` messages of Arrow Flight.
pub(crate) fn table(rows: &RecordBatch) -> Result<Vec<u8>, SqlError> {
    let mut writer = FlightRows::of(&rows.schema());
    let mut out = writer.head()?;
    out.extend(writer.rows(rows)?);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::Field;

    use super::*;

    #[test]
    fn views_are_told_as_plain_texts_however_deep_they_stand() {
        let view = |name: &str| Field::new(name, DataType::Utf8View, true);
        let list = DataType::List(FieldRef::new(view("item")));
        let schema = Schema::new(vec![view("title"), Field::new("tags", list, true)]);
        let told = remarked(&schema);
        let plain = DataType::List(FieldRef::new(Field::new("item", DataType::Utf8, true)));
        assert_eq!(told.field(0).data_type(), &DataType::Utf8);
        assert_eq!(told.field(1).data_type(), &plain);
    }
}
