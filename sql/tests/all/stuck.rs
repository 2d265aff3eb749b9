//! Test of a statement that its worker cannot interrupt. The server must still run other statements.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use sql::SqlConfig;

use crate::market::engine_of;
use crate::wild::{outcome, outcome_within, tight};

/// Table that blocks its reader forever and never returns rows.
#[derive(Debug)]
struct Stuck(SchemaRef);

impl PartitionStream for Stuck {
    fn schema(&self) -> &SchemaRef {
        &self.0
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = futures::stream::poll_fn(|_| {
            loop {
                std::thread::park();
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.0), rows))
    }
}

pub(crate) fn table() -> Result<StreamingTable, DataFusionError> {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, false)]));
    StreamingTable::try_new(Arc::clone(&schema), vec![Arc::new(Stuck(schema))])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_nothing_can_interrupt_keeps_no_place() {
    let config = SqlConfig {
        concurrency_max: 1,
        wait_ms: 60_000,
        ..tight()
    };
    let engine = engine_of(&config, true);
    for _ in 0..3 {
        assert_eq!(outcome_within(&engine, "select * from stuck", 1_500).await, "time");
        assert_eq!(outcome(&engine, "select 1").await, "1 rows");
    }
}
