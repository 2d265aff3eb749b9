use std::ops::Range;
use std::sync::Arc;

use data_index::{Part, Release, RowAddress};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use roaring::RoaringBitmap;

use crate::filters::{Condition, Selection};
use crate::rows::{Each, Row};
use crate::schema::Table;

/// Approximate maximum number of rows in a record batch. Rows of one product are not split. A session may request
/// fewer.
const BATCH_ROWS: usize = 8_192;

#[derive(Debug)]
pub(crate) struct ReleaseTable {
    release: Arc<Release>,
    table: &'static Table,
    schema: SchemaRef,
}

impl ReleaseTable {
    pub(crate) fn new(release: Arc<Release>, table: &'static Table) -> Self {
        let fields: Vec<_> = table.columns.iter().map(|column| column.field(table.name)).collect();
        Self {
            release,
            table,
            schema: Arc::new(Schema::new(fields)),
        }
    }

    fn sources(&self, wanted: &Selection) -> Vec<Source> {
        let places = match self.table.each {
            Each::Brand => Some(self.release.brands().len()),
            Each::Match => Some(self.release.matches().map_or(0, |matches| matches.len())),
            _ => None,
        };
        if let Some(places) = places {
            return vec![Source::Places(u32::try_from(places).unwrap_or(u32::MAX))];
        }
        let filter = wanted.narrows().then(|| self.release.filter(&wanted.filter));
        let parts = (0..).zip(self.release.parts());
        let sources = parts.filter_map(|(at, part): (u32, &Part)| {
            let mut rows = match &filter {
                Some(filter) => filter.part(at)?.bitmap(),
                None => {
                    let mut rows = RoaringBitmap::new();
                    rows.insert_range(0..part.rows());
                    rows - part.dead()
                }
            };
            if let Some(products) = &wanted.products {
                let here = products
                    .iter()
                    .filter(|product| product.part == at)
                    .map(|product| product.row);
                rows &= here.collect::<RoaringBitmap>();
            }
            let codes = wanted.codes(part);
            (!rows.is_empty()).then_some(Source::Products { part: at, rows, codes })
        });
        sources.collect()
    }
}

#[async_trait::async_trait]
impl TableProvider for ReleaseTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let answered = filters.iter().map(|filter| Condition::of(filter, self.table.each));
        Ok(answered.map(|conditions| Condition::pushdown(&conditions)).collect())
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let conditions = filters.iter().flat_map(|filter| Condition::of(filter, self.table.each));
        let wanted = Selection::of(&self.release, conditions.collect());
        let columns: Vec<usize> = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.table.columns.len()).collect(),
        };
        let schema = Arc::new(self.schema.project(&columns)?);
        let stream = |source| {
            Arc::new(Rows {
                release: Arc::clone(&self.release),
                table: self.table,
                columns: columns.clone(),
                schema: Arc::clone(&schema),
                source,
                limit,
            }) as Arc<dyn PartitionStream>
        };
        let streams: Vec<_> = self.sources(&wanted).into_iter().map(stream).collect();
        if streams.is_empty() {
            // DataFusion cannot sort or count a plan without partitions.
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let plan = StreamingTableExec::try_new(Arc::clone(&schema), streams, None, None, false, limit)?;
        Ok(Arc::new(plan))
    }
}

#[derive(Debug, Clone)]
enum Source {
    /// Number of rows that belong to no part.
    Places(u32),
    Products {
        part: u32,
        rows: RoaringBitmap,
        codes: Option<Range<u32>>,
    },
}

/// The rows are built batch by batch.
#[derive(Debug)]
struct Rows {
    release: Arc<Release>,
    table: &'static Table,
    columns: Vec<usize>,
    schema: SchemaRef,
    source: Source,
    limit: Option<usize>,
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (release, table) = (Arc::clone(&self.release), self.table);
        let (columns, schema) = (self.columns.clone(), Arc::clone(&self.schema));
        let mut batches = self.row_batches(BATCH_ROWS.min(context.session_config().batch_size()).max(1));
        let batches = std::iter::from_fn(move || {
            let rows = batches.next()?;
            let arrays = columns.iter().filter_map(|at| table.columns.get(*at));
            let arrays = arrays.map(|column| column.array(&release, &rows)).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options);
            Some(batch.map_err(Into::into))
        });
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            futures::stream::iter(batches),
        ))
    }
}

impl Rows {
    fn row_batches(&self, batch_rows: usize) -> impl Iterator<Item = Vec<Row>> + Send + 'static {
        let (release, each) = (Arc::clone(&self.release), self.table.each);
        let mut left = self.limit.unwrap_or(usize::MAX);
        let source = self.source.clone();
        let products: Box<dyn Iterator<Item = RowAddress> + Send> = match &source {
            Source::Places(count) => Box::new((0..*count).map(|row| RowAddress { part: 0, row })),
            Source::Products { part, rows, .. } => {
                let part = *part;
                Box::new(rows.clone().into_iter().map(move |row| RowAddress { part, row }))
            }
        };
        let mut products = products.peekable();
        std::iter::from_fn(move || {
            let mut rows = Vec::new();
            products.peek()?;
            while rows.len() < batch_rows.min(left) {
                let Some(at) = products.next() else { break };
                match &source {
                    Source::Places(_) => rows.push(Row::place(at.row)),
                    Source::Products { codes, .. } => {
                        if let Some(part) = release.part(at.part) {
                            each.expand(at, part, codes.as_ref(), &mut rows);
                        }
                    }
                }
            }
            rows.truncate(left);
            left -= rows.len();
            (!rows.is_empty() || products.peek().is_some() && left > 0).then_some(rows)
        })
    }
}
