//! A statement at work, from its text to its last row, on the threads of statements.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::DataFusionError;
use futures::StreamExt;
use tokio::sync::mpsc;

use crate::SqlError;
use crate::bounds::Bounds;
use crate::engine::Question;
use crate::guard::{Stop, batch_bytes};
use crate::planning::Planners;
use crate::tables::{Source, Tables};
use crate::threads::{Holding, Pool};

/// What a statement's task tells whoever waits for it.
pub(crate) enum Told {
    Begun { schema: SchemaRef, of: String },
    Rows(RecordBatch),
    Ended,
    Failed(SqlError),
}

/// What runs on the threads.
pub(crate) struct Work {
    pub(crate) bounds: Bounds,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) planners: Planners,
    pub(crate) stop: Arc<Stop>,
    pub(crate) teller: mpsc::Sender<Told>,
    pub(crate) holding: Holding,
    /// The threads that it runs on: they end no earlier.
    pub(crate) pool: Arc<Pool>,
}

impl Work {
    pub(crate) async fn run(self, question: Question, runs: bool) {
        let limit = self.stop.deadline().into();
        let ended = match tokio::time::timeout_at(limit, Box::pin(self.rows(&question, runs))).await {
            Ok(Ok(())) => Told::Ended,
            Ok(Err(error)) => Told::Failed(error),
            Err(_) => Told::Failed(self.stop.timed_out()),
        };
        let Self {
            teller, holding, pool, ..
        } = self;
        drop(holding);
        // Whoever waited may have gone.
        let _ = teller.send(ended).await;
        drop(pool);
    }

    async fn rows(&self, question: &Question, runs: bool) -> Result<(), SqlError> {
        let tables = self.source.tables(question.as_of.as_deref()).await?;
        let planned = self.planners.plan(&tables, &question.statement, &self.stop).await?;
        let mut rows = planned.map_err(|error| self.told(&tables, &error))?;
        let begun = Told::Begun {
            schema: rows.schema(),
            of: tables.name.clone(),
        };
        if self.teller.send(begun).await.is_err() || !runs {
            return Ok(());
        }
        let config = &self.bounds.config;
        let (mut rows_left, mut bytes_left) = (config.rows_max, config.answer_bytes_max);
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(|error| self.told(&tables, &error))?;
            let too_much = || SqlError::Rows {
                rows_max: config.rows_max,
                bytes_max: config.answer_bytes_max,
            };
            rows_left = rows_left.checked_sub(batch.num_rows()).ok_or_else(too_much)?;
            let bytes = batch_bytes(&batch);
            bytes_left = bytes_left.checked_sub(bytes).ok_or_else(too_much)?;
            if batch.num_rows() > 0 && self.teller.send(Told::Rows(batch)).await.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// What an error of the engine means; where it names a table that is not there, those that are.
    fn told(&self, tables: &Tables, error: &DataFusionError) -> SqlError {
        let config = &self.bounds.config;
        let told = SqlError::of(error, config.memory_bytes_max, config.spill_bytes_max);
        match &told {
            SqlError::Invalid(words) if words.starts_with("table ") && words.contains("not found") => {
                SqlError::Invalid(tables.not_found(words))
            }
            _ => told,
        }
    }
}
