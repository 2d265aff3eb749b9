//! What every step of a plan keeps to: it ends when its statement does, lets others run, and makes no batch that is larger
//! than all memory for statements.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{ReplaceChildrenOptions, replace_children_if_necessary};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;

use crate::SqlError;

/// When a statement must end, and how much a batch may hold.
#[derive(Debug)]
pub(crate) struct Stop {
    cancelled: AtomicBool,
    deadline: Instant,
    timeout_ms: u64,
    batch_bytes_max: usize,
}

impl Stop {
    pub(crate) fn after(timeout_ms: u64, batch_bytes_max: usize) -> Self {
        Self {
            cancelled: AtomicBool::new(false),
            deadline: Instant::now() + Duration::from_millis(timeout_ms),
            timeout_ms,
            batch_bytes_max,
        }
    }

    /// Nobody waits for the statement any more.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(crate) fn timed_out(&self) -> SqlError {
        SqlError::Time {
            timeout_ms: self.timeout_ms,
        }
    }

    fn check(&self, batch_bytes: usize) -> Result<()> {
        let over = if self.cancelled.load(Ordering::Relaxed) || Instant::now() > self.deadline {
            self.timed_out()
        } else if batch_bytes > self.batch_bytes_max {
            SqlError::Memory {
                bytes_max: self.batch_bytes_max,
            }
        } else {
            return Ok(());
        };
        Err(DataFusionError::External(Box::new(over)))
    }
}

/// What a batch holds; of a part of a larger one only that part.
pub(crate) fn batch_bytes(batch: &RecordBatch) -> usize {
    let columns = batch.columns().iter().map(|column| {
        let part = column.to_data().get_slice_memory_size();
        part.unwrap_or_else(|_| column.get_array_memory_size())
    });
    columns.sum()
}

/// Puts a guard around every step of a plan.
pub(crate) fn guarded(plan: Arc<dyn ExecutionPlan>, stop: &Arc<Stop>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|step| Ok(Transformed::yes(Guarded::around(step, stop))))
        .data()
}

#[derive(Debug, Clone)]
struct Guarded {
    step: Arc<dyn ExecutionPlan>,
    stop: Arc<Stop>,
}

impl Guarded {
    fn around(step: Arc<dyn ExecutionPlan>, stop: &Arc<Stop>) -> Arc<dyn ExecutionPlan> {
        Arc::new(Self {
            step,
            stop: Arc::clone(stop),
        })
    }
}

impl DisplayAs for Guarded {
    fn fmt_as(&self, _kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guarded")
    }
}

impl ExecutionPlan for Guarded {
    fn name(&self) -> &'static str {
        "Guarded"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.step.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.step]
    }

    fn apply_expressions(
        &self,
        _each: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(step), true) => Ok(Self::around(step, &self.stop)),
            _ => datafusion::common::internal_err!("a guard has one step"),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        replace_children_if_necessary(self, children)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.step.execute(partition, context)?;
        let (schema, stop) = (rows.schema(), Arc::clone(&self.stop));
        let checked = rows.map(move |batch| {
            let batch = batch?;
            stop.check(batch_bytes(&batch))?;
            Ok(batch)
        });
        Ok(make_cooperative(Box::pin(RecordBatchStreamAdapter::new(
            schema, checked,
        ))))
    }
}
