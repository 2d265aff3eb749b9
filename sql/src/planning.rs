//! From a statement's text to a plan that can be run. Nothing that the engine does meanwhile can be interrupted from outside, so
//! it is done on threads beside those that make rows, asks for the time between its steps, and is given up where it is late: so
//! many as are spare may go on without anybody waiting.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionState;
use datafusion::execution::{SendableRecordBatchStream, SessionStateBuilder};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SQLOptions;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::functions::begin_batch;
use crate::guard::{Stop, guarded};
use crate::statement::Read;
use crate::tables::{Tables, described};
use crate::{SqlError, size};

/// How many threads may plan statements that nobody waits for any more, before statements are refused.
pub(crate) const SPARE_PLANNERS: usize = 4;

/// Counts those.
const ABANDONED: &str = "sql_plans_abandoned";

const GOING_ON: u8 = 0;
const ABANDONED_NOW: u8 = 1;
const OVER: u8 = 2;

/// Plans statements, so many at the same time.
#[derive(Debug, Clone)]
pub(crate) struct Planners(Arc<Semaphore>);

/// Rows to be, or what the engine has against them.
pub(crate) type Planned = Result<SendableRecordBatchStream, DataFusionError>;

impl Planners {
    /// Threads for statements that are waited for, and the spare ones.
    pub(crate) fn new(concurrency_max: usize) -> Self {
        metrics::describe_gauge!(
            ABANDONED,
            "Statements that are still planned though nobody waits for them any more"
        );
        metrics::gauge!(ABANDONED).set(0.0);
        Self(Arc::new(Semaphore::new(concurrency_max + SPARE_PLANNERS)))
    }

    /// Plans a statement. On a thread of statements: it starts another one there.
    pub(crate) async fn plan(
        &self,
        tables: &Arc<Tables>,
        statement: &str,
        stop: &Arc<Stop>,
    ) -> Result<Planned, SqlError> {
        let place = Arc::clone(&self.0).try_acquire_owned().map_err(|_| SqlError::Busy)?;
        let (leaving, staying) = Planning::pair(place);
        let (tables, statement, stop) = (Arc::clone(tables), statement.to_owned(), Arc::clone(stop));
        let planned = tokio::task::spawn_blocking(move || {
            let read = Read::of(&statement)?;
            let planned = Handle::current().block_on(Box::pin(planned(&tables, read, &stop)));
            drop(staying);
            Ok(planned)
        });
        // A thread that panicked tells nothing.
        let planned = planned.await.unwrap_or(Err(SqlError::Internal));
        leaving.came_back();
        planned
    }
}

/// The two who know of a statement that is planned: who waits, and who plans.
#[derive(Debug)]
struct Waiting(Option<Arc<AtomicU8>>);

#[derive(Debug)]
struct Planning {
    state: Arc<AtomicU8>,
    _place: OwnedSemaphorePermit,
}

impl Planning {
    fn pair(place: OwnedSemaphorePermit) -> (Waiting, Self) {
        let state = Arc::new(AtomicU8::new(GOING_ON));
        let planning = Self {
            state: Arc::clone(&state),
            _place: place,
        };
        (Waiting(Some(state)), planning)
    }
}

impl Waiting {
    fn came_back(mut self) {
        self.0 = None;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(state) = &self.0 else { return };
        if state.swap(ABANDONED_NOW, Ordering::AcqRel) == GOING_ON {
            metrics::gauge!(ABANDONED).increment(1.0);
        }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        if self.state.swap(OVER, Ordering::AcqRel) == ABANDONED_NOW {
            metrics::gauge!(ABANDONED).decrement(1.0);
        }
    }
}

async fn planned(tables: &Tables, read: Read, stop: &Arc<Stop>) -> Planned {
    // What follows from constants is made while a statement is planned.
    begin_batch();
    let session = &tables.context;
    let statement = match read {
        Read::Describe(table) => {
            let schema = session.table_provider(table.as_str()).await?.schema();
            return session.read_batch(described(None, &schema)?)?.execute_stream().await;
        }
        Read::Statement(statement) => statement,
    };
    let state = timed(session.state(), stop);
    let plan = state.statement_to_plan(*statement).await?;
    // Before anything else walks over the plan: what is small as a text may be endless as a tree.
    size::check(&plan)?;
    let reads = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    reads.verify_plan(&plan)?;
    let plan = state.optimize(&plan)?;
    size::check_constants(&plan, stop)?;
    let plan = state.query_planner().create_physical_plan(&plan, &state).await?;
    execute_stream(guarded(plan, stop)?, state.task_ctx())
}

/// A session whose optimizer asks for the time before each of its rules.
fn timed(state: SessionState, stop: &Arc<Stop>) -> SessionState {
    let clock = Arc::new(Clock(Arc::clone(stop)));
    let before = |rule: &Arc<dyn OptimizerRule + Send + Sync>| {
        [
            Arc::clone(&clock) as Arc<dyn OptimizerRule + Send + Sync>,
            Arc::clone(rule),
        ]
    };
    let rules: Vec<_> = state.optimizers().iter().flat_map(before).collect();
    let before = |rule: &Arc<dyn PhysicalOptimizerRule + Send + Sync>| {
        [
            Arc::clone(&clock) as Arc<dyn PhysicalOptimizerRule + Send + Sync>,
            Arc::clone(rule),
        ]
    };
    let physical: Vec<_> = state.physical_optimizers().iter().flat_map(before).collect();
    SessionStateBuilder::new_from_existing(state)
        .with_optimizer_rules(rules)
        .with_physical_optimizer_rules(physical)
        .build()
}

/// Ends planning where the time is over.
struct Clock(Arc<Stop>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl OptimizerRule for Clock {
    fn name(&self) -> &'static str {
        "clock"
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>, DataFusionError> {
        self.0.check(0)?;
        Ok(Transformed::no(plan))
    }
}

impl PhysicalOptimizerRule for Clock {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        self.0.check(0)?;
        Ok(plan)
    }

    fn name(&self) -> &'static str {
        "clock"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
