//! Rebuilds a store's reviews and ratings from the landed answers of its app, in their original order.

use std::collections::{BTreeMap, BTreeSet};

use data_lake::ReviewChanges;
use data_model::{Quarantined, ReviewWidget, Timestamp, WidgetRating, WidgetReview};
use pipeline_crawl::RegisteredBrand;
use pipeline_widgets::{AnswerError, RejectedRecord, Summary, WidgetKey};

use crate::landing::{Answer, AppQuestion, LandedReading};
use crate::state::Walk;
use crate::walk::{ReadingFinds, rating_subject};

#[derive(Debug)]
pub(crate) struct Replay {
    key: WidgetKey,
    found: ReadingFinds,
    walk: Walk,
    ratings: BTreeMap<u64, WidgetRating>,
    unrated: BTreeSet<u64>,
    reviews_at: BTreeMap<(ReviewWidget, String), Timestamp>,
    ratings_at: BTreeMap<(ReviewWidget, u64), Timestamp>,
}

pub(crate) type InLake<'a> = (&'a [WidgetReview], &'a [WidgetRating], &'a [Quarantined]);

/// Returns the landed readings that together contain the whole review list, from the last complete reading of the
/// newest reading's app to the newest reading. Returns `None` if there is no such sequence without a gap.
pub(crate) fn whole(landed: &[LandedReading]) -> Option<&[LandedReading]> {
    let newest = landed.last()?;
    if newest.head.key.is_none() {
        return Some(std::slice::from_ref(newest));
    }
    let others = landed.iter().rposition(|one| one.head.key != newest.head.key);
    let of_app = &landed[others.map_or(0, |at| at + 1)..];
    let ended = of_app.iter().rposition(|one| one.end.is_whole && one.end.sweeps)?;
    let begun = of_app[..=ended].iter().rposition(|one| one.head.begins)?;
    let whole = &of_app[begun..];
    whole.iter().all(|one| !one.end.is_cut).then_some(whole)
}

impl Replay {
    pub(crate) fn new(key: WidgetKey, refused: &[Quarantined]) -> Self {
        let mut found = ReadingFinds::new([], refused);
        found.drop_other_apps(key.widget);
        Self {
            key,
            found,
            walk: Walk::new(false),
            ratings: BTreeMap::new(),
            unrated: BTreeSet::new(),
            reviews_at: BTreeMap::new(),
            ratings_at: BTreeMap::new(),
        }
    }

    pub(crate) fn begin(&mut self, landed: &LandedReading) {
        if landed.head.begins {
            self.walk = Walk::new(false);
        }
    }

    pub(crate) fn take(&mut self, answer: Answer) -> Result<(), AnswerError> {
        let Answer { asked, listed, body } = answer;
        match asked {
            AppQuestion::Page(at) => {
                let page = self.key.read_feed(body.as_bytes(), &at)?;
                self.walk.next = at;
                // Only the refresh keeps the set of reviews that are set aside.
                let mut aside = BTreeSet::new();
                self.found
                    .take(self.key.widget, page, &listed, &mut self.walk, &mut aside);
            }
            AppQuestion::Product(product) => self.rate(product, &body),
        }
        Ok(())
    }

    fn rate(&mut self, product: u64, body: &str) {
        let widget = self.key.widget;
        let told = match body {
            "" => Ok(Summary::default()),
            body => self.key.read_product(body.as_bytes()),
        };
        match told.map(|told| (told.average, told.count)) {
            Ok((average, count)) => {
                self.found.understand(|| rating_subject(widget, product));
                self.unrated.remove(&product);
                let rating = average.map(|average| WidgetRating {
                    widget,
                    product,
                    average,
                    count,
                });
                let before = self.ratings.remove(&product);
                if before != rating {
                    self.ratings_at.remove(&(widget, product));
                }
                match rating {
                    Some(rating) => {
                        self.ratings.insert(product, rating);
                    }
                    None => {
                        self.unrated.insert(product);
                    }
                }
            }
            Err(error) => {
                let refused = RejectedRecord {
                    subject: String::new(),
                    reason: error.to_string(),
                    excerpt: String::new(),
                };
                self.found
                    .refuse(rating_subject(widget, product), refused.with_excerpt(body));
            }
        }
    }

    pub(crate) fn end(&mut self, landed: &LandedReading) {
        if landed.end.is_whole {
            self.found.drop_unseen(self.key.widget, &self.walk);
        }
        if landed.end.is_doubted {
            self.found.restore();
        }
        self.found.gone.clear();
        let (widget, at) = (self.key.widget, landed.head.asked_at);
        for id in std::mem::take(&mut self.found.put) {
            self.reviews_at.insert((widget, id), at);
        }
        for product in self.ratings.keys() {
            self.ratings_at.entry((widget, *product)).or_insert(at);
        }
    }

    pub(crate) fn changes(
        mut self,
        brand: &RegisteredBrand,
        at: Timestamp,
        (reviews, ratings, refused): InLake<'_>,
    ) -> ReviewChanges {
        let widget = self.key.widget;
        let mut changes = ReviewChanges::none(brand.store.clone(), brand.slug.clone(), at);
        (changes.refused, changes.refused_gone) = self.found.quarantine(&brand.store);
        changes.refused.retain(|one| !refused.contains(one));
        changes.reviews_gone = reviews
            .iter()
            .filter(|one| one.widget != widget || !self.found.held.contains_key(&one.id))
            .map(|one| (one.widget, one.id.clone()))
            .collect();
        // Products without an answer keep their known ratings.
        changes.ratings_gone = ratings
            .iter()
            .filter(|one| one.widget != widget || self.unrated.contains(&one.product))
            .map(|one| (one.widget, one.product))
            .collect();
        let held: BTreeMap<&str, &WidgetReview> = reviews
            .iter()
            .filter(|one| one.widget == widget)
            .map(|one| (one.id.as_str(), one))
            .collect();
        let told = self.found.held.into_values();
        changes.reviews = told.filter(|one| held.get(one.id.as_str()) != Some(&one)).collect();
        let of_app = ratings.iter().filter(|one| one.widget == widget);
        let rated: BTreeMap<u64, &WidgetRating> = of_app.map(|one| (one.product, one)).collect();
        let told = self.ratings.into_values();
        changes.ratings = told.filter(|one| rated.get(&one.product) != Some(&one)).collect();
        (changes.reviews_at, changes.ratings_at) = (self.reviews_at, self.ratings_at);
        changes
    }
}

/// The store no longer uses an app.
pub(crate) fn gone(brand: &RegisteredBrand, at: Timestamp, (reviews, ratings, refused): InLake<'_>) -> ReviewChanges {
    let mut changes = ReviewChanges::none(brand.store.clone(), brand.slug.clone(), at);
    changes.reviews_gone = reviews.iter().map(|one| (one.widget, one.id.clone())).collect();
    changes.ratings_gone = ratings.iter().map(|one| (one.widget, one.product)).collect();
    changes.refused_gone = refused.iter().map(|one| one.subject.clone()).collect();
    changes
}
