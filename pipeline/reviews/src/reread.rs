//! Rebuilds reviews from landed answers of review apps without requests, after a change in parsing or a loss of rows.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use async_trait::async_trait;
use data_lake::{LakeError, LakeSnapshot, ReviewChanges};
use data_model::{BrandSlug, Quarantined, ReviewWidget, StoreHost, Timestamp, WidgetRating, WidgetReview};
use data_storage::Storage;
use pipeline_crawl::RegisteredBrand;
use pipeline_task::{DueBrand, RereadCounts, RereadOptions, RereadOutcome, StoreDeps, StoreTask, TaskError, run};
use serde::Serialize;

use crate::landing::{ANSWERS, LandedReading, answers, outline};
use crate::read::refused_of;
use crate::refresh::commit;
use crate::replay::{InLake, Replay, gone, whole};
use crate::state;

/// Result of one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadBrandReviews {
    /// Slug of the brand.
    pub brand: BrandSlug,
    /// Outcome of the brand.
    pub outcome: RereadOutcome,
    /// App whose answers were read.
    pub source: Option<ReviewWidget>,
    /// Time of the last answer that was read.
    pub asked_at: Option<Timestamp>,
    /// Number of new reviews.
    pub added: u64,
    /// Number of reviews whose content changed.
    pub changed: u64,
    /// Number of removed reviews.
    pub gone: u64,
    /// Number of unchanged reviews.
    pub same: u64,
    /// Number of product ratings that are new, changed or removed.
    pub ratings_changed: u64,
    /// Number of refused records that are new, changed or removed.
    pub refused_changed: u64,
}

impl RereadBrandReviews {
    fn of(brand: &BrandSlug) -> Self {
        Self {
            brand: brand.clone(),
            outcome: RereadOutcome::NotInLake,
            source: None,
            asked_at: None,
            added: 0,
            changed: 0,
            gone: 0,
            same: 0,
            ratings_changed: 0,
            refused_changed: 0,
        }
    }
}

/// Totals over all brands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RereadReviewsTotals {
    /// Number of brands by outcome.
    #[serde(flatten)]
    pub counts: RereadCounts,
    /// Number of new reviews.
    pub reviews_added: u64,
    /// Number of reviews whose content changed.
    pub reviews_changed: u64,
    /// Number of removed reviews.
    pub reviews_gone: u64,
}

/// Report of rereading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadReviews {
    /// True if the run wrote nothing.
    pub dry_run: bool,
    /// True if the run was interrupted. The same call continues it.
    pub interrupted: bool,
    /// Time to which `haat lake restore` takes the tables back. `None` if the lake was empty.
    pub undo_as_of: Option<Timestamp>,
    /// Totals over all brands.
    pub totals: RereadReviewsTotals,
    /// Results of the brands, sorted by slug.
    pub brands: Vec<RereadBrandReviews>,
}

/// Rebuilds the lake's rows from landed answers of review apps, in the same way as [`crate::refresh_reviews`]. An error
/// or a cancellation by [`StoreDeps::cancel`] does not undo earlier commits. A second call resumes after them, because
/// their rows are unchanged.
#[boxed]
pub async fn reread_reviews(options: &RereadOptions, deps: &StoreDeps) -> Result<RereadReviews, TaskError> {
    let snapshot = deps.lake.snapshot().await?;
    let undo_as_of = snapshot.decided_at().await?;
    let mut task = ReviewsReread {
        options,
        deps,
        snapshot,
        brands: Vec::new(),
    };
    let extent = run(&mut task, deps, options.only.as_deref()).await?;
    let mut brands = task.brands;
    let read = brands.iter().filter(|one| one.outcome != RereadOutcome::NotInLake);
    let interrupted = (read.count() as u64) < extent.due;
    brands.sort_by(|one, other| one.brand.cmp(&other.brand));
    Ok(RereadReviews {
        dry_run: options.dry_run,
        interrupted,
        undo_as_of,
        totals: totals(&brands),
        brands,
    })
}

struct ReviewsReread<'a> {
    options: &'a RereadOptions,
    deps: &'a StoreDeps,
    /// State of the lake before the run.
    snapshot: LakeSnapshot,
    brands: Vec<RereadBrandReviews>,
}

#[derive(Debug)]
struct Reading {
    one: RereadBrandReviews,
    change: Option<Change>,
}

#[derive(Debug)]
struct Change {
    changed: ReviewChanges,
    /// Time of the newest landed reading.
    newest: Option<Timestamp>,
}

#[async_trait]
impl StoreTask for ReviewsReread<'_> {
    type Answer = Reading;
    const STORES_AT_ONCE: usize = 1;
    // The reviews of a batch are in memory together.
    const BATCH: usize = 16;

    async fn is_due(&self, _: &RegisteredBrand, _: Timestamp) -> Result<bool, TaskError> {
        Ok(true)
    }

    fn leave_out(&mut self, brand: &RegisteredBrand) {
        self.brands.push(RereadBrandReviews::of(&brand.slug));
    }

    async fn ask(&self, due: &DueBrand) -> Result<Option<Reading>, TaskError> {
        if self.deps.cancel.is_cancelled() {
            return Ok(None);
        }
        let read = reread(self.options, &self.deps.storage, &due.brand, &self.snapshot).await?;
        let change = read.change.filter(|_| !self.options.dry_run);
        Ok(Some(Reading { change, ..read }))
    }

    /// Commits the changes of stores without newly landed answers. A refresh lands its answers before it commits them,
    /// and newer data must stay.
    async fn take(&mut self, mut read: Vec<Reading>) -> Result<(), TaskError> {
        let StoreDeps { storage, lake, .. } = self.deps;
        for Reading { one, change } in &mut read {
            let Some(Change { changed, newest }) = change else {
                continue;
            };
            let now = ANSWERS.list(storage, &changed.store).await?;
            if now.last().map(|(at, _)| *at) != *newest {
                *change = None;
                *one = RereadBrandReviews {
                    outcome: RereadOutcome::Older,
                    ..RereadBrandReviews::of(&one.brand)
                };
            }
        }
        let changes = read
            .iter()
            .filter_map(|read| Some(read.change.as_ref()?.changed.clone()));
        let changes: Vec<ReviewChanges> = changes.collect();
        let failed = match changes.is_empty() {
            true => BTreeSet::new(),
            false => commit(lake, changes).await?.failed,
        };
        for Reading { mut one, change } in read {
            if let Some(Change { changed, newest }) = change {
                if failed.contains(&changed.store) {
                    one.outcome = RereadOutcome::Damaged;
                } else if newest.is_some_and(|newest| changed.at < newest) {
                    // The lake now differs from the app's last state, so that the next refresh must read the whole list
                    // again.
                    let mut state = state::load(storage, &changed.store).await?;
                    (state.etag, state.known, state.swept_at) = (None, None, None);
                    state::save(storage, &changed.store, &state).await?;
                }
            }
            self.brands.push(one);
        }
        Ok(())
    }
}

fn totals(brands: &[RereadBrandReviews]) -> RereadReviewsTotals {
    RereadReviewsTotals {
        counts: RereadCounts::of(brands.iter().map(|one| one.outcome)),
        reviews_added: brands.iter().map(|one| one.added).sum(),
        reviews_changed: brands.iter().map(|one| one.changed).sum(),
        reviews_gone: brands.iter().map(|one| one.gone).sum(),
    }
}

/// Reads one brand's landed answers, and returns the changes to the lake's rows, if any.
async fn reread(
    options: &RereadOptions,
    storage: &Storage,
    brand: &RegisteredBrand,
    snapshot: &LakeSnapshot,
) -> Result<Reading, TaskError> {
    let mut one = RereadBrandReviews::of(&brand.slug);
    let unchanged = |one, outcome| {
        let one = RereadBrandReviews { outcome, ..one };
        Ok(Reading { one, change: None })
    };
    let (landed, newest_at) = landed(options, storage, brand).await?;
    let Some(newest) = landed.last() else {
        return unchanged(one, RereadOutcome::NothingLanded);
    };
    let has_newer = newest_at.is_some_and(|at| at > newest.head.asked_at);
    one.asked_at = Some(newest.head.asked_at);
    one.source = newest.head.key.as_ref().map(|key| key.widget);
    let is_in_range = options.from.is_none_or(|from| newest.head.asked_at >= from);
    let readings = whole(&landed).filter(|_| is_in_range && (options.older || !has_newer));
    let Some(readings) = readings else {
        let outcome = match (is_in_range, has_newer && !options.older) {
            (false, _) => RereadOutcome::NothingLanded,
            (true, true) => RereadOutcome::Older,
            (true, false) => RereadOutcome::NotWhole,
        };
        return unchanged(one, outcome);
    };
    let Some((reviews, ratings, refused)) = in_lake(snapshot, &brand.store).await? else {
        return unchanged(one, RereadOutcome::Damaged);
    };
    let held = (reviews.as_slice(), ratings.as_slice(), refused.as_slice());
    let Some(changes) = replayed(storage, brand, readings, held).await? else {
        return unchanged(one, RereadOutcome::Unclear);
    };
    let known: BTreeSet<_> = reviews.iter().map(|review| (review.widget, &review.id)).collect();
    let is_known = |review: &&WidgetReview| known.contains(&(review.widget, &review.id));
    one.changed = changes.reviews.iter().filter(is_known).count() as u64;
    one.added = changes.reviews.len() as u64 - one.changed;
    one.gone = changes.reviews_gone.len() as u64;
    one.same = (reviews.len() as u64).saturating_sub(one.changed + one.gone);
    one.ratings_changed = (changes.ratings.len() + changes.ratings_gone.len()) as u64;
    one.refused_changed = (changes.refused.len() + changes.refused_gone.len()) as u64;
    let is_same = one.added + one.changed + one.gone + one.ratings_changed + one.refused_changed == 0;
    if is_same {
        return unchanged(one, RereadOutcome::Unchanged);
    }
    one.outcome = RereadOutcome::Changed;
    let change = Some(Change {
        changed: changes,
        newest: newest_at,
    });
    Ok(Reading { one, change })
}

/// Returns a store's landed readings before the end of the range, oldest first, and the time of the newest of all.
/// Readings from before the registration belong to a removed brand, and are left out.
async fn landed(
    options: &RereadOptions,
    storage: &Storage,
    brand: &RegisteredBrand,
) -> Result<(Vec<LandedReading>, Option<Timestamp>), TaskError> {
    let mut landed = Vec::new();
    let listed = ANSWERS.list(storage, &brand.store).await?;
    let newest_at = listed.last().map(|(at, _)| *at);
    for (at, path) in listed {
        if at < brand.added_at {
            continue;
        }
        if options.until.is_some_and(|until| at >= until) {
            continue;
        }
        match outline(storage, &brand.store, &path).await? {
            Some(one) => landed.push(one),
            None => {
                tracing::warn!(%path, "landed answers of a review app are damaged; earlier answers are skipped");
                landed.clear();
            }
        }
    }
    Ok((landed, newest_at))
}

type HeldContent = (Vec<WidgetReview>, Vec<WidgetRating>, Vec<Quarantined>);

/// Returns `None` if files with the store's rows are lost.
async fn in_lake(snapshot: &LakeSnapshot, store: &StoreHost) -> Result<Option<HeldContent>, TaskError> {
    let stores = [store.clone()].into();
    let read = async {
        let reviews = snapshot.widget_reviews(&stores).await?.remove(store);
        let ratings = snapshot.widget_ratings(&stores).await?.remove(store);
        Ok::<_, LakeError>((reviews.unwrap_or_default(), ratings.unwrap_or_default()))
    };
    let (reviews, ratings) = match read.await {
        Ok(read) => read,
        Err(error) if error.lost_file().is_some() => {
            tracing::warn!(%store, %error, "the reviews of a store cannot be read: run `haat lake repair`");
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Some((reviews, ratings, refused_of(snapshot, store).await?)))
}

/// Returns the changes that result from these readings, or `None` if one of them cannot be parsed.
async fn replayed(
    storage: &Storage,
    brand: &RegisteredBrand,
    readings: &[LandedReading],
    held: InLake<'_>,
) -> Result<Option<ReviewChanges>, TaskError> {
    let Some(newest) = readings.last() else { return Ok(None) };
    let at = newest.head.asked_at;
    let Some(key) = newest.head.key.clone() else {
        return Ok(Some(gone(brand, at, held)));
    };
    let mut replay = Replay::new(key, held.2);
    for landed in readings {
        replay.begin(landed);
        let mut wrong = None;
        let take = |answer| match replay.take(answer) {
            Ok(()) => true,
            Err(error) => {
                wrong = Some(error);
                false
            }
        };
        if !answers(storage, landed, take).await? {
            let why = wrong.map_or_else(|| "it is damaged".to_owned(), |error| error.to_string());
            tracing::warn!(brand.slug = %brand.slug, path = %landed.path, why, "a landed answer cannot be parsed");
            return Ok(None);
        }
        replay.end(landed);
    }
    Ok(Some(replay.changes(brand, at, held)))
}
