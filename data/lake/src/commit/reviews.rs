//! Commits reviews of review apps row by row. Reviews are read and committed separately from crawls.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, Quarantined, ReviewWidget, StoreHost, Timestamp, WidgetRating, WidgetReview};

use super::attempts::Attempts;
use super::plan::Plan;
use crate::files::bucket;
use crate::rows::build::TableRows;
use crate::rows::quarantine::{PlacedRecord, QuarantineRows, REFUSED_FROM};
use crate::rows::widgets::{Place, WidgetRatingRows, WidgetReviewRows, rating_key, review_key};
use crate::ticks::TickKind;
use crate::{CommitReport, Lake, LakeError, TableName};

/// Maximum number of refused review-app records stored per store. Further records are dropped.
pub const REFUSED_REVIEWS_MAX: usize = 1_000;

/// Changes in the reviews of one store.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewChanges {
    /// Host of the store.
    pub store: StoreHost,
    /// Brand of the store.
    pub slug: BrandSlug,
    /// Time at which the reviews were read.
    pub at: Timestamp,
    /// Reviews that are new or changed.
    pub reviews: Vec<WidgetReview>,
    /// Keys of reviews that are gone, by app and review id.
    pub reviews_gone: Vec<(ReviewWidget, String)>,
    /// Product ratings that are new or changed.
    pub ratings: Vec<WidgetRating>,
    /// Keys of ratings that are gone, by app and product id.
    pub ratings_gone: Vec<(ReviewWidget, u64)>,
    /// Quarantined records that could not be parsed as a review or a rating, at most [`crate::REFUSED_REVIEWS_MAX`].
    pub refused: Vec<Quarantined>,
    /// Subjects of records that are no longer refused.
    pub refused_gone: Vec<String>,
    /// Read times of single reviews that differ from `at`, by app and id.
    pub reviews_at: BTreeMap<(ReviewWidget, String), Timestamp>,
    /// Read times of single ratings that differ from `at`, by app and product.
    pub ratings_at: BTreeMap<(ReviewWidget, u64), Timestamp>,
}

impl ReviewChanges {
    /// Returns an empty set of changes for the store.
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

    /// Drops rows that are already stored unchanged, and removals of rows that are not stored. The last of several rows
    /// with one key counts.
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

    /// Returns the refused records that are not already stored unchanged. Each gets its existing position, or the next
    /// free position.
    fn refused_beside(&mut self, stored: &[PlacedRecord]) -> Vec<PlacedRecord> {
        let held: BTreeMap<&str, &PlacedRecord> = stored.iter().map(|one| (one.1.subject.as_str(), one)).collect();
        let told = std::mem::take(&mut self.refused).into_iter();
        let told: BTreeMap<String, Quarantined> = told.map(|one| (one.subject.clone(), one)).collect();
        let gone: BTreeSet<String> = std::mem::take(&mut self.refused_gone).into_iter().collect();
        let leaves = |subject: &String| held.contains_key(subject.as_str()) && !told.contains_key(subject);
        self.refused_gone = gone.into_iter().filter(leaves).collect();
        let mut next = stored.iter().map(|(place, _)| place + 1).max().unwrap_or(REFUSED_FROM);
        let mut room = (REFUSED_REVIEWS_MAX + self.refused_gone.len()).saturating_sub(stored.len());
        let mut placed = Vec::new();
        for (subject, record) in told {
            match held.get(subject.as_str()) {
                Some((_, stored)) if *stored == record => {}
                Some((place, _)) => placed.push((*place, record)),
                None if room > 0 => {
                    placed.push((next, record));
                    (next, room) = (next + 1, room - 1);
                }
                None => {}
            }
        }
        self.refused = placed.iter().map(|(_, record)| record.clone()).collect();
        placed
    }
}

impl Lake {
    /// Commits changes of reviews and ratings as one commit batch. Rows that are already stored and stores that are not
    /// in the lake are skipped. If nothing is left, nothing is written. New reviews get a file of their own. An
    /// existing file is rewritten only if one of its rows is removed or changes. Crawls keep these rows, which are
    /// removed with their brand.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
    #[boxed]
    pub async fn commit_reviews(&self, told: Vec<ReviewChanges>) -> Result<CommitReport, LakeError> {
        let buckets = self.inner.config.buckets;
        let told = sorted(told, buckets)?;
        let stores: BTreeSet<StoreHost> = told.iter().map(|one| one.store.clone()).collect();
        let mut state = self.state().await;
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            let known = self.stored(&mut state, &stores).await?;
            let snapshot = self.snapshot().await?;
            let (reviews, ratings) = (
                snapshot.widget_reviews(&stores).await?,
                snapshot.widget_ratings(&stores).await?,
            );
            // The quarantine is read only if it changes, so that damage there does not affect the other tables.
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
                let mut changes = one.clone().beside(reviews, ratings);
                let refused = changes.refused_beside(refused);
                PlacedChanges { changes, refused }
            };
            let there = told.iter().filter(|one| known.contains_key(&one.store));
            let changed: Vec<PlacedChanges> = there.map(of).filter(|placed| !placed.changes.is_empty()).collect();
            let plan = plan(&changed, buckets)?;
            if let Some(report) = self.commit_some(&mut state, TickKind::Reviews, &stores, plan).await? {
                return Ok(report);
            }
        }
    }
}

/// Fails if a store occurs twice.
fn sorted(mut told: Vec<ReviewChanges>, buckets: u32) -> Result<Vec<ReviewChanges>, LakeError> {
    told.sort_by_cached_key(|one| (bucket(&one.store, buckets), one.store.clone()));
    match told.windows(2).find(|pair| pair[0].store == pair[1].store) {
        Some(pair) => Err(LakeError::StoreTwice {
            store: pair[0].store.to_string(),
        }),
        None => Ok(told),
    }
}

struct PlacedChanges {
    changes: ReviewChanges,
    refused: Vec<PlacedRecord>,
}

fn plan(changed: &[PlacedChanges], buckets: u32) -> Result<Plan, LakeError> {
    let (mut reviews, mut ratings) = (WidgetReviewRows::default(), WidgetRatingRows::default());
    let mut refused = QuarantineRows::default();
    let mut gone: BTreeMap<String, Vec<(StoreHost, String)>> = BTreeMap::new();
    for PlacedChanges {
        changes: one,
        refused: placed,
    } in changed
    {
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
            // An entry, even an empty one, marks the table as changed by the commit batch.
            gone.entry(TableName::Quarantine.as_str().to_owned()).or_default();
        }
    }
    Ok(Plan {
        stores: changed.iter().map(|placed| placed.changes.store.clone()).collect(),
        rows: vec![
            (TableName::WidgetReviews, vec![reviews.finish()?]),
            (TableName::WidgetRatings, vec![ratings.finish()?]),
            (TableName::Quarantine, vec![refused.finish()?]),
        ],
        gone,
        ..Plan::default()
    })
}
