//! What every step of a plan keeps to: it ends when its statement does, lets others run, and makes no batch that is larger
//! than all memory for statements. Steps that write a row many times over get no row that is too wide for that, and what
//! steps gather that count no memory is counted for them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{ReplaceChildrenOptions, replace_children_if_necessary};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;

use crate::SqlError;
use crate::functions::begin_batch;
use crate::tables::BATCH_ROWS;

/// When a statement must end, and how much a batch may hold.
#[derive(Debug)]
pub(crate) struct Stop {
    cancelled: AtomicBool,
    deadline: Instant,
    timeout_ms: u64,
    batch_bytes_max: usize,
    row_bytes_max: usize,
}

/// Widest row, or value, that may be written again and again, whatever memory there is.
const ROW_BYTES_MIN: usize = 64 << 10;

impl Stop {
    pub(crate) fn after(timeout_ms: u64, batch_bytes_max: usize) -> Self {
        Self {
            cancelled: AtomicBool::new(false),
            deadline: Instant::now() + Duration::from_millis(timeout_ms),
            timeout_ms,
            batch_bytes_max,
            row_bytes_max: (batch_bytes_max / BATCH_ROWS).max(ROW_BYTES_MIN),
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

    /// An error where the statement must end, or a batch is too large.
    pub(crate) fn check(&self, batch_bytes: usize) -> Result<()> {
        let over = if self.cancelled.load(Ordering::Relaxed) || Instant::now() > self.deadline {
            self.timed_out()
        } else if batch_bytes > self.batch_bytes_max {
            self.too_large()
        } else {
            return Ok(());
        };
        Err(DataFusionError::External(Box::new(over)))
    }

    /// An error where a row, or a value, is too wide to be written once for each row of a batch.
    pub(crate) fn check_repeated(&self, bytes: usize) -> Result<()> {
        if bytes > self.row_bytes_max {
            return Err(DataFusionError::External(Box::new(self.too_large())));
        }
        Ok(())
    }

    fn too_large(&self) -> SqlError {
        SqlError::Memory {
            bytes_max: self.batch_bytes_max,
        }
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

/// The most bytes that one row of a batch takes, or more where that is not known exactly.
fn widest(array: &dyn Array) -> usize {
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    match array.data_type() {
        DataType::Utf8 => longest(&mut array.as_string::<i32>().iter().flatten().map(str::len)),
        DataType::LargeUtf8 => longest(&mut array.as_string::<i64>().iter().flatten().map(str::len)),
        DataType::Utf8View => longest(&mut array.as_string_view().iter().flatten().map(str::len)),
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            let of_list = |at| usize::try_from(lists.value_length(at)).unwrap_or(0);
            longest(&mut (0..lists.len()).map(of_list)).saturating_mul(widest(lists.values()))
        }
        DataType::Struct(_) => array.as_struct().columns().iter().map(|column| widest(column)).sum(),
        other => match other.primitive_width() {
            Some(width) => width,
            None if array.is_empty() => 0,
            None => array.to_data().get_slice_memory_size().unwrap_or(0),
        },
    }
}

/// The bytes of each row of a batch.
fn widths(batch: &RecordBatch) -> Vec<usize> {
    let mut rows = vec![0_usize; batch.num_rows()];
    for column in batch.columns() {
        for (row, bytes) in rows.iter_mut().zip(widths_of(column)) {
            *row = row.saturating_add(bytes);
        }
    }
    rows
}

/// The bytes of each value of an array, or more where that is not known exactly.
fn widths_of(array: &dyn Array) -> Vec<usize> {
    let text = |text: Option<&str>| text.map_or(0, str::len);
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(text).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(text).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(text).collect(),
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            let values = widths_of(lists.values());
            let at = |offset: i32| usize::try_from(offset).unwrap_or(0);
            let bounds = lists.value_offsets().windows(2);
            bounds
                .map(|bounds| {
                    values
                        .get(at(bounds[0])..at(bounds[1]))
                        .map_or(0, |values| values.iter().sum())
                })
                .collect()
        }
        DataType::Struct(_) => {
            let mut rows = vec![0_usize; array.len()];
            for column in array.as_struct().columns() {
                for (row, bytes) in rows.iter_mut().zip(widths_of(column)) {
                    *row = row.saturating_add(bytes);
                }
            }
            rows
        }
        _ => vec![widest(array); array.len()],
    }
}

/// Puts a guard around every step of a plan.
pub(crate) fn guarded(plan: Arc<dyn ExecutionPlan>, stop: &Arc<Stop>) -> Result<Arc<dyn ExecutionPlan>> {
    let guarded = plan.transform_up(|step| {
        let step = match Carried::by(step.as_ref()) {
            Carried::Once => step,
            carried => {
                let inputs = step.children().into_iter().map(|input| {
                    let input = Arc::clone(input);
                    Guarded::around(input, stop, carried)
                });
                let inputs = inputs.collect();
                replace_children_if_necessary(step, inputs)?
            }
        };
        Ok(Transformed::yes(Guarded::around(step, stop, Carried::Once)))
    });
    guarded.data()
}

/// What the step that reads them does with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carried {
    /// Each goes on once, or is counted by the step that holds it.
    Once,
    /// Each may be written again and again.
    Repeated,
    /// All are held at once and counted by nobody; and something of one of them may be written for each, where that is
    /// a text or a list.
    Gathered { with_values: bool },
}

impl Carried {
    fn by(step: &dyn ExecutionPlan) -> Self {
        match step.name() {
            "CrossJoinExec"
            | "NestedLoopJoinExec"
            | "HashJoinExec"
            | "SortMergeJoinExec"
            | "PiecewiseMergeJoinExec"
            | "SymmetricHashJoinExec"
            | "UnnestExec"
            | "ScalarSubqueryExec"
            // It lets go of rows as it goes on.
            | "BoundedWindowAggExec" => Self::Repeated,
            "WindowAggExec" => {
                let inputs: usize = step.children().iter().map(|input| input.schema().fields().len()).sum();
                let schema = step.schema();
                let mut made = schema.fields().iter().skip(inputs);
                Self::Gathered {
                    with_values: made.any(|field| field.data_type().primitive_width().is_none()),
                }
            }
            _ => Self::Once,
        }
    }
}

#[derive(Debug, Clone)]
struct Guarded {
    step: Arc<dyn ExecutionPlan>,
    stop: Arc<Stop>,
    carried: Carried,
}

impl Guarded {
    fn around(step: Arc<dyn ExecutionPlan>, stop: &Arc<Stop>, carried: Carried) -> Arc<dyn ExecutionPlan> {
        Arc::new(Self {
            step,
            stop: Arc::clone(stop),
            carried,
        })
    }
}

/// Looks at batches as they go by.
struct Checks {
    stop: Arc<Stop>,
    carried: Carried,
    /// Given back when the rows are not read any more.
    held: Option<MemoryReservation>,
}

impl Checks {
    fn check(&self, batch: &RecordBatch) -> Result<()> {
        let bytes = batch_bytes(batch);
        self.stop.check(bytes)?;
        if self.carried == Carried::Once {
            return Ok(());
        }
        let mut row_bytes = batch.columns().iter().map(|column| widest(column)).sum();
        // The widest values may be of different rows: that is told only where it matters, since it takes longer.
        if self.stop.check_repeated(row_bytes).is_err() {
            row_bytes = widths(batch).into_iter().max().unwrap_or(0);
        }
        self.stop.check_repeated(row_bytes)?;
        let values = match self.carried {
            Carried::Gathered { with_values: true } => batch.num_rows() * row_bytes,
            _ => 0,
        };
        match &self.held {
            Some(held) => held.try_grow(bytes + values),
            None => Ok(()),
        }
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
            (Some(step), true) => Ok(Self::around(step, &self.stop, self.carried)),
            _ => datafusion::common::internal_err!("a guard has one step"),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        replace_children_if_necessary(self, children)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let held = matches!(self.carried, Carried::Gathered { .. })
            .then(|| MemoryConsumer::new("window").register(context.memory_pool()));
        let mut rows = self.step.execute(partition, context)?;
        let schema = rows.schema();
        let rows = futures::stream::poll_fn(move |context| {
            begin_batch();
            rows.poll_next_unpin(context)
        });
        let checks = Checks {
            stop: Arc::clone(&self.stop),
            carried: self.carried,
            held,
        };
        let checked = rows.map(move |batch| {
            let batch = batch?;
            checks.check(&batch)?;
            Ok(batch)
        });
        Ok(make_cooperative(Box::pin(RecordBatchStreamAdapter::new(
            schema, checked,
        ))))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int64Array, StringArray};
    use datafusion::arrow::datatypes::Int64Type;

    use super::*;

    #[test]
    fn a_row_is_as_wide_as_its_longest_value() {
        assert_eq!(widest(&StringArray::from(vec![Some("a"), None, Some("abc")])), 3);
        assert_eq!(widest(&Int64Array::from(vec![1, 2])), 8);
        let rows = [Some(vec![Some(1), Some(2)]), None, Some(vec![])];
        let lists = datafusion::arrow::array::ListArray::from_iter_primitive::<Int64Type, _, _>(rows);
        assert_eq!(widest(&lists), 16);
    }

    #[test]
    fn wide_values_of_different_rows_make_no_wide_row() {
        let texts = StringArray::from(vec!["a", "abcd", "ab"]);
        let rows = [Some(vec![Some(1), Some(2), Some(3)]), None, Some(vec![Some(1)])];
        let lists = datafusion::arrow::array::ListArray::from_iter_primitive::<Int64Type, _, _>(rows);
        let columns: [(&str, datafusion::arrow::array::ArrayRef); 2] =
            [("texts", Arc::new(texts)), ("lists", Arc::new(lists))];
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap();
        assert_eq!(widths(&batch), [1 + 24, 4, 2 + 8]);
        assert_eq!(widths(&batch.slice(1, 2)), [4, 2 + 8]);
    }
}
