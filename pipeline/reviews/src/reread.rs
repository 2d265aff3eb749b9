//! Reads what review apps answered before again, without asking them: after a change of how answers are understood, or when
//! rows are lost.

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

/// One brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadBrandReviews {
    /// The brand.
    pub brand: BrandSlug,
    /// Its outcome.
    pub outcome: RereadOutcome,
    /// The app that answered.
    pub source: Option<ReviewWidget>,
    /// The moment of the last answer of those that were read.
    pub asked_at: Option<Timestamp>,
    /// Reviews that were not there.
    pub added: u64,
    /// Reviews that say something else.
    pub changed: u64,
    /// Reviews that are not there any more.
    pub gone: u64,
    /// Reviews that are as they were.
    pub same: u64,
    /// Ratings of products that are new, others, or not there any more.
    pub ratings_changed: u64,
    /// Records that are refused and were not, or otherwise, and those that are refused no more.
    pub refused_changed: u64,
}

impl RereadBrandReviews {
    /// A brand of which nothing is known yet.
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

/// All brands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RereadReviewsTotals {
    /// Brands.
    #[serde(flatten)]
    pub counts: RereadCounts,
    /// Reviews that were not there.
    pub reviews_added: u64,
    /// Reviews that say something else.
    pub reviews_changed: u64,
    /// Reviews that are not there any more.
    pub reviews_gone: u64,
}

/// The work of reading again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadReviews {
    /// The run wrote nothing.
    pub dry_run: bool,
    /// It was cut short: the same call goes on.
    pub interrupted: bool,
    /// The moment that `haat lake restore` takes the tables back to; `None` where nothing was there.
    pub undo_as_of: Option<Timestamp>,
    /// In numbers.
    pub totals: RereadReviewsTotals,
    /// Each brand, by its slug.
    pub brands: Vec<RereadBrandReviews>,
}

/// Makes of what review apps answered the rows that the lake has, as [`crate::refresh_reviews`] made them. What was
/// done before an error or the end by [`StoreDeps::cancel`] stays, and a second call goes on: it finds that unchanged.
///
/// # Errors
/// [`TaskError`].
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

/// A reading at work.
struct ReviewsReread<'a> {
    options: &'a RereadOptions,
    deps: &'a StoreDeps,
    /// The lake before it.
    snapshot: LakeSnapshot,
    brands: Vec<RereadBrandReviews>,
}

/// A brand that was read, and its rows that are to come.
#[derive(Debug)]
struct Reading {
    one: RereadBrandReviews,
    change: Option<Change>,
}

/// A brand's rows that are to come.
#[derive(Debug)]
struct Change {
    changed: ReviewChanges,
    /// The moment at which the newest of all was landed.
    newest: Option<Timestamp>,
}

#[async_trait]
impl StoreTask for ReviewsReread<'_> {
    type Answer = Reading;
    const STORES_AT_ONCE: usize = 1;
    // Their reviews are in memory together.
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

    /// Commits changes of stores of which nothing was landed meanwhile: a refresh lands what it was answered before it commits
    /// that, and what is newer stays.
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
                    // The app has not changed since it was asked last, and the lake has: all of it is read again.
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

/// Reads one brand's landed answers, and what the lake is to have of it where that is something else.
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

/// The landings of a store before the end of the range, the oldest first, and the moment of the newest of all. A landing of
/// before the brand was registered is that of a brand that was removed.
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
                tracing::warn!(%path, "landed answers of a review app are damaged: earlier ones are passed over");
                landed.clear();
            }
        }
    }
    Ok((landed, newest_at))
}

type HeldContent = (Vec<WidgetReview>, Vec<WidgetRating>, Vec<Quarantined>);

/// `None` where files with the rows of the store are lost.
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
            tracing::warn!(%store, %error, "reviews of a store cannot be read: `haat lake repair`");
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Some((reviews, ratings, refused_of(snapshot, store).await?)))
}

/// The changes by these readings; `None` where one of them cannot be understood.
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
            tracing::warn!(brand.slug = %brand.slug, path = %landed.path, why, "a landed answer cannot be understood");
            return Ok(None);
        }
        replay.end(landed);
    }
    Ok(Some(replay.changes(brand, at, held)))
}
