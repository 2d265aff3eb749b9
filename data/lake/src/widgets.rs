//! The reviews of review apps: they are read apart from crawls, and committed apart from them, row by row.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, Quarantined, Rating, ReviewWidget, StoreHost, Timestamp, WidgetRating, WidgetReview};

use crate::plan::{Plan, bucket};
use crate::rejected_reviews::PlacedRecord;
use crate::rows::columns::Columns;
use crate::rows::id_from_column;
use crate::rows::quarantine::QuarantineRows;
use crate::rows::widgets::{self, Place, WidgetRatingRows, WidgetReviewRows, rating_key, review_key};
use crate::tick::TickKind;
use crate::{CommitReport, Lake, LakeError, LakeSnapshot, TableName};

/// The changes in the reviews of one store.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewChanges {
    /// The store.
    pub store: StoreHost,
    /// Its brand.
    pub slug: BrandSlug,
    /// When it was read.
    pub at: Timestamp,
    /// Reviews that are new, or say something else than before.
    pub reviews: Vec<WidgetReview>,
    /// Reviews that are gone.
    pub reviews_gone: Vec<(ReviewWidget, String)>,
    /// Ratings of products that are new, or other than before.
    pub ratings: Vec<WidgetRating>,
    /// Products that nobody rates any more.
    pub ratings_gone: Vec<(ReviewWidget, u64)>,
    /// Records that are no review or rating, by their subjects: for `quarantine`, at most [`crate::REFUSED_REVIEWS_MAX`].
    pub refused: Vec<Quarantined>,
    /// Subjects of records that are refused no more.
    pub refused_gone: Vec<String>,
    /// When single reviews were read, where that was not `at`; by app and id.
    pub reviews_at: BTreeMap<(ReviewWidget, String), Timestamp>,
    /// When single ratings were read, where that was not `at`; by app and product.
    pub ratings_at: BTreeMap<(ReviewWidget, u64), Timestamp>,
}

impl ReviewChanges {
    /// No change of this store.
    #[must_use]
    pub const fn none(store: StoreHost, slug: BrandSlug, at: Timestamp) -> Self {
        Self {
            store,
            slug,
            at,
            reviews: Vec::new(),
            reviews_gone: Vec::new(),
            ratings: Vec::new(),
            ratings_gone: Vec::new(),
            refused: Vec::new(),
            refused_gone: Vec::new(),
            reviews_at: BTreeMap::new(),
            ratings_at: BTreeMap::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.reviews.is_empty()
            && self.reviews_gone.is_empty()
            && self.ratings.is_empty()
            && self.ratings_gone.is_empty()
            && self.refused.is_empty()
            && self.refused_gone.is_empty()
    }

    /// Drops rows that are stored just so, and removals of rows that are not there. Of two rows of one key the last
    /// counts.
    fn beside(mut self, reviews: &[WidgetReview], ratings: &[WidgetRating]) -> Self {
        let mut held: HashMap<String, &WidgetReview> = HashMap::with_capacity(reviews.len());
        held.extend(reviews.iter().map(|one| (review_key(one.widget, &one.id), one)));
        let mut rated: HashMap<String, &WidgetRating> = HashMap::with_capacity(ratings.len());
        rated.extend(ratings.iter().map(|one| (rating_key(one.widget, one.product), one)));
        let told = std::mem::take(&mut self.reviews).into_iter();
        let told: BTreeMap<String, WidgetReview> = told.map(|one| (review_key(one.widget, &one.id), one)).collect();
        self.reviews_gone.retain(|(widget, id)| {
            let key = review_key(*widget, id);
            held.contains_key(&key) && !told.contains_key(&key)
        });
        let is_new = |(key, one): (String, WidgetReview)| (held.get(&key) != Some(&&one)).then_some(one);
        self.reviews = told.into_iter().filter_map(is_new).collect();
        let told = std::mem::take(&mut self.ratings).into_iter();
        let told: BTreeMap<String, WidgetRating> = told.map(|one| (rating_key(one.widget, one.product), one)).collect();
        self.ratings_gone.retain(|(widget, product)| {
            let key = rating_key(*widget, *product);
            rated.contains_key(&key) && !told.contains_key(&key)
        });
        let is_new = |(key, one): (String, WidgetRating)| (rated.get(&key) != Some(&&one)).then_some(one);
        self.ratings = told.into_iter().filter_map(is_new).collect();
        self
    }
}

impl Lake {
    /// Brings changes of reviews and ratings in as one tick. Rows that are stored just so are left out, as is a store
    /// that is not in the lake; when nothing is left, nothing is written. New reviews get a file of their own; a file
    /// is written anew only where a row of it goes or changes. Crawls keep all of it, and it goes with its brand.
    ///
    /// # Errors
    /// As [`Lake::commit`].
    #[boxed]
    pub async fn commit_reviews(&self, told: Vec<ReviewChanges>) -> Result<CommitReport, LakeError> {
        let buckets = self.inner.config.buckets;
        let told = sorted(told, buckets)?;
        let stores: BTreeSet<StoreHost> = told.iter().map(|one| one.store.clone()).collect();
        let mut state = self.state().await;
        for _ in 0..self.inner.config.attempts_max.max(1) {
            self.recover(&mut state).await?;
            let known = self.stored(&mut state, &stores).await?;
            let snapshot = self.snapshot().await?;
            let (reviews, ratings) = (
                snapshot.widget_reviews(&stores).await?,
                snapshot.widget_ratings(&stores).await?,
            );
            // Read only where something is told of it: what is damaged there is no matter of the other tables.
            let tells = |one: &&ReviewChanges| !(one.refused.is_empty() && one.refused_gone.is_empty());
            let telling: BTreeSet<StoreHost> = told.iter().filter(tells).map(|one| one.store.clone()).collect();
            let refused = match telling.is_empty() {
                true => BTreeMap::new(),
                false => snapshot.placed_refused(&telling).await?,
            };
            let of = |one: &ReviewChanges| {
                let reviews = reviews.get(&one.store).map_or(&[][..], Vec::as_slice);
                let ratings = ratings.get(&one.store).map_or(&[][..], Vec::as_slice);
                let refused = refused.get(&one.store).map_or(&[][..], Vec::as_slice);
                let mut one = one.clone().beside(reviews, ratings);
                let placed = one.refused_beside(refused);
                (one, placed)
            };
            let there = told.iter().filter(|one| known.contains_key(&one.store));
            let changed: Vec<(ReviewChanges, Vec<PlacedRecord>)> =
                there.map(of).filter(|(one, _)| !one.is_empty()).collect();
            let mut report = CommitReport::default();
            let is_changed = |store: &StoreHost| changed.iter().any(|(one, _)| one.store == *store);
            report
                .unchanged
                .extend(stores.iter().filter(|store| !is_changed(store)).cloned());
            if changed.is_empty() {
                return Ok(report);
            }
            let (tick, plan) = (state.ended + 1, plan(&changed, buckets)?);
            if let Some((tick, plan)) = self.run_tick(&mut state, tick, TickKind::Reviews, None, plan).await? {
                report.add(tick, plan);
                return Ok(report);
            }
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }
}

/// By bucket and store, each store once.
fn sorted(mut told: Vec<ReviewChanges>, buckets: u32) -> Result<Vec<ReviewChanges>, LakeError> {
    told.sort_by_cached_key(|one| (bucket(&one.store, buckets), one.store.clone()));
    match told.windows(2).find(|pair| pair[0].store == pair[1].store) {
        Some(pair) => Err(LakeError::StoreTwice {
            store: pair[0].store.to_string(),
        }),
        None => Ok(told),
    }
}

fn plan(changed: &[(ReviewChanges, Vec<PlacedRecord>)], buckets: u32) -> Result<Plan, LakeError> {
    let (mut reviews, mut ratings) = (WidgetReviewRows::default(), WidgetRatingRows::default());
    let mut refused = QuarantineRows::default();
    let mut gone: BTreeMap<String, Vec<(StoreHost, String)>> = BTreeMap::new();
    for (one, placed) in changed {
        let place = Place {
            bucket: bucket(&one.store, buckets),
            store: &one.store,
            slug: &one.slug,
            at: one.at,
        };
        let read_at = |at: Option<&Timestamp>| Place {
            at: at.copied().unwrap_or(one.at),
            ..place
        };
        for review in &one.reviews {
            let at = one.reviews_at.get(&(review.widget, review.id.clone()));
            reviews.push(read_at(at), review);
        }
        for rating in &one.ratings {
            let at = one.ratings_at.get(&(rating.widget, rating.product));
            ratings.push(read_at(at), rating);
        }
        for (position, record) in placed {
            refused.push_refused(place, *position, record);
        }
        let mut leave = |table: TableName, key: String| {
            let of_table = gone.entry(table.as_str().to_owned()).or_default();
            of_table.push((one.store.clone(), key));
        };
        for (widget, id) in &one.reviews_gone {
            leave(TableName::WidgetReviews, review_key(*widget, id));
        }
        for (widget, product) in &one.ratings_gone {
            leave(TableName::WidgetRatings, rating_key(*widget, *product));
        }
        for subject in &one.refused_gone {
            leave(TableName::Quarantine, subject.clone());
        }
        if !placed.is_empty() {
            // That there is an entry says that the tick changes the table.
            gone.entry(TableName::Quarantine.as_str().to_owned()).or_default();
        }
    }
    Ok(Plan {
        stores: changed.iter().map(|(one, _)| one.store.clone()).collect(),
        rows: vec![
            (TableName::WidgetReviews, vec![reviews.finish()?]),
            (TableName::WidgetRatings, vec![ratings.finish()?]),
            (TableName::Quarantine, vec![refused.finish()?]),
        ],
        gone,
        ..Plan::default()
    })
}

/// The ratings and reviews that a product's own page shows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShownRatings {
    /// The rating, where there is one.
    pub rating: Option<Rating>,
    /// The number of stored reviews.
    pub reviews: u64,
}

impl LakeSnapshot {
    /// The reviews that the review apps of these stores publish, by store, then product, the newest first.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn widget_reviews(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, Vec<WidgetReview>>, LakeError> {
        let mut known: BTreeMap<StoreHost, Vec<WidgetReview>> = BTreeMap::new();
        let rows = self.rows(TableName::WidgetReviews, Some(stores), widgets::reviews);
        for (store, review) in rows.await? {
            known.entry(store).or_default().push(review);
        }
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

    /// The ratings of each product as the review apps of these stores sum them up, by store, then product.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn widget_ratings(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, Vec<WidgetRating>>, LakeError> {
        let mut known: BTreeMap<StoreHost, Vec<WidgetRating>> = BTreeMap::new();
        let rows = self.rows(TableName::WidgetRatings, Some(stores), widgets::ratings);
        for (store, rating) in rows.await? {
            known.entry(store).or_default().push(rating);
        }
        known
            .values_mut()
            .for_each(|ratings| ratings.sort_by_key(|one| (one.product, one.widget)));
        Ok(known)
    }

    /// The handle of each product that a store lists, by the platform's id.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn handles(&self, store: &StoreHost) -> Result<BTreeMap<u64, String>, LakeError> {
        let stores = BTreeSet::from([store.clone()]);
        let listed = self.rows(TableName::Products, Some(&stores), handles).await?;
        Ok(listed.into_iter().collect())
    }

    /// The ratings and reviews that the product pages of these stores show, by store, then by the platform's id of the
    /// product.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn shown_reviews(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, BTreeMap<u64, ShownRatings>>, LakeError> {
        let rated = self.rows(TableName::Products, Some(stores), ratings).await?;
        let mut shown: BTreeMap<StoreHost, BTreeMap<u64, ShownRatings>> = BTreeMap::new();
        for (store, product, rating) in rated {
            shown.entry(store).or_default().entry(product).or_default().rating = rating;
        }
        for (store, product) in self.rows(TableName::Reviews, Some(stores), reviewed).await? {
            shown.entry(store).or_default().entry(product).or_default().reviews += 1;
        }
        Ok(shown)
    }
}

fn handles(batch: &RecordBatch) -> Result<Vec<(u64, String)>, LakeError> {
    let columns = Columns::new(TableName::Products, batch);
    let (id, handle) = (columns.int("platform_product_id")?, columns.text("handle")?);
    let one = |row| (id_from_column(id.value(row)), handle.value(row).to_owned());
    Ok((0..batch.num_rows()).map(one).collect())
}

fn ratings(batch: &RecordBatch) -> Result<Vec<(StoreHost, u64, Option<Rating>)>, LakeError> {
    use arrow::array::Array;
    let columns = Columns::new(TableName::Products, batch);
    let (store, id) = (columns.text("store")?, columns.int("platform_product_id")?);
    let (average, count) = (columns.float("rating_average")?, columns.int("rating_count")?);
    let one = |row| {
        let is_rated = average.is_valid(row) && count.is_valid(row);
        let rating = is_rated.then(|| Rating {
            average: average.value(row),
            count: u32::try_from(count.value(row)).unwrap_or(u32::MAX),
        });
        Ok((
            columns.parse("store", store.value(row))?,
            id_from_column(id.value(row)),
            rating,
        ))
    };
    (0..batch.num_rows()).map(one).collect()
}

fn reviewed(batch: &RecordBatch) -> Result<Vec<(StoreHost, u64)>, LakeError> {
    let columns = Columns::new(TableName::Reviews, batch);
    let (store, id) = (columns.text("store")?, columns.int("platform_product_id")?);
    let one = |row| Ok((columns.parse("store", store.value(row))?, id_from_column(id.value(row))));
    (0..batch.num_rows()).map(one).collect()
}
