use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{MemorySchemaProvider, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::AggregateUDF;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::SqlError;
use crate::bounds::{Bounds, StartError};
use crate::mode::Mode;

/// Default catalogue name of a DataFusion session.
const GIVEN: &str = "datafusion";
pub(crate) const CATALOG: &str = "haat";
pub(crate) const SCHEMA: &str = "public";
/// Schema of the tables that describe the other tables.
pub(crate) const ABOUT: &str = "haat";
/// Number of rows in a batch. The result of an expression over a whole batch must fit into memory.
const BATCH_ROWS: usize = 2_048;

/// Tables of one release or lake state, in a session that all statements over this state share.
pub struct Tables {
    /// Name of the state in answers: a release id or a tick of the lake.
    pub(crate) name: String,
    pub(crate) context: SessionContext,
    /// Schemas of all tables, including those that describe other tables.
    pub(crate) schemas: BTreeMap<TableName, SchemaRef>,
    pub(crate) absent: Option<Absent>,
}

/// Schema and table name, as used in statements.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TableName {
    pub(crate) schema: String,
    pub(crate) table: String,
}

/// Known schema that is not available on this server.
#[derive(Debug, Clone)]
pub struct Absent {
    /// Name of the schema.
    pub schema: &'static str,
    /// Explanation for statements that use the schema.
    pub why: String,
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schema, table } = self;
        match schema.as_str() {
            SCHEMA => f.write_str(table),
            _ => write!(f, "{schema}.{table}"),
        }
    }
}

/// Provides the tables that statements read.
#[async_trait::async_trait]
pub trait Source: std::fmt::Debug + Send + Sync {
    /// Returns the current tables or, if past states are kept, the tables at the time `as_of`.
    async fn tables(&self, as_of: Option<&str>) -> Result<Arc<Tables>, SqlError>;
}

/// Source of tables that never change and have no past states.
#[derive(Debug)]
pub struct FixedTables(pub Arc<Tables>);

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl Source for FixedTables {
    async fn tables(&self, as_of: Option<&str>) -> Result<Arc<Tables>, SqlError> {
        match as_of {
            Some(_) => Err(SqlError::Moment("these tables have no earlier versions".to_owned())),
            None => Ok(Arc::clone(&self.0)),
        }
    }
}

impl Tables {
    /// Copies the tables and table functions of `given` into a session with limited memory, files and functions.
    ///
    /// # Errors
    /// [`StartError::Tables`]
    pub async fn of(
        bounds: &Bounds,
        name: impl Into<String>,
        given: &SessionContext,
        absent: Option<Absent>,
    ) -> Result<Arc<Self>, StartError> {
        let mut made = Self {
            name: name.into(),
            context: session(bounds, given),
            schemas: BTreeMap::new(),
            absent,
        };
        let taken = made.take(given).await;
        taken.map_err(|error| StartError::Tables(Box::new(error)))?;
        Ok(Arc::new(made))
    }

    async fn take(&mut self, given: &SessionContext) -> Result<(), DataFusionError> {
        for (name, function) in given.state().table_functions() {
            self.context.register_udtf(name, Arc::clone(function.function()));
        }
        let held = given.catalog(GIVEN);
        for name in held.iter().flat_map(|held| held.schema_names()) {
            let Some(schema) = held.as_ref().and_then(|held| held.schema(&name)) else {
                continue;
            };
            for table in schema.table_names() {
                if let Some(provider) = schema.table(&table).await? {
                    let schema = name.clone();
                    self.register(TableName { schema, table }, provider)?;
                }
            }
        }
        let (schema, table) = (ABOUT.to_owned(), "columns".to_owned());
        self.register(TableName { schema, table }, columns(&self.schemas)?)
    }

    fn register(&mut self, name: TableName, provider: Arc<dyn TableProvider>) -> Result<(), DataFusionError> {
        if let Some(catalog) = self.context.catalog(CATALOG) {
            if catalog.schema(&name.schema).is_none() {
                catalog.register_schema(&name.schema, Arc::new(MemorySchemaProvider::new()))?;
            }
            if let Some(schema) = catalog.schema(&name.schema) {
                schema.register_table(name.table.clone(), Arc::clone(&provider))?;
            }
        }
        self.schemas.insert(name, provider.schema());
        Ok(())
    }

    /// Returns the names of the given tables, without the tables that describe other tables.
    fn own(&self) -> impl Iterator<Item = &TableName> {
        self.schemas.keys().filter(|name| name.schema != ABOUT)
    }

    /// Returns the error message for an unknown table name. The message explains why a schema is absent, or lists the
    /// existing names.
    pub(crate) fn not_found(&self, words: &str) -> String {
        let of_absent = |absent: &&Absent| words.contains(&format!("'{}.", absent.schema));
        if let Some(absent) = self.absent.as_ref().filter(of_absent) {
            return absent.why.clone();
        }
        let mut names: Vec<String> = match words.contains("table function") {
            true => self.context.state().table_functions().keys().cloned().collect(),
            false => self.own().map(ToString::to_string).collect(),
        };
        // Names without a schema come first.
        names.sort_unstable_by_key(|name| (name.contains('.'), name.clone()));
        format!("{words}; there are {}", names.join(", "))
    }
}

fn session(bounds: &Bounds, given: &SessionContext) -> SessionContext {
    let mut config = SessionConfig::new()
        .with_information_schema(true)
        .with_default_catalog_and_schema(CATALOG, SCHEMA)
        .with_batch_size(BATCH_ROWS)
        .with_target_partitions(bounds.config.threads);
    let options = config.options_mut();
    options.execution.parquet.pushdown_filters = true;
    options.execution.parquet.reorder_filters = true;
    // A sort reserves this memory to merge its spilled runs. The reservation must be smaller than the memory limit.
    options.execution.sort_spill_reservation_bytes = bounds.memory_bytes_max / 8;
    let runtime = RuntimeEnv {
        memory_pool: Arc::clone(&bounds.memory),
        disk_manager: Arc::clone(&bounds.disk),
        ..given.runtime_env().as_ref().clone()
    };
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::new(runtime))
        .with_default_features()
        .build();
    let context = SessionContext::new_with_state(state);
    context.register_udaf(AggregateUDF::from(Mode::default()));
    context
}

/// Creates the table `haat.columns`: all columns with their comments, which the engine's `information_schema` lacks.
fn columns(schemas: &BTreeMap<TableName, SchemaRef>) -> Result<Arc<dyn TableProvider>, DataFusionError> {
    let described = schemas.iter().map(|(table, schema)| described(Some(table), schema));
    let batches = described.collect::<Result<Vec<_>, _>>()?;
    let schema = match batches.first() {
        Some(batch) => batch.schema(),
        None => described_schema()?,
    };
    Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
}

fn described_schema() -> Result<SchemaRef, DataFusionError> {
    let name = TableName {
        schema: String::new(),
        table: String::new(),
    };
    Ok(described(Some(&name), &Schema::empty())?.schema())
}

/// Returns one row for each column of a table, with its comment. The rows include the table name if given.
pub(crate) fn described(table: Option<&TableName>, schema: &Schema) -> Result<RecordBatch, DataFusionError> {
    let fields = schema.fields();
    let texts = |read: &dyn Fn(&datafusion::arrow::datatypes::Field) -> Option<String>| {
        let texts: StringArray = fields.iter().map(|field| read(field)).collect();
        Arc::new(texts) as ArrayRef
    };
    let mut columns: Vec<(&str, ArrayRef, bool)> = Vec::new();
    if let Some(table) = table {
        columns.push(("table_schema", texts(&|_| Some(table.schema.clone())), false));
        columns.push(("table_name", texts(&|_| Some(table.table.clone())), false));
    }
    let null = |nullable: bool| if nullable { "YES" } else { "NO" };
    columns.extend([
        ("column_name", texts(&|field| Some(field.name().clone())), false),
        ("data_type", texts(&|field| Some(field.data_type().to_string())), false),
        (
            "is_nullable",
            texts(&|field| Some(null(field.is_nullable()).to_owned())),
            false,
        ),
        (
            "comment",
            texts(&|field| field.metadata().get("comment").cloned()),
            true,
        ),
    ]);
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}
