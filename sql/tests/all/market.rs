//! Test market in memory, and an engine whose workers are processes of the test program.

use std::collections::HashMap;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use serde_json::Value;
use sql::{Bounds, FixedTables, Source, SourceError, SqlConfig, SqlEngine, Tables, WorkerLink, Workers};
use tokio::process::Child;

use crate::stuck;

pub(crate) const PRODUCTS: i64 = 100_000;

fn field(name: &str, data_type: DataType, comment: &str) -> Field {
    let metadata = HashMap::from([("comment".to_owned(), comment.to_owned())]);
    Field::new(name, data_type, false).with_metadata(metadata)
}

fn products() -> MemTable {
    let schema = Arc::new(Schema::new(vec![
        field("product_id", DataType::Int64, "Names the product."),
        field("title", DataType::Utf8, "What the store calls it."),
        field("price_minor", DataType::Int64, "Price in minor units."),
    ]));
    let batches = (0..PRODUCTS).step_by(10_000).map(|from| {
        let ids = from..from + 10_000;
        let titles = ids
            .clone()
            .map(|id| format!("linen shirt aaaaaaaaaaaaaaaaaaaaaaaa {}", id * 7_919 % PRODUCTS));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(ids.clone())),
            Arc::new(StringArray::from_iter_values(titles)),
            Arc::new(Int64Array::from_iter_values(ids.map(|id| id % 997 * 100))),
        ];
        RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
    });
    let batches = batches.collect();
    MemTable::try_new(schema, vec![batches]).unwrap()
}

/// Workers that are processes of the test program, in which only the test [`serves_statements`] runs.
#[derive(Debug)]
struct Processes {
    has_stuck: bool,
}

impl Workers for Processes {
    fn setup(&self) -> Value {
        self.has_stuck.into()
    }

    fn start(&self, link: UnixStream) -> std::io::Result<Option<Child>> {
        let arguments = ["market::serves_statements", "--exact", "--ignored"];
        sql::start_program(&arguments, link).map(Some)
    }
}

/// Runs a worker. The worker is a test because the test program must contain it. The function returns at once if no
/// server started the process.
#[test]
#[ignore = "what servers of the other tests start"]
fn serves_statements() {
    let Ok(link) = WorkerLink::of_standard_input() else {
        return;
    };
    let has_stuck = link.setup().unwrap();
    let source = async move |bounds: Bounds| {
        let given = SessionContext::new();
        given.register_table("products", Arc::new(products()))?;
        if has_stuck {
            given.register_table("stuck", Arc::new(stuck::table()?))?;
        }
        let tables = Tables::of(&bounds, "r1", &given, None).await?;
        let source: Arc<dyn Source> = Arc::new(FixedTables(tables));
        Ok::<_, SourceError>(source)
    };
    link.serve(source).unwrap();
}

pub(crate) fn engine(config: &SqlConfig) -> SqlEngine {
    engine_of(config, false)
}

/// Creates an engine over the test market, with the table of [`stuck`] if `has_stuck` is set.
pub(crate) fn engine_of(config: &SqlConfig, has_stuck: bool) -> SqlEngine {
    SqlEngine::new(config, Arc::new(Processes { has_stuck })).unwrap()
}
