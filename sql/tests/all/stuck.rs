//! A statement that nothing can interrupt: others run beside it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use sql::SqlConfig;

use crate::market::engine_with;
use crate::wild::{outcome, outcome_within, tight};

/// A table whose rows come when it is told so: until then whoever reads it cannot be interrupted.
#[derive(Debug)]
struct Stuck {
    schema: SchemaRef,
    release: Arc<(Mutex<bool>, Condvar)>,
    /// How many wait.
    entered: Arc<AtomicUsize>,
}

impl PartitionStream for Stuck {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (release, entered) = (Arc::clone(&self.release), Arc::clone(&self.entered));
        let rows = futures::stream::poll_fn(move |_| {
            let (released, changed) = &*release;
            entered.fetch_add(1, Ordering::SeqCst);
            drop(
                changed
                    .wait_while(released.lock().unwrap(), |released| !*released)
                    .unwrap(),
            );
            std::task::Poll::Ready(None)
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_nothing_can_interrupt_keeps_neither_its_place_nor_the_threads_of_others() {
    let config = SqlConfig {
        concurrency_max: 1,
        wait_ms: 5_000,
        ..tight()
    };
    let release = Arc::new((Mutex::new(false), Condvar::new()));
    let entered = Arc::new(AtomicUsize::new(0));
    let stuck = Stuck {
        entered: Arc::clone(&entered),
        schema: Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, false)])),
        release: Arc::clone(&release),
    };
    let table = StreamingTable::try_new(Arc::clone(&stuck.schema), vec![Arc::new(stuck)]).unwrap();
    let (_bounds, engine) = engine_with(&config, &[("stuck", Arc::new(table))]).await;
    // So many may go on, each with threads of its own.
    for nth in 1..=4 {
        assert_eq!(outcome_within(&engine, "select * from stuck", 3_000).await, "time");
        assert_eq!(entered.load(Ordering::SeqCst), nth);
        assert_eq!(outcome(&engine, "select 1").await, "1 rows");
    }
    // One more keeps its place, until it ends.
    assert_eq!(outcome_within(&engine, "select * from stuck", 3_000).await, "time");
    assert_eq!(entered.load(Ordering::SeqCst), 5);
    assert_eq!(outcome(&engine, "select 1").await, "busy");
    *release.0.lock().unwrap() = true;
    release.1.notify_all();
    while outcome(&engine, "select 1").await != "1 rows" {}
}
