//! A market in memory, and an engine over it.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use sql::{Bounds, FixedTables, SqlConfig, SqlEngine, Tables};

/// Products of the market.
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

/// An engine over the market.
pub(crate) async fn engine(config: &SqlConfig) -> (Bounds, SqlEngine) {
    engine_with(config, &[]).await
}

/// An engine over the market and other tables.
pub(crate) async fn engine_with(config: &SqlConfig, tables: &[(&str, Arc<dyn TableProvider>)]) -> (Bounds, SqlEngine) {
    let bounds = Bounds::new(config).unwrap();
    let given = SessionContext::new();
    given.register_table("products", Arc::new(products())).unwrap();
    for (name, table) in tables {
        given.register_table(*name, Arc::clone(table)).unwrap();
    }
    let tables = Tables::of(&bounds, "r1", &given, None).await.unwrap();
    let engine = SqlEngine::new(bounds.clone(), Arc::new(FixedTables(tables))).unwrap();
    (bounds, engine)
}
