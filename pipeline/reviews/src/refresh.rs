use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use data_lake::{Lake, LakeError, LakeSnapshot, ReviewChanges};
use data_model::{BrandSlug, ReviewWidget, StoreHost};
use data_storage::StorageError;
use futures::{StreamExt, TryStreamExt};
use pipeline_crawl::{RegisteredBrand, Registry};
use pipeline_widgets::RejectedRecord;
use serde::Serialize;

use crate::deps::{RefreshReviewsError, ReviewsDeps, ReviewsOptions, is_older};
use crate::landing;
use crate::read::{StoreReading, read_store};
use crate::state;

/// Stores read at once; each app keeps its own pace, whatever their number.
const STORES_AT_ONCE: usize = 8;
/// Stores committed at once.
const BATCH: usize = 32;
/// Most refused records that a report names.
const REFUSED_MAX: usize = 200;
const DAY_MS: i64 = 24 * 3_600_000;

/// The work of a refresh.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReviewsReport {
    /// The run wrote nothing.
    pub dry_run: bool,
    /// It was cut short.
    pub interrupted: bool,
    /// Brands registered that the lake has.
    pub brands: u64,
    /// Of these, brands that were due.
    pub due: u64,
    /// Brands with a change.
    pub changed: u64,
    /// Commits of the lake.
    pub commits: u64,
    /// Requests sent, to stores and to apps.
    pub requests: u64,
    /// Reviews that are new.
    pub added: u64,
    /// Reviews that say something else than before.
    pub edited: u64,
    /// Reviews that are gone.
    pub removed: u64,
    /// Each brand that was read, by its slug.
    pub asked: Vec<BrandReviews>,
}

/// The outcome of one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrandReviews {
    /// The brand.
    pub brand: BrandSlug,
    /// The review app that its store uses.
    pub source: Option<ReviewWidget>,
    /// `none` where it uses no app that is known, `unchanged`, `read`, `partial` where the next run goes on, `gone` where it
    /// uses none any more, `skipped` where another process asks the store now, `failed`.
    pub outcome: &'static str,
    /// Reviews that are held now.
    pub reviews: u64,
    /// Reviews that are new.
    pub added: u64,
    /// Reviews that say something else than before.
    pub edited: u64,
    /// Reviews that are gone.
    pub removed: u64,
    /// Products whose rating was read.
    pub rated: u64,
    /// Requests sent.
    pub requests: u64,
    /// Records that cannot be understood.
    pub refused: Vec<RejectedRecord>,
    /// The reason why it failed, was skipped, or is not whole.
    pub error: Option<String>,
}

/// Reads the reviews of brands that are due, and commits what changed. Brands that no crawl brought yet are left out.
///
/// # Errors
/// [`RefreshReviewsError`]; a store or an app that fails is no error, and keeps what is known of it.
#[boxed]
pub async fn refresh_reviews(
    options: &ReviewsOptions,
    deps: &ReviewsDeps,
) -> Result<ReviewsReport, RefreshReviewsError> {
    let mut report = ReviewsReport {
        dry_run: options.dry_run,
        ..ReviewsReport::default()
    };
    let due = due(options, deps, &mut report).await?;
    report.due = due.len() as u64;
    for batch in due.chunks(BATCH) {
        if deps.cancel.is_cancelled() {
            report.interrupted = true;
            break;
        }
        let snapshot = deps.lake.snapshot().await?;
        // Boxed: each store is a large future.
        let reads = batch
            .iter()
            .map(|brand| Box::pin(read_one(brand, &snapshot, options, deps)));
        let reads: Vec<_> = reads.collect();
        let read: Vec<(RegisteredBrand, StoreReading)> = futures::stream::iter(reads)
            .buffer_unordered(STORES_AT_ONCE)
            .try_filter_map(async |read| Ok(read))
            .try_collect()
            .await?;
        take(read, options, deps, &mut report).await?;
    }
    report.interrupted |= deps.cancel.is_cancelled();
    report.asked.sort_by(|one, other| one.brand.cmp(&other.brand));
    Ok(report)
}

/// `None` where the refresh was to end before the store was asked.
async fn read_one(
    brand: &RegisteredBrand,
    snapshot: &LakeSnapshot,
    options: &ReviewsOptions,
    deps: &ReviewsDeps,
) -> Result<Option<(RegisteredBrand, StoreReading)>, RefreshReviewsError> {
    if deps.cancel.is_cancelled() {
        return Ok(None);
    }
    let mut read = read_store(brand, snapshot, options, deps).await?;
    // Before the lake: what it has can be made again. At once: answers are not to wait in memory for other stores.
    if let Some(packed) = read.landed.take().filter(|_| !options.dry_run) {
        landing::land(&deps.storage, (&brand.store, read.changes.at), packed).await?;
        read.is_landed = true;
    }
    Ok(Some((brand.clone(), read)))
}

async fn due(
    options: &ReviewsOptions,
    deps: &ReviewsDeps,
    report: &mut ReviewsReport,
) -> Result<Vec<RegisteredBrand>, RefreshReviewsError> {
    let registry = Registry::load(&deps.storage).await?;
    for slug in options.only.iter().flatten() {
        if registry.brand(slug).is_none() {
            return Err(RefreshReviewsError::Brand(slug.clone()));
        }
    }
    let rows = deps.lake.snapshot().await?.brands().await?;
    let crawled: BTreeSet<StoreHost> = rows.into_iter().map(|row| row.brand.store).collect();
    let (now, mut due) = (deps.clock.now(), Vec::new());
    for brand in registry.brands() {
        if !crawled.contains(&brand.store) {
            continue;
        }
        report.brands += 1;
        let is_due = match &options.only {
            Some(only) => only.contains(&brand.slug),
            None => {
                let state = state::load(&deps.storage, &brand.store).await?;
                is_older(state.asked_at, now, deps.widgets.config.after_s)
            }
        };
        if is_due {
            due.push(brand.clone());
        }
    }
    Ok(due)
}

/// Brings what was read into the lake, and then notes how far it was read.
async fn take(
    read: Vec<(RegisteredBrand, StoreReading)>,
    options: &ReviewsOptions,
    deps: &ReviewsDeps,
    report: &mut ReviewsReport,
) -> Result<(), RefreshReviewsError> {
    let failed = if options.dry_run {
        BTreeSet::new()
    } else {
        let all = read.iter().map(|(_, read)| read.changes.clone()).collect();
        let done = commit(&deps.lake, all).await?;
        (report.changed, report.commits) = (report.changed + done.changed, report.commits + done.commits);
        done.failed
    };
    for (brand, read) in read {
        let is_lost = failed.contains(&brand.store);
        if !options.dry_run && !is_lost {
            state::save(&deps.storage, &brand.store, &read.state).await?;
            if read.is_landed {
                prune(&brand.store, &read, options, deps).await?;
            }
        }
        let room = REFUSED_MAX.saturating_sub(report.asked.iter().map(|one| one.refused.len()).sum());
        let removed = read.changes.reviews_gone.len() as u64;
        report.requests += read.requests;
        (report.added, report.edited) = (report.added + read.added, report.edited + read.edited);
        report.removed += removed;
        report.asked.push(BrandReviews {
            brand: brand.slug,
            source: read.state.widget.as_ref().map(|key| key.widget),
            outcome: if is_lost { "failed" } else { read.outcome },
            reviews: read.reviews,
            added: read.added,
            edited: read.edited,
            removed,
            rated: read.changes.ratings.len() as u64,
            requests: read.requests,
            refused: read.refused.into_iter().take(room).collect(),
            error: match is_lost {
                true => Some("rows of it in the lake are missing or damaged: `haat lake repair`".to_owned()),
                false => read.error,
            },
        });
    }
    Ok(())
}

/// Drops what is landed for longer than it is kept, but no landing that a whole list is made of.
async fn prune(
    store: &StoreHost,
    read: &StoreReading,
    options: &ReviewsOptions,
    deps: &ReviewsDeps,
) -> Result<(), StorageError> {
    let (state, now) = (&read.state, read.changes.at);
    let walk_since = state.walk.as_ref().and_then(|walk| walk.began_at);
    let kept_since = now.plus_millis(-i64::from(options.keep_days) * DAY_MS);
    let needed_since = state.whole_since.or(walk_since).unwrap_or(now);
    landing::ANSWERS
        .prune(&deps.storage, store, kept_since.min(needed_since))
        .await
}

/// The outcome of commits.
#[derive(Debug, Default)]
pub(crate) struct CommitOutcome {
    pub(crate) changed: u64,
    pub(crate) commits: u64,
    /// Stores whose rows cannot be written since a file of theirs is lost.
    pub(crate) failed: BTreeSet<StoreHost>,
}

/// Commits what changed.
pub(crate) async fn commit(lake: &Lake, all: Vec<ReviewChanges>) -> Result<CommitOutcome, LakeError> {
    let mut committed = CommitOutcome::default();
    let mut tell = |done: data_lake::CommitReport| {
        committed.changed += done.changed.len() as u64;
        committed.commits += done.ticks.len() as u64;
    };
    match lake.commit_reviews(all.clone()).await {
        Ok(done) => tell(done),
        Err(error) if error.lost_file().is_none() => return Err(error),
        // One lost file is not to keep the others back.
        Err(_) => {
            let mut failed = BTreeSet::new();
            for one in all {
                let store = one.store.clone();
                match commit_one(lake, one).await {
                    Ok(done) => tell(done),
                    Err(error) if error.lost_file().is_some() => {
                        tracing::warn!(%store, %error, "reviews of a store cannot be written");
                        failed.insert(store);
                    }
                    Err(error) => return Err(error),
                }
            }
            committed.failed = failed;
        }
    }
    Ok(committed)
}

/// Commits what changed of one store. Reviews do not wait for a lost file of another table: what is refused is then left as
/// it is there.
async fn commit_one(lake: &Lake, changes: ReviewChanges) -> Result<data_lake::CommitReport, LakeError> {
    match lake.commit_reviews(vec![changes.clone()]).await {
        Err(error) if error.lost_file().is_some() => {
            let without = ReviewChanges {
                refused: Vec::new(),
                refused_gone: Vec::new(),
                ..changes
            };
            lake.commit_reviews(vec![without]).await
        }
        done => done,
    }
}
