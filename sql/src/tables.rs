use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::bounds::{Bounds, StartError};
use crate::{SqlError, functions};

/// Where a session has its tables that was given none of its own.
const GIVEN: &str = "datafusion";
pub(crate) const CATALOG: &str = "haat";
pub(crate) const SCHEMA: &str = "public";
/// The schema of the tables that tell what the others hold.
pub(crate) const ABOUT: &str = "haat";
/// Rows of one batch: what an expression makes of one batch is in memory at once.
pub(crate) const BATCH_ROWS: usize = 2_048;

/// Tables of one state, in one session for all statements that read it.
pub struct Tables {
    /// What answers name: a release's id, or a tick of the lake.
    pub(crate) name: String,
    pub(crate) context: SessionContext,
    /// By name.
    pub(crate) schemas: BTreeMap<String, SchemaRef>,
    /// Those of the tables that tell about the others.
    #[cfg(feature = "flight")]
    pub(crate) about: BTreeMap<String, SchemaRef>,
}

/// Where tables come from.
#[async_trait::async_trait]
pub trait Source: std::fmt::Debug + Send + Sync {
    /// The tables as they are now or, where that is kept, as they were.
    async fn tables(&self, as_of: Option<&str>) -> Result<Arc<Tables>, SqlError>;
}

/// Tables that are replaced as a whole, and have no past.
#[derive(Debug, Default)]
pub struct Current(ArcSwapOption<Tables>);

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Current {
    /// From now on answers from these; statements that run go on over theirs.
    pub fn swap(&self, tables: Option<Arc<Tables>>) {
        self.0.store(tables);
    }
}

#[async_trait::async_trait]
impl Source for Current {
    async fn tables(&self, as_of: Option<&str>) -> Result<Arc<Tables>, SqlError> {
        if as_of.is_some() {
            let words = "this server answers from the current release alone; the lake has a past (`haat lake serve`)";
            return Err(SqlError::Moment(words.to_owned()));
        }
        self.0.load_full().ok_or(SqlError::NotReady)
    }
}

impl Tables {
    /// Takes the tables of `given` into a session whose memory, files and functions are bounded.
    ///
    /// # Errors
    /// [`StartError::Tables`]
    pub async fn of(bounds: &Bounds, name: impl Into<String>, given: &SessionContext) -> Result<Arc<Self>, StartError> {
        let made = Self::made(bounds, name.into(), given).await;
        made.map(Arc::new).map_err(|error| StartError::Tables(Box::new(error)))
    }

    async fn made(bounds: &Bounds, name: String, given: &SessionContext) -> Result<Self, DataFusionError> {
        let context = session(bounds, given);
        let mut schemas = BTreeMap::new();
        let held = given.catalog(GIVEN).and_then(|catalog| catalog.schema(SCHEMA));
        for table in held.map(|schema| schema.table_names()).unwrap_or_default() {
            let provider = given.table_provider(table.as_str()).await?;
            schemas.insert(table.clone(), provider.schema());
            context.register_table(table.as_str(), provider)?;
        }
        let columns = columns(&schemas)?;
        #[cfg(feature = "flight")]
        let about = BTreeMap::from([("columns".to_owned(), columns.schema())]);
        if let Some(catalog) = context.catalog(CATALOG) {
            let schema = MemorySchemaProvider::new();
            schema.register_table("columns".to_owned(), columns)?;
            catalog.register_schema(ABOUT, Arc::new(schema))?;
        }
        Ok(Self {
            name,
            context,
            schemas,
            #[cfg(feature = "flight")]
            about,
        })
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
    // What a sort keeps back to merge what it spilled is a part of the memory, not more than that.
    options.execution.sort_spill_reservation_bytes = bounds.config.memory_bytes_max / 8;
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
    functions::bound(&context, bounds.config.memory_bytes_max);
    context
}

/// `haat.columns`: every column with its comment, which the engine's own `information_schema` leaves out.
fn columns(schemas: &BTreeMap<String, SchemaRef>) -> Result<Arc<dyn TableProvider>, DataFusionError> {
    let described = schemas
        .iter()
        .map(|(table, schema)| described(Some(table.as_str()), schema));
    let batches = described.collect::<Result<Vec<_>, _>>()?;
    let schema = match batches.first() {
        Some(batch) => batch.schema(),
        None => described_schema()?,
    };
    Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
}

fn described_schema() -> Result<SchemaRef, DataFusionError> {
    Ok(described(Some(""), &Schema::empty())?.schema())
}

/// A row for each column of a table, with its comment; with the table's name where one is given.
pub(crate) fn described(table: Option<&str>, schema: &Schema) -> Result<RecordBatch, DataFusionError> {
    let fields = schema.fields();
    let texts = |read: &dyn Fn(&datafusion::arrow::datatypes::Field) -> Option<String>| {
        let texts: StringArray = fields.iter().map(|field| read(field)).collect();
        Arc::new(texts) as ArrayRef
    };
    let mut columns: Vec<(&str, ArrayRef, bool)> = Vec::new();
    if let Some(table) = table {
        columns.push(("table_name", texts(&|_| Some(table.to_owned())), false));
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
