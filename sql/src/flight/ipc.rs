//! Schemas and rows as Flight sends them.

use std::collections::HashMap;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::{
    DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions, write_message,
};

use super::grpc::framed;
use super::messages::FlightData;
use crate::SqlError;
use crate::encode::Encode;

/// What clients read a column's comment from.
const REMARKS: &str = "ARROW:FLIGHT:SQL:REMARKS";

/// A schema whose columns tell their comments as Flight SQL has them.
pub(super) fn remarked(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let comment = field.metadata().get("comment");
        let metadata: HashMap<_, _> = comment
            .map(|text| (REMARKS.to_owned(), text.clone()))
            .into_iter()
            .collect();
        field.as_ref().clone().with_metadata(metadata)
    });
    Schema::new(fields.collect::<Vec<_>>())
}

fn encoded_schema(schema: &Schema, tracker: &mut DictionaryTracker) -> EncodedData {
    let options = IpcWriteOptions::default();
    IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(schema, tracker, &options)
}

/// A schema as a message of the stream format.
pub(super) fn schema_message(schema: &Schema) -> Result<Vec<u8>, SqlError> {
    let encoded = encoded_schema(schema, &mut DictionaryTracker::new(false));
    let mut out = Vec::new();
    write_message(&mut out, encoded, &IpcWriteOptions::default()).map_err(|error| unwritten(&error))?;
    Ok(out)
}

fn unwritten(error: &ArrowError) -> SqlError {
    SqlError::Invalid(format!("the answer cannot be written: {error}"))
}

/// Writes rows as messages of `DoGet`.
pub(super) struct FlightRows {
    schema: SchemaRef,
    tracker: DictionaryTracker,
    options: IpcWriteOptions,
    context: IpcWriteContext,
}

impl FlightRows {
    pub(super) fn of(schema: &Schema) -> Self {
        Self {
            schema: SchemaRef::new(remarked(schema)),
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
        let written = IpcDataGenerator::default().encode(batch, &mut self.tracker, &self.options, &mut self.context);
        let (dictionaries, rows) = written.map_err(|error| unwritten(&error))?;
        Ok(dictionaries.into_iter().chain([rows]).flat_map(data).collect())
    }

    fn end(&mut self) -> Result<Vec<u8>, SqlError> {
        Ok(Vec::new())
    }
}

/// A whole table as messages of `DoGet`.
pub(super) fn table(rows: &RecordBatch) -> Result<Vec<u8>, SqlError> {
    let mut writer = FlightRows::of(&rows.schema());
    let mut out = writer.head()?;
    out.extend(writer.rows(rows)?);
    Ok(out)
}
