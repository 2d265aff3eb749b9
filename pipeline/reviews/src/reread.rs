//! Reads what review apps answered before again, without asking them: after a change of how answers are understood, or when
//! rows are lost.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_lake::{Lake, LakeError, LakeSnapshot, ReviewChanges};
use data_model::{BrandSlug, Quarantined, ReviewWidget, StoreHost, Timestamp, WidgetRating, WidgetReview};
use data_storage::{Storage, StorageError};
use pipeline_crawl::{RegisteredBrand, Registry, RegistryError};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::deps::RefreshReviewsError;
use crate::landing::{ANSWERS, LandedReading, answers, outline};
use crate::read::refused_of;
use crate::refresh::commit;
use crate::replay::{InLake, Replay, gone, whole};
use crate::state;

/// Stores committed at once: their reviews are in memory together.
const BATCH: usize = 16;

/// The answers that are to be read again.
#[derive(Debug, Clone, Default)]
pub struct RereadReviewsOptions {
    /// These brands; all when `None`.
    pub only: Option<Vec<BrandSlug>>,
    /// Brands whose newest landed reading before `until` is from this moment on.
    pub from: Option<Timestamp>,
    /// Readings before this moment.
    pub until: Option<Timestamp>,
    /// Takes readings too after which there are newer ones.
    pub older: bool,
    /// Reads and compares, and writes nothing.
    pub dry_run: bool,
}

/// The outcome of one brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RereadReviewsOutcome {
    /// Its rows are others now.
    Changed,
    /// They are as they were.
    Unchanged,
    /// No answer of an app about it was landed in the range.
    NothingLanded,
    /// No reading of its whole list is landed: those that are have a part of it, and its rows stay.
    NotWhole,
    /// There are newer readings than those of the range.
    Older,
    /// A landed answer cannot be understood: its rows stay.
    Unclear,
    /// Files with its rows are missing or damaged.
    Damaged,
    /// No crawl brought it yet.
    NotInLake,
}

/// One brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadBrandReviews {
    /// The brand.
    pub brand: BrandSlug,
    /// Its outcome.
    pub outcome: RereadReviewsOutcome,
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
            outcome: RereadReviewsOutcome::NotInLake,
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
    /// Brands that were to be read.
    pub brands: u64,
    /// Of these, whose rows changed.
    pub changed: u64,
    /// Those whose rows are as they were.
    pub unchanged: u64,
    /// The rows that were left as they are.
    pub left: u64,
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

/// The reason why nothing more could be read again.
#[derive(Debug, thiserror::Error)]
pub enum RereadReviewsError {
    /// The registry cannot be read.
    #[error("the registry cannot be read")]
    Registry(#[from] RegistryError),
    /// The lake cannot be read or written.
    #[error("the lake cannot be read or written")]
    Lake(#[from] LakeError),
    /// The landed answers cannot be read.
    #[error("the landed answers cannot be read")]
    Storage(#[from] StorageError),
    /// A brand is not registered.
    #[error("no brand is registered as {0}")]
    Brand(BrandSlug),
    /// The quarantine cannot be read.
    #[error(transparent)]
    Quarantine(#[from] RefreshReviewsError),
}

/// Makes of what review apps answered the rows that the lake has, as [`crate::refresh_reviews`] made them. What was
/// done before an error or the end by `cancel` stays, and a second call goes on: it finds that unchanged.
///
/// # Errors
/// [`RereadReviewsError`].
#[boxed]
pub async fn reread_reviews(
    options: &RereadReviewsOptions,
    (storage, lake): (&Storage, &Lake),
    cancel: &CancellationToken,
) -> Result<RereadReviews, RereadReviewsError> {
    let registry = Registry::load(storage).await?;
    for slug in options.only.iter().flatten() {
        if registry.brand(slug).is_none() {
            return Err(RereadReviewsError::Brand(slug.clone()));
        }
    }
    let snapshot = lake.snapshot().await?;
    let rows = snapshot.brands().await?;
    let crawled: BTreeSet<StoreHost> = rows.into_iter().map(|row| row.brand.store).collect();
    let wanted = |brand: &&RegisteredBrand| options.only.as_ref().is_none_or(|only| only.contains(&brand.slug));
    let brands: Vec<RegisteredBrand> = registry.brands().into_iter().filter(wanted).cloned().collect();
    let mut report = RereadReviews {
        dry_run: options.dry_run,
        interrupted: false,
        undo_as_of: snapshot.decided_at().await?,
        totals: RereadReviewsTotals::default(),
        brands: Vec::new(),
    };
    for batch in brands.chunks(BATCH) {
        let (mut told, mut changes) = (Vec::new(), Vec::new());
        for brand in batch {
            if cancel.is_cancelled() {
                report.interrupted = true;
                break;
            }
            let is_crawled = crawled.contains(&brand.store);
            // Boxed: a large future.
            let (one, changed) = Box::pin(reread(options, storage, (brand, is_crawled), &snapshot)).await?;
            changes.extend(changed.map(|(changed, newest)| Change {
                at: told.len(),
                changed,
                newest,
            }));
            told.push(one);
        }
        if !options.dry_run {
            // Boxed: a large future.
            Box::pin(write(changes, &mut told, (storage, lake))).await?;
        }
        report.brands.append(&mut told);
    }
    report.brands.sort_by(|one, other| one.brand.cmp(&other.brand));
    report.totals = totals(&report.brands);
    Ok(report)
}

/// A brand's rows that are to come.
#[derive(Debug)]
struct Change {
    /// The index of the brand among those that are listed.
    at: usize,
    changed: ReviewChanges,
    /// The moment at which the newest of all was landed.
    newest: Option<Timestamp>,
}

/// Commits changes of stores of which nothing was landed meanwhile: a refresh lands what it was answered before it commits
/// that, and what is newer stays.
async fn write(
    mut changes: Vec<Change>,
    told: &mut [RereadBrandReviews],
    (storage, lake): (&Storage, &Lake),
) -> Result<(), RereadReviewsError> {
    let mut overtaken = BTreeSet::new();
    for change in &changes {
        let now = ANSWERS.list(storage, &change.changed.store).await?;
        if now.last().map(|(at, _)| *at) != change.newest {
            overtaken.insert(change.changed.store.clone());
        }
    }
    for change in &changes {
        if let Some(one) = told
            .get_mut(change.at)
            .filter(|_| overtaken.contains(&change.changed.store))
        {
            *one = RereadBrandReviews {
                outcome: RereadReviewsOutcome::Older,
                ..RereadBrandReviews::of(&one.brand)
            };
        }
    }
    changes.retain(|change| !overtaken.contains(&change.changed.store));
    if changes.is_empty() {
        return Ok(());
    }
    let all = changes.iter().map(|change| change.changed.clone()).collect();
    let done = commit(lake, all).await?;
    for Change { at, changed, newest } in &changes {
        if done.failed.contains(&changed.store) {
            if let Some(one) = told.get_mut(*at) {
                one.outcome = RereadReviewsOutcome::Damaged;
            }
        } else if newest.is_some_and(|newest| changed.at < newest) {
            // The app has not changed since it was asked last, and the lake has: all of it is read again.
            let mut state = state::load(storage, &changed.store).await?;
            (state.etag, state.known, state.swept_at) = (None, None, None);
            state::save(storage, &changed.store, &state).await?;
        }
    }
    Ok(())
}

fn totals(brands: &[RereadBrandReviews]) -> RereadReviewsTotals {
    let count = |outcome| brands.iter().filter(|one| one.outcome == outcome).count() as u64;
    let (changed, unchanged) = (
        count(RereadReviewsOutcome::Changed),
        count(RereadReviewsOutcome::Unchanged),
    );
    RereadReviewsTotals {
        brands: brands.len() as u64,
        changed,
        unchanged,
        left: brands.len() as u64 - changed - unchanged,
        reviews_added: brands.iter().map(|one| one.added).sum(),
        reviews_changed: brands.iter().map(|one| one.changed).sum(),
        reviews_gone: brands.iter().map(|one| one.gone).sum(),
    }
}

/// Reads one brand's landed answers, and what the lake is to have of it where that is something else.
async fn reread(
    options: &RereadReviewsOptions,
    storage: &Storage,
    (brand, is_crawled): (&RegisteredBrand, bool),
    snapshot: &LakeSnapshot,
) -> Result<(RereadBrandReviews, Option<(ReviewChanges, Option<Timestamp>)>), RereadReviewsError> {
    let mut one = RereadBrandReviews::of(&brand.slug);
    if !is_crawled {
        return Ok((one, None));
    }
    let (landed, newest_at) = landed(options, storage, brand).await?;
    let Some(newest) = landed.last() else {
        one.outcome = RereadReviewsOutcome::NothingLanded;
        return Ok((one, None));
    };
    let has_newer = newest_at.is_some_and(|at| at > newest.head.asked_at);
    one.asked_at = Some(newest.head.asked_at);
    one.source = newest.head.key.as_ref().map(|key| key.widget);
    let is_in_range = options.from.is_none_or(|from| newest.head.asked_at >= from);
    let readings = whole(&landed).filter(|_| is_in_range && (options.older || !has_newer));
    let Some(readings) = readings else {
        one.outcome = match (is_in_range, has_newer && !options.older) {
            (false, _) => RereadReviewsOutcome::NothingLanded,
            (true, true) => RereadReviewsOutcome::Older,
            (true, false) => RereadReviewsOutcome::NotWhole,
        };
        return Ok((one, None));
    };
    let Some((reviews, ratings, refused)) = in_lake(snapshot, &brand.store).await? else {
        one.outcome = RereadReviewsOutcome::Damaged;
        return Ok((one, None));
    };
    let held = (reviews.as_slice(), ratings.as_slice(), refused.as_slice());
    let Some(changes) = replayed(storage, brand, readings, held).await? else {
        one.outcome = RereadReviewsOutcome::Unclear;
        return Ok((one, None));
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
        one.outcome = RereadReviewsOutcome::Unchanged;
        return Ok((one, None));
    }
    one.outcome = RereadReviewsOutcome::Changed;
    Ok((one, Some((changes, newest_at))))
}

/// The landings of a store before the end of the range, the oldest first, and the moment of the newest of all. A landing of
/// before the brand was registered is that of a brand that was removed.
async fn landed(
    options: &RereadReviewsOptions,
    storage: &Storage,
    brand: &RegisteredBrand,
) -> Result<(Vec<LandedReading>, Option<Timestamp>), RereadReviewsError> {
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
        match outline(storage, (&brand.store, &path)).await? {
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
async fn in_lake(snapshot: &LakeSnapshot, store: &StoreHost) -> Result<Option<HeldContent>, RereadReviewsError> {
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
) -> Result<Option<ReviewChanges>, RereadReviewsError> {
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
