//! Statement in a worker, from its text to its last row.

use std::io;

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::SQLOptions;
use futures::StreamExt;

use crate::SqlError;
use crate::bounds::Bounds;
use crate::encode::Encode;
#[cfg(feature = "flight")]
use crate::ipc;
use crate::statement::ReadStatement;
use crate::tables::{Tables, described};

/// Callback that sends part of a response. The callback returns an error if the receiver has disconnected.
pub(crate) type Write<'a> = dyn FnMut(&[u8]) -> io::Result<()> + 'a;

/// Function that creates the encoder for rows with the given schema.
pub(crate) type Encoder<'a> = &'a (dyn Fn(&SchemaRef) -> Result<Box<dyn Encode>, SqlError> + Sync);

/// Tables that a statement reads, and the limits of its answer.
pub(crate) struct Work<'a> {
    pub(crate) bounds: &'a Bounds,
    pub(crate) tables: &'a Tables,
}

impl Work<'_> {
    /// Writes the rows of a statement. If there are rows, the first part contains some, so an earlier error can be an
    /// error response.
    pub(crate) async fn rows(
        &self,
        statement: &str,
        encoder: Encoder<'_>,
        write: &mut Write<'_>,
    ) -> Result<(), SqlError> {
        let mut rows = self.planned(statement).await?;
        let mut encoder = encoder(&rows.schema())?;
        let mut part = encoder.head()?;
        let config = &self.bounds.config;
        let (mut rows_left, mut bytes_left) = (config.rows_max, config.answer_bytes_max);
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(|error| self.told(&error))?;
            let too_much = || SqlError::Rows {
                rows_max: config.rows_max,
                bytes_max: config.answer_bytes_max,
            };
            rows_left = rows_left.checked_sub(batch.num_rows()).ok_or_else(too_much)?;
            bytes_left = bytes_left.checked_sub(batch_bytes(&batch)).ok_or_else(too_much)?;
            if batch.num_rows() > 0 {
                part.extend(encoder.rows(&batch)?);
                write(&part).map_err(|_| SqlError::Internal)?;
                part.clear();
            }
        }
        part.extend(encoder.end()?);
        write(&part).map_err(|_| SqlError::Internal)
    }

    /// Writes the columns of a statement's result without running the statement.
    #[cfg(feature = "flight")]
    pub(crate) async fn columns(&self, statement: &str, write: &mut Write<'_>) -> Result<(), SqlError> {
        let rows = self.planned(statement).await?;
        let columns = ipc::schema_message(&ipc::answered(&rows.schema()))?;
        write(&columns).map_err(|_| SqlError::Internal)
    }

    /// Writes the table metadata that Flight SQL clients request.
    #[cfg(feature = "flight")]
    pub(crate) fn catalogue(&self, write: &mut Write<'_>) -> Result<(), SqlError> {
        let known = ipc::known(self.tables)?;
        let mut encoder = crate::encode::Format::Arrow.encoder(&known.schema(), &self.tables.name)?;
        for part in [encoder.head()?, encoder.rows(&known)?, encoder.end()?] {
            write(&part).map_err(|_| SqlError::Internal)?;
        }
        Ok(())
    }

    async fn planned(&self, statement: &str) -> Result<SendableRecordBatchStream, SqlError> {
        let read = ReadStatement::of(statement)?;
        Box::pin(self.stream(read)).await.map_err(|error| self.told(&error))
    }

    async fn stream(&self, read: ReadStatement) -> Result<SendableRecordBatchStream, DataFusionError> {
        let session = &self.tables.context;
        let statement = match read {
            ReadStatement::Describe(table) => {
                let schema = session.table_provider(table.as_str()).await?.schema();
                return session.read_batch(described(None, &schema)?)?.execute_stream().await;
            }
            ReadStatement::Statement(statement) => statement,
        };
        let state = session.state();
        let plan = state.statement_to_plan(*statement).await?;
        let reads = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        reads.verify_plan(&plan)?;
        let plan = state.create_physical_plan(&plan).await?;
        execute_stream(plan, state.task_ctx())
    }

    /// Translates an engine error for the sender of the statement. If a table is unknown, the message lists the
    /// existing ones.
    fn told(&self, error: &DataFusionError) -> SqlError {
        let told = SqlError::of(error, self.bounds.memory_bytes_max, self.bounds.spill_bytes_max);
        match &told {
            SqlError::Invalid(words) if words.starts_with("table ") && words.contains("not found") => {
                SqlError::Invalid(self.tables.not_found(words))
            }
            _ => told,
        }
    }
}

/// Returns the size of a batch in bytes. For a slice of a larger batch, only the slice counts.
fn batch_bytes(batch: &RecordBatch) -> usize {
    let columns = batch.columns().iter().map(|column| {
        let part = column.to_data().get_slice_memory_size();
        part.unwrap_or_else(|_| column.get_array_memory_size())
    });
    columns.sum()
}
