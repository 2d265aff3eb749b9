//! Reads from `product_history` the products that stores no longer list.

use std::collections::HashMap;

use arrow::array::Array as _;
use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, ProductId, Timestamp};

use crate::files::Scan;
use crate::rows::columns::Columns;
use crate::rows::product_history::ProductEvent;
use crate::{LakeError, LakeSnapshot, TableName};

const TABLE: TableName = TableName::ProductHistory;
const READ: &[&str] = &["store", "brand_slug", "product_id", "title", "observed_at", "run_id"];

/// A product that its store no longer lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneRow {
    /// Id of the product.
    pub id: ProductId,
    /// Last known title of the product.
    pub title: String,
    /// Slug of the product's brand.
    pub brand_slug: BrandSlug,
    /// `true` if a crawl no longer found the product, and `false` if an operator removed its brand.
    pub by_crawl: bool,
    /// End of the crawl that no longer found the product, or the time at which its brand was removed.
    pub gone_at: Timestamp,
}

impl LakeSnapshot {
    /// Returns the `max` products that disappeared most recently, newest first, each once. Products that came back
    /// later are included. Missing or damaged files are skipped.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn gone_products(&self, max: usize) -> Result<Vec<GoneRow>, LakeError> {
        let wanted = Scan::default().columns(READ);
        let read = self.readable_rows(TABLE, Some(ProductEvent::Gone.as_str()), wanted, gone_in);
        let mut newest = HashMap::new();
        for product in read.await?.rows {
            let known = newest.entry(product.id).or_insert_with(|| product.clone());
            if known.gone_at < product.gone_at {
                *known = product;
            }
        }
        let mut gone: Vec<GoneRow> = newest.into_values().collect();
        gone.sort_unstable_by_key(|product| (std::cmp::Reverse(product.gone_at), product.id));
        gone.truncate(max);
        Ok(gone)
    }
}

fn gone_in(batch: &RecordBatch) -> Result<Vec<GoneRow>, LakeError> {
    let columns = Columns::new(TABLE, batch);
    let (id, slug, title) = (
        columns.text("product_id")?,
        columns.text("brand_slug")?,
        columns.text("title")?,
    );
    let (at, run) = (columns.moment("observed_at")?, columns.text("run_id")?);
    let gone = |row| {
        Ok(GoneRow {
            id: columns.parse::<ProductId>("product_id", id.value(row))?,
            title: title.value(row).to_owned(),
            brand_slug: columns.parse("brand_slug", slug.value(row))?,
            by_crawl: run.is_valid(row),
            gone_at: Timestamp::from_micros(at.value(row)),
        })
    };
    (0..batch.num_rows()).map(gone).collect()
}
