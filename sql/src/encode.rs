//! Encoders of answers as an Arrow stream, JSON or CSV.

use std::collections::BTreeSet;

use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::json::WriterBuilder;
use datafusion::arrow::json::writer::JsonArray;
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;

use crate::SqlError;

/// Format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// Arrow IPC stream format.
    Arrow,
    /// JSON document of `POST /v1/sql`.
    Json,
    /// Comma-separated values with a header line.
    Csv,
}

/// Encoder of a response, batch by batch.
pub(crate) trait Encode: Send {
    fn head(&mut self) -> Result<Vec<u8>, SqlError>;
    fn rows(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, SqlError>;
    fn end(&mut self) -> Result<Vec<u8>, SqlError>;
}

/// Next bytes of a response, `None` after the last bytes, or the error that ended the response.
pub(crate) type Part = Result<Option<Bytes>, SqlError>;

/// Stream of an answer's bytes. Dropping the stream ends the statement.
#[derive(Debug)]
pub struct Chunks {
    told: mpsc::Receiver<Part>,
    ended: bool,
}

impl Chunks {
    pub(crate) fn of(told: mpsc::Receiver<Part>) -> Self {
        Self { told, ended: false }
    }

    /// Returns the next bytes; `None` after the last bytes.
    ///
    /// # Errors
    /// [`SqlError`], after which the stream ends.
    pub async fn next(&mut self) -> Result<Option<Bytes>, SqlError> {
        if self.ended {
            return Ok(None);
        }
        // The channel also closes if the sending task panicked.
        let told = self.told.recv().await.unwrap_or(Err(SqlError::Internal));
        self.ended = !matches!(told, Ok(Some(_)));
        match &told {
            Ok(Some(_)) => {}
            Ok(None) => count("answered"),
            Err(error) => count(error.reason()),
        }
        told
    }

    /// Returns all bytes of an answer that contains metadata instead of rows.
    #[cfg(feature = "flight")]
    pub(crate) async fn whole(mut self) -> Result<Vec<u8>, SqlError> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.told.recv().await.unwrap_or(Err(SqlError::Internal))? {
            whole.extend(bytes);
        }
        Ok(whole)
    }
}

/// Increments the counter of statements with this outcome.
pub(crate) fn count(outcome: &'static str) {
    metrics::counter!("sql_statements_total", "outcome" => outcome).increment(1);
}

fn unwritten(error: &ArrowError) -> SqlError {
    SqlError::Invalid(format!("the answer cannot be written: {error}"))
}

impl Format {
    /// Returns the format in the `Accept` header; JSON if the header names none.
    pub(crate) fn accepted(headers: &HeaderMap) -> Self {
        let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let mut kinds = accepted
            .unwrap_or_default()
            .split(',')
            .map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        let known = kinds.find_map(|kind| match kind.as_str() {
            "application/vnd.apache.arrow.stream" => Some(Self::Arrow),
            "text/csv" => Some(Self::Csv),
            "application/json" => Some(Self::Json),
            _ => None,
        });
        known.unwrap_or(Self::Json)
    }

    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Arrow => "application/vnd.apache.arrow.stream",
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    /// Creates the encoder for an answer with the columns of `schema`.
    pub(crate) fn encoder(self, schema: &SchemaRef, of: &str) -> Result<Box<dyn Encode>, SqlError> {
        Ok(match self {
            Self::Arrow => {
                let writer = StreamWriter::try_new(Vec::new(), schema).map_err(|error| unwritten(&error))?;
                Box::new(ArrowStream(writer))
            }
            Self::Json => {
                named_once(schema)?;
                Box::new(Json {
                    schema: SchemaRef::clone(schema),
                    of: of.to_owned(),
                    begun: false,
                })
            }
            Self::Csv => {
                plain(schema)?;
                Box::new(Csv {
                    schema: SchemaRef::clone(schema),
                })
            }
        })
    }
}

/// Rejects duplicate column names. A JSON row would have a key twice, of which parsers keep one.
fn named_once(schema: &Schema) -> Result<(), SqlError> {
    let mut seen = BTreeSet::new();
    match schema.fields().iter().find(|field| !seen.insert(field.name())) {
        Some(twice) => Err(SqlError::Invalid(format!(
            "two columns have the name {}: rename one of them with `as`",
            twice.name()
        ))),
        None => Ok(()),
    }
}

/// Rejects columns whose data type CSV cannot represent.
fn plain(schema: &Schema) -> Result<(), SqlError> {
    match schema.fields().iter().find(|field| field.data_type().is_nested()) {
        Some(nested) => Err(SqlError::Invalid(format!(
            "column {} contains lists, which CSV cannot represent: leave the column out, or request JSON or Arrow",
            nested.name()
        ))),
        None => Ok(()),
    }
}

struct ArrowStream(StreamWriter<Vec<u8>>);

impl Encode for ArrowStream {
    fn head(&mut self) -> Result<Vec<u8>, SqlError> {
        Ok(std::mem::take(self.0.get_mut()))
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, SqlError> {
        self.0.write(batch).map_err(|error| unwritten(&error))?;
        Ok(std::mem::take(self.0.get_mut()))
    }

    fn end(&mut self) -> Result<Vec<u8>, SqlError> {
        self.0.finish().map_err(|error| unwritten(&error))?;
        Ok(std::mem::take(self.0.get_mut()))
    }
}

struct Csv {
    schema: SchemaRef,
}

impl Encode for Csv {
    fn head(&mut self) -> Result<Vec<u8>, SqlError> {
        let mut writer = csv::WriterBuilder::new().with_header(true).build(Vec::new());
        let none = RecordBatch::new_empty(SchemaRef::clone(&self.schema));
        writer.write(&none).map_err(|error| unwritten(&error))?;
        Ok(writer.into_inner())
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, SqlError> {
        let mut writer = csv::WriterBuilder::new().with_header(false).build(Vec::new());
        writer.write(batch).map_err(|error| unwritten(&error))?;
        Ok(writer.into_inner())
    }

    fn end(&mut self) -> Result<Vec<u8>, SqlError> {
        Ok(Vec::new())
    }
}

struct Json {
    schema: SchemaRef,
    of: String,
    begun: bool,
}

impl Encode for Json {
    fn head(&mut self) -> Result<Vec<u8>, SqlError> {
        let columns = self.schema.fields().iter().map(|field| {
            json!({
                "name": field.name(), "type": field.data_type().to_string(), "nullable": field.is_nullable(),
                "comment": field.metadata().get("comment"),
            })
        });
        let columns = serde_json::Value::from_iter(columns);
        Ok(format!("{{\"columns\":{columns},\"data\":[").into_bytes())
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, SqlError> {
        let mut writer = WriterBuilder::new()
            .with_explicit_nulls(true)
            .build::<_, JsonArray>(Vec::new());
        writer.write(batch).map_err(|error| unwritten(&error))?;
        writer.finish().map_err(|error| unwritten(&error))?;
        let list = writer.into_inner();
        // The rows of all batches form one JSON array, so the brackets of a batch are removed.
        let rows = list.get(1..list.len().saturating_sub(1)).unwrap_or_default();
        let mut out = Vec::with_capacity(rows.len() + 1);
        if std::mem::replace(&mut self.begun, true) {
            out.push(b',');
        }
        out.extend_from_slice(rows);
        Ok(out)
    }

    fn end(&mut self) -> Result<Vec<u8>, SqlError> {
        let provenance = json!({ "engine": "sql", "source": self.of });
        Ok(format!("],\"provenance\":{provenance},\"tier\":\"graph\"}}").into_bytes())
    }
}
