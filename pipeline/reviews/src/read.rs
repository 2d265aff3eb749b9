//! Reads one store: its review app, and the reviews that the app has and the lake does not.

mod list;
mod rate;

use std::collections::BTreeMap;

use data_lake::{LakeSnapshot, ReviewChanges};
use data_model::{Quarantined, StoreHost, Timestamp, WidgetRating, WidgetReview};
use pipeline_crawl::RegisteredBrand;
use pipeline_task::{StoreDeps, TaskError, is_older};
use pipeline_widgets::{AnswerError, RejectedRecord, WidgetKey, detect};
use storefront::{Accept, FetchOutcome, NotAsked, StoreError, under};

use crate::config::{ReviewsOptions, Widgets};
use crate::landing::LandingBuilder;
use crate::state::{self, StoreState};
use crate::walk::ReadingFinds;
use list::HeldCounts;

const SKIPPED: &str = "skipped";
const PARTIAL: &str = "partial";

#[derive(Debug)]
pub(crate) struct StoreReading {
    pub(crate) changes: ReviewChanges,
    pub(crate) state: StoreState,
    /// Outcome: `none`, `unchanged`, `read`, `partial`, `gone`, `skipped` or `failed`.
    pub(crate) outcome: &'static str,
    pub(crate) requests: u64,
    pub(crate) added: u64,
    pub(crate) edited: u64,
    pub(crate) reviews: u64,
    pub(crate) refused: Vec<RejectedRecord>,
    pub(crate) error: Option<String>,
    /// Answers of the app, ready to be landed.
    pub(crate) landed: Option<Vec<u8>>,
    pub(crate) is_landed: bool,
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Answer(#[from] AnswerError),
    #[error(transparent)]
    NotAsked(#[from] NotAsked),
}

#[derive(Debug)]
pub(crate) struct ReadContext<'a> {
    pub(crate) options: &'a ReviewsOptions,
    pub(crate) deps: &'a StoreDeps,
    pub(crate) widgets: &'a Widgets,
    /// State of the lake before the batch.
    pub(crate) snapshot: LakeSnapshot,
}

struct Reader<'a> {
    brand: &'a RegisteredBrand,
    context: &'a ReadContext<'a>,
    started_at: Timestamp,
    landing: LandingBuilder,
    before: HeldCounts,
    read: StoreReading,
}

/// Reads a store. Failures of the store or the app are part of the result.
///
/// # Errors
/// The storage or the lake cannot be read.
pub(crate) async fn read_store(brand: &RegisteredBrand, context: &ReadContext<'_>) -> Result<StoreReading, TaskError> {
    let ReadContext { deps, snapshot, .. } = context;
    let now = deps.clock.now();
    let read = StoreReading {
        changes: ReviewChanges::none(brand.store.clone(), brand.slug.clone(), now),
        state: state::load(&deps.storage, &brand.store).await?,
        outcome: "none",
        requests: 0,
        added: 0,
        edited: 0,
        reviews: 0,
        refused: Vec::new(),
        error: None,
        landed: None,
        is_landed: false,
    };
    let mut reader = Reader {
        brand,
        context,
        started_at: now,
        landing: LandingBuilder::new(&brand.store, now),
        before: HeldCounts::default(),
        read,
    };
    let Some(key) = reader.app().await? else {
        return Ok(reader.done());
    };
    let stores = [brand.store.clone()].into();
    let mut reviews = snapshot.widget_reviews(&stores).await?;
    let ratings = snapshot.widget_ratings(&stores).await?;
    let reviews = reviews.remove(&brand.store).unwrap_or_default();
    let ratings = ratings.get(&brand.store).map_or(&[][..], Vec::as_slice);
    let (of_app, others): (Vec<_>, Vec<_>) = reviews.into_iter().partition(|one| one.widget == key.widget);
    let refused = refused_of(snapshot, &brand.store).await?;
    let held = of_app.len() as u64;
    reader.before = HeldCounts {
        held,
        counted: held + reader.read.state.aside.len() as u64,
        others: others.len() as u64,
    };
    let mut found = ReadingFinds::new(of_app, &refused);
    found.drop_other_apps(key.widget);
    reader.landing.head.key = Some(key.clone());
    match context.widgets.app(key.widget) {
        Ok(app) => {
            let is_whole = Box::pin(reader.walk(&app, &key, &mut found)).await?;
            if is_whole {
                Box::pin(reader.rate(&app, &key, &mut found)).await;
                reader.drop_others(&key, &others, ratings);
            }
        }
        Err(error) => reader.fail(&error.into()),
    }
    reader.note(found, ratings);
    Ok(reader.done())
}

impl Reader<'_> {
    fn done(mut self) -> StoreReading {
        match self.read.outcome {
            // The store was not read, so that it remains due.
            SKIPPED => {}
            // The next run continues this reading, whenever it starts.
            PARTIAL => self.read.state.asked_at = None,
            _ => self.read.state.asked_at = Some(self.started_at),
        }
        self.read.landed = self.landing.finish(self.read.outcome == "gone");
        self.read
    }

    fn fail(&mut self, failure: &Failure) {
        tracing::warn!(brand.slug = %self.brand.slug, error = %failure, "the reviews of a store could not be read");
        self.read.outcome = match failure {
            Failure::NotAsked(NotAsked::ByAnother(_) | NotAsked::Stopped) => SKIPPED,
            _ => "failed",
        };
        self.read.error = Some(failure.to_string());
    }

    /// Returns the app that the store uses, or `None` if nothing more needs to be done.
    async fn app(&mut self) -> Result<Option<WidgetKey>, TaskError> {
        let look_after_s = self.context.widgets.config.look_after_s;
        if !is_older(self.read.state.looked_at, self.started_at, look_after_s) {
            return Ok(self.read.state.widget.clone());
        }
        let looked = self.look().await?;
        let state = &mut self.read.state;
        match looked {
            Err(failure) if state.widget.is_none() => {
                self.fail(&failure);
                return Ok(None);
            }
            // The app is already known, so that reading continues without the store's pages.
            Err(_) => {}
            Ok(None) => {
                // The next check of the pages happens after the usual interval.
                state.looked_at = Some(self.started_at);
                state.missed += u32::from(state.widget.is_some());
                if state.missed > 1 {
                    return self.forget().await.map(|()| None);
                }
            }
            Ok(Some(key)) => {
                if state.widget.as_ref() != Some(&key) {
                    *state = StoreState {
                        widget: Some(key),
                        ..StoreState::default()
                    };
                }
                (state.looked_at, state.missed) = (Some(self.started_at), 0);
            }
        }
        Ok(self.read.state.widget.clone())
    }

    /// Looks for the app on the store's pages, under the right to send requests to the store.
    async fn look(&mut self) -> Result<Result<Option<WidgetKey>, Failure>, TaskError> {
        let (deps, brand) = (self.context.deps, self.brand);
        let (rights, stop) = (deps.rights.as_deref(), deps.cancel.cancelled());
        let looked = under(rights, &brand.store, stop, self.look_there()).await;
        looked.unwrap_or_else(|error| Ok(Err(error.into())))
    }

    /// Looks for the app on the front page, then on a product page.
    async fn look_there(&mut self) -> Result<Result<Option<WidgetKey>, Failure>, TaskError> {
        let store = match self.context.deps.storefront.store(&self.brand.base_url) {
            Ok(store) => store,
            Err(error) => return Ok(Err(error.into())),
        };
        self.read.requests += 1;
        let front = match page(store.get("/", Accept::Html).await) {
            Ok(html) => html,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(key) = front.as_deref().and_then(detect) {
            return Ok(Ok(Some(key)));
        }
        let handles = self.context.snapshot.handles(&self.brand.store).await?;
        let Some(handle) = handles.values().next() else {
            return Ok(Ok(None));
        };
        self.read.requests += 1;
        let html = page(store.product_html(handle).await);
        Ok(html.map(|html| html.as_deref().and_then(detect)))
    }

    /// Two consecutive checks found no app.
    async fn forget(&mut self) -> Result<(), TaskError> {
        let store = &self.brand.store;
        let stores = [store.clone()].into();
        let reviews = self.context.snapshot.widget_reviews(&stores).await?;
        let ratings = self.context.snapshot.widget_ratings(&stores).await?;
        let changes = &mut self.read.changes;
        let gone = reviews.get(store).into_iter().flatten();
        changes
            .reviews_gone
            .extend(gone.map(|one| (one.widget, one.id.clone())));
        let gone = ratings.get(store).into_iter().flatten();
        changes.ratings_gone.extend(gone.map(|one| (one.widget, one.product)));
        let gone = refused_of(&self.context.snapshot, store).await?.into_iter();
        changes.refused_gone.extend(gone.map(|one| one.subject));
        self.read.outcome = "gone";
        self.read.state = StoreState {
            looked_at: Some(self.started_at),
            ..StoreState::default()
        };
        Ok(())
    }

    fn is_over(&self) -> bool {
        let took_ms = self.context.deps.clock.now().millis_since(self.started_at);
        let most_ms = self.context.widgets.config.store_time_s_max.saturating_mul(1000);
        self.context.deps.cancel.is_cancelled() || took_ms > i64::try_from(most_ms).unwrap_or(i64::MAX)
    }

    /// Removes reviews and ratings of an app that the store used before.
    fn drop_others(&mut self, key: &WidgetKey, others: &[WidgetReview], ratings: &[WidgetRating]) {
        let changes = &mut self.read.changes;
        let gone = others.iter().map(|one| (one.widget, one.id.clone()));
        changes.reviews_gone.extend(gone);
        let gone = ratings.iter().filter(|one| one.widget != key.widget);
        changes.ratings_gone.extend(gone.map(|one| (one.widget, one.product)));
    }

    fn note(&mut self, mut found: ReadingFinds, ratings: &[WidgetRating]) {
        let widget = self.read.state.widget.as_ref().map(|key| key.widget);
        let Some(widget) = widget else { return };
        let read = &mut self.read;
        (read.changes.refused, read.changes.refused_gone) = found.quarantine(&self.brand.store);
        (read.added, read.edited) = (found.added, found.edited);
        read.refused.append(&mut found.refused);
        read.reviews = found.held.len() as u64;
        // Ratings are requested only after an unfinished reading of the list is complete.
        if read.state.walk.is_some() || read.state.known.is_none() {
            read.state.pending.extend(&found.products);
        }
        let changes = &mut read.changes;
        let put = std::mem::take(&mut found.put);
        changes
            .reviews
            .extend(put.iter().filter_map(|id| found.held.remove(id)));
        changes
            .reviews_gone
            .extend(found.gone.into_keys().map(|id| (widget, id)));
        let rated: BTreeMap<u64, &WidgetRating> = ratings.iter().map(|one| (one.product, one)).collect();
        changes.ratings.retain(|one| rated.get(&one.product) != Some(&one));
    }
}

/// Returns no refused reviews if they cannot be read, because reviews must not wait for a file of another table.
pub(crate) async fn refused_of(snapshot: &LakeSnapshot, store: &StoreHost) -> Result<Vec<Quarantined>, TaskError> {
    match snapshot.refused_reviews(&[store.clone()].into()).await {
        Ok(mut refused) => Ok(refused.remove(store).unwrap_or_default()),
        Err(error) if error.lost_file().is_some() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn page(fetched: Result<FetchOutcome, StoreError>) -> Result<Option<String>, Failure> {
    match fetched {
        Ok(FetchOutcome::Body(page)) => Ok(Some(String::from_utf8_lossy(&page.bytes).into_owned())),
        Ok(FetchOutcome::NotModified) => Ok(None),
        // The product may have been deleted since the crawl.
        Err(StoreError::Status { status: 404 | 410 }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
