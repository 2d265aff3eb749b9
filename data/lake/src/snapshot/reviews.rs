//! Reads reviews and ratings from review apps and product pages, and the refused records of review apps.

use std::collections::{BTreeMap, BTreeSet};

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::{ProductKey, Quarantined, Rating, StoreHost, WidgetRating, WidgetReview};

use super::grouped;
use crate::rows::columns::Columns;
use crate::rows::delivery::store_records;
use crate::rows::id_from_column;
use crate::rows::quarantine::{PlacedRecord, refused};
use crate::rows::record::ReadRecord;
use crate::{LakeError, LakeSnapshot, TableName};

/// Rating and reviews shown on a product's page.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShownRatings {
    /// Rating, if the page shows one.
    pub rating: Option<Rating>,
    /// Number of stored reviews.
    pub reviews: u64,
}

impl LakeSnapshot {
    /// Returns the reviews published by these stores' review apps, by store and product, newest first.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn widget_reviews(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, Vec<WidgetReview>>, LakeError> {
        let rows = self.rows(TableName::WidgetReviews, Some(stores), store_records);
        let mut known: BTreeMap<StoreHost, Vec<WidgetReview>> = grouped(rows.await?);
        for reviews in known.values_mut() {
            reviews.sort_by(|one, other| {
                let newest = other.review.created_at.cmp(&one.review.created_at);
                one.product
                    .cmp(&other.product)
                    .then(newest)
                    .then_with(|| other.id.cmp(&one.id))
            });
        }
        Ok(known)
    }

    /// Returns the rating summaries published by these stores' review apps, by store and product.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn widget_ratings(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, Vec<WidgetRating>>, LakeError> {
        let rows = self.rows(TableName::WidgetRatings, Some(stores), store_records);
        let mut known: BTreeMap<StoreHost, Vec<WidgetRating>> = grouped(rows.await?);
        known
            .values_mut()
            .for_each(|ratings| ratings.sort_by_key(|one| (one.product, one.widget)));
        Ok(known)
    }

    /// Returns the handle of each product that a store lists, by Shopify id.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn handles(&self, store: &StoreHost) -> Result<BTreeMap<u64, String>, LakeError> {
        let stores = BTreeSet::from([store.clone()]);
        let listed = self.rows(TableName::Products, Some(&stores), handles).await?;
        Ok(listed.into_iter().collect())
    }

    /// Returns the ratings and reviews that the product pages of these stores show, by store and Shopify product id.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn shown_reviews(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, BTreeMap<u64, ShownRatings>>, LakeError> {
        let mut shown: BTreeMap<StoreHost, BTreeMap<u64, ShownRatings>> = BTreeMap::new();
        let mut of = |key: ProductKey, change: &dyn Fn(&mut ShownRatings)| {
            change(shown.entry(key.store).or_default().entry(key.platform_id).or_default());
        };
        for (key, rating) in self.rows(TableName::Products, Some(stores), rated).await? {
            of(key, &|shown| shown.rating = rating);
        }
        for key in self.rows(TableName::Reviews, Some(stores), reviewed).await? {
            of(key, &|shown| shown.reviews += 1);
        }
        Ok(shown)
    }

    /// Returns the records of these stores' review apps that could not be parsed as a review or a rating, by store and
    /// subject.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn refused_reviews(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, Vec<Quarantined>>, LakeError> {
        let placed = self.placed_refused(stores).await?.into_iter();
        let records = placed.map(|(store, placed)| {
            let mut records: Vec<_> = placed.into_iter().map(|(_, record)| record).collect();
            records.sort_by(|one, other| one.subject.cmp(&other.subject));
            (store, records)
        });
        Ok(records.collect())
    }

    pub(crate) async fn placed_refused(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, Vec<PlacedRecord>>, LakeError> {
        let placed = self
            .rows(TableName::Quarantine, Some(stores), refused)
            .await?
            .into_iter();
        Ok(grouped(placed.map(|placed| (placed.1.store.clone(), placed))))
    }
}

fn handles(batch: &RecordBatch) -> Result<Vec<(u64, String)>, LakeError> {
    let columns = Columns::new(TableName::Products, batch);
    let (id, handle) = (columns.int("platform_product_id")?, columns.text("handle")?);
    let one = |row| (id_from_column(id.value(row)), handle.value(row).to_owned());
    Ok((0..batch.num_rows()).map(one).collect())
}

fn rated(batch: &RecordBatch) -> Result<Vec<(ProductKey, Option<Rating>)>, LakeError> {
    let keys = ProductKey::read_all(TableName::Products, batch)?.into_iter();
    Ok(keys.zip(Option::read_all(TableName::Products, batch)?).collect())
}

fn reviewed(batch: &RecordBatch) -> Result<Vec<ProductKey>, LakeError> {
    ProductKey::read_all(TableName::Reviews, batch)
}
