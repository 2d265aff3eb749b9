//! Reads the titles and prices of a brand that its next crawl is compared with.

use std::collections::{BTreeSet, HashMap};

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::StoreHost;

use crate::delta::scan;
use crate::files::Scan;
use crate::rows::columns::Columns;
use crate::rows::id_from_column;
use crate::{LakeError, LakeSnapshot, TableName};

/// Titles and prices of one brand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offering {
    /// Title of each product, by Shopify id.
    pub titles: HashMap<u64, String>,
    /// Price of each variant in minor units, by the Shopify ids of its product and of the variant.
    pub prices: HashMap<(u64, u64), i64>,
}

impl LakeSnapshot {
    /// Returns the titles and prices of this store's brand, which are empty if the lake does not have it. Fetches the
    /// files of the store's bucket, and decodes only the needed columns and rows.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn offering(&self, store: &StoreHost) -> Result<Offering, LakeError> {
        let mut offering = Offering::default();
        for batch in self.columns_of(TableName::Products, store, TITLES).await? {
            let columns = Columns::new(TableName::Products, &batch);
            let (id, title) = (columns.int("platform_product_id")?, columns.text("title")?);
            let titled = |row| (id_from_column(id.value(row)), title.value(row).to_owned());
            offering.titles.extend((0..batch.num_rows()).map(titled));
        }
        for batch in self.columns_of(TableName::Variants, store, PRICES).await? {
            let columns = Columns::new(TableName::Variants, &batch);
            let (product, variant) = (columns.int("platform_product_id")?, columns.int("variant_id")?);
            let price = columns.int("price_minor")?;
            let priced = |row| {
                let key = (id_from_column(product.value(row)), id_from_column(variant.value(row)));
                (key, price.value(row))
            };
            offering.prices.extend((0..batch.num_rows()).map(priced));
        }
        Ok(offering)
    }

    async fn columns_of(
        &self,
        table: TableName,
        store: &StoreHost,
        columns: &'static [&'static str],
    ) -> Result<Vec<RecordBatch>, LakeError> {
        let stores = BTreeSet::from([store.clone()]);
        let storage = self.lake.inner.storage.child(table.as_str());
        let files: Vec<_> = self
            .files(table, Some(&stores))
            .await?
            .into_values()
            .flatten()
            .collect();
        scan(&storage, table, &files, Scan::of(&stores).columns(columns), |batch| {
            Ok(vec![batch.clone()])
        })
        .await
    }
}

const TITLES: &[&str] = &["platform_product_id", "title"];
const PRICES: &[&str] = &["platform_product_id", "variant_id", "price_minor"];
