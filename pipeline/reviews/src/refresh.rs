use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use async_trait::async_trait;
use data_lake::{Lake, LakeError, ReviewChanges};
use data_model::{BrandSlug, ReviewWidget, StoreHost, Timestamp};
use data_storage::StorageError;
use pipeline_crawl::RegisteredBrand;
use pipeline_task::{DueBrand, StoreDeps, StoreTask, TaskError, TaskRun, is_older, run};
use pipeline_widgets::RejectedRecord;
use serde::Serialize;

use crate::config::{ReviewsOptions, Widgets};
use crate::landing;
use crate::read::{ReadContext, StoreReading, read_store};
use crate::state;

const REFUSED_MAX: usize = 200;
const DAY_MS: i64 = 24 * 3_600_000;

/// Report of a refresh.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReviewsReport {
    /// Extent of the run.
    #[serde(flatten)]
    pub run: TaskRun,
    /// Number of changed brands.
    pub changed: u64,
    /// Number of commits to the lake.
    pub commits: u64,
    /// Number of requests sent to stores and apps.
    pub requests: u64,
    /// Number of new reviews.
    pub added: u64,
    /// Number of reviews whose content changed.
    pub edited: u64,
    /// Number of removed reviews.
    pub removed: u64,
    /// Results of the brands that were read, sorted by slug.
    pub asked: Vec<BrandReviews>,
}

/// Result of one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrandReviews {
    /// Slug of the brand.
    pub brand: BrandSlug,
    /// Review app that the brand's store uses.
    pub source: Option<ReviewWidget>,
    /// Outcome: `none` if the store uses no known app, `unchanged`, `read`, `partial` if the next run continues, `gone`
    /// if the store no longer uses an app, `skipped` if another process is reading the store, or `failed`.
    pub outcome: &'static str,
    /// Number of stored reviews after the run.
    pub reviews: u64,
    /// Number of new reviews.
    pub added: u64,
    /// Number of reviews whose content changed.
    pub edited: u64,
    /// Number of removed reviews.
    pub removed: u64,
    /// Number of products whose rating was read.
    pub rated: u64,
    /// Number of requests sent.
    pub requests: u64,
    /// Records that could not be parsed.
    pub refused: Vec<RejectedRecord>,
    /// Reason why the reading failed, was skipped or is incomplete.
    pub error: Option<String>,
}

/// Reads the reviews of brands that are due, and commits the changes. Brands that were never crawled are left out.
/// Requests to apps do not need the right to a store.
///
/// # Errors
/// [`TaskError`]. The failure of a store or app is not an error, and its stored data stays.
#[boxed]
pub async fn refresh_reviews(
    options: &ReviewsOptions,
    deps: &StoreDeps,
    widgets: &Widgets,
) -> Result<ReviewsReport, TaskError> {
    let snapshot = deps.lake.snapshot().await?;
    let context = ReadContext {
        options,
        deps,
        widgets,
        snapshot,
    };
    let report = ReviewsReport::default();
    let mut task = ReviewsRefresh { context, report };
    let extent = run(&mut task, deps, options.only.as_deref()).await?;
    let mut report = task.report;
    report.run = TaskRun {
        dry_run: options.dry_run,
        ..extent
    };
    report.asked.sort_by(|one, other| one.brand.cmp(&other.brand));
    Ok(report)
}

struct BrandReading {
    brand: RegisteredBrand,
    reading: StoreReading,
}

struct ReviewsRefresh<'a> {
    context: ReadContext<'a>,
    report: ReviewsReport,
}

#[async_trait]
impl StoreTask for ReviewsRefresh<'_> {
    type Answer = BrandReading;
    // The requests to each app are rate-limited, however many stores are read concurrently.
    const STORES_AT_ONCE: usize = 8;
    const BATCH: usize = 32;

    async fn is_due(&self, brand: &RegisteredBrand, now: Timestamp) -> Result<bool, TaskError> {
        let state = state::load(&self.context.deps.storage, &brand.store).await?;
        Ok(is_older(state.asked_at, now, self.context.widgets.config.after_s))
    }

    async fn begin(&mut self, _: &[DueBrand]) -> Result<(), TaskError> {
        self.context.snapshot = self.context.deps.lake.snapshot().await?;
        Ok(())
    }

    async fn ask(&self, due: &DueBrand) -> Result<Option<Self::Answer>, TaskError> {
        let ReadContext { options, deps, .. } = self.context;
        if deps.cancel.is_cancelled() {
            return Ok(None);
        }
        let brand = due.brand.clone();
        let mut read = read_store(&brand, &self.context).await?;
        // Answers are landed before the commit, because the lake's rows can be rebuilt from them. Each store's answers
        // are landed immediately, so that they do not wait in memory for other stores.
        if let Some(packed) = read.landed.take().filter(|_| !options.dry_run) {
            landing::land(&deps.storage, &brand.store, read.changes.at, packed).await?;
            read.is_landed = true;
        }
        Ok(Some(BrandReading { brand, reading: read }))
    }

    /// Commits the results to the lake, then saves how far each store was read.
    async fn take(&mut self, read: Vec<Self::Answer>) -> Result<(), TaskError> {
        let ReadContext { options, deps, .. } = self.context;
        let report = &mut self.report;
        let failed = if options.dry_run {
            BTreeSet::new()
        } else {
            let all = read.iter().map(|one| one.reading.changes.clone()).collect();
            let done = commit(&deps.lake, all).await?;
            (report.changed, report.commits) = (report.changed + done.changed, report.commits + done.commits);
            done.failed
        };
        for BrandReading { brand, reading: read } in read {
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
                    true => {
                        Some("rows of the store in the lake are missing or damaged: run `haat lake repair`".to_owned())
                    }
                    false => read.error,
                },
            });
        }
        Ok(())
    }
}

/// Deletes landed answers after the retention period, except those needed to rebuild the whole list.
async fn prune(
    store: &StoreHost,
    read: &StoreReading,
    options: &ReviewsOptions,
    deps: &StoreDeps,
) -> Result<(), StorageError> {
    let (state, now) = (&read.state, read.changes.at);
    let walk_since = state.walk.as_ref().and_then(|walk| walk.began_at);
    let kept_since = now.plus_millis(-i64::from(options.keep_days) * DAY_MS);
    let needed_since = state.whole_since.or(walk_since).unwrap_or(now);
    landing::ANSWERS
        .prune(&deps.storage, store, kept_since.min(needed_since))
        .await
}

#[derive(Debug, Default)]
pub(crate) struct CommitOutcome {
    pub(crate) changed: u64,
    pub(crate) commits: u64,
    /// Stores whose rows could not be written because one of their files is lost.
    pub(crate) failed: BTreeSet<StoreHost>,
}

pub(crate) async fn commit(lake: &Lake, all: Vec<ReviewChanges>) -> Result<CommitOutcome, LakeError> {
    let mut committed = CommitOutcome::default();
    let mut tell = |done: data_lake::CommitReport| {
        committed.changed += done.changed.len() as u64;
        committed.commits += done.ticks.len() as u64;
    };
    match lake.commit_reviews(all.clone()).await {
        Ok(done) => tell(done),
        Err(error) if error.lost_file().is_none() => return Err(error),
        // One lost file must not block the other stores.
        Err(_) => {
            let mut failed = BTreeSet::new();
            for one in all {
                let store = one.store.clone();
                match commit_one(lake, one).await {
                    Ok(done) => tell(done),
                    Err(error) if error.lost_file().is_some() => {
                        tracing::warn!(%store, %error, "the reviews of a store cannot be written");
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

/// If a file of another table is lost, the reviews are committed without the quarantine changes.
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
