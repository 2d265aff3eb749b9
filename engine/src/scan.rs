use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, replace_children_if_necessary,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use query_server::QueryServer;

use crate::call::Call;

/// Call of a table function, used as a table. The query server is called only when rows are read, so `explain` costs
/// nothing.
#[derive(Debug)]
pub(crate) struct FunctionTable {
    pub(crate) call: Call,
    pub(crate) server: QueryServer,
    pub(crate) schema: SchemaRef,
}

#[async_trait::async_trait]
impl TableProvider for FunctionTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let schema = Arc::new(self.schema.project(&columns)?);
        Ok(Arc::new(FunctionExec {
            call: self.call.clone(),
            server: self.server.clone(),
            columns,
            rows_max: limit,
            properties: Arc::new(PlanProperties::new(
                EquivalenceProperties::new(schema),
                Partitioning::UnknownPartitioning(1),
                EmissionType::Final,
                Boundedness::Bounded,
            )),
        }))
    }
}

/// Execution plan of a table function call, which returns a single small batch.
#[derive(Debug)]
struct FunctionExec {
    call: Call,
    server: QueryServer,
    columns: Vec<usize>,
    /// Maximum number of rows that the statement needs.
    rows_max: Option<usize>,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for FunctionExec {
    fn fmt_as(&self, _kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.properties.eq_properties.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "FunctionExec: {}, columns=[{}]", self.call, names.join(", "))?;
        match self.rows_max {
            Some(rows_max) => write!(f, ", fetch={rows_max}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for FunctionExec {
    fn name(&self) -> &'static str {
        "FunctionExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _each: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() {
            return Ok(self);
        }
        datafusion::common::internal_err!("a function call has no input plan")
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        replace_children_if_necessary(self, children)
    }

    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = Arc::clone(self.properties.eq_properties.schema());
        let (call, server, columns) = (self.call.clone(), self.server.clone(), self.columns.clone());
        let (as_told, rows_max) = (Arc::clone(&schema), self.rows_max);
        let rows = async move {
            let found = call.columns(&server).await?;
            let count = found
                .first()
                .map_or(0, |column| column.len())
                .min(rows_max.unwrap_or(usize::MAX));
            let read = columns.iter().filter_map(|at| found.get(*at));
            let read = read.map(|column| column.slice(0, count)).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(count));
            Ok(RecordBatch::try_new_with_options(as_told, read, &options)?)
        };
        let rows = futures::stream::once(rows);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
