//! Reads the new entries of a store's review list, and decides at its end which changes to trust.

use bytes::Bytes;
use pipeline_task::{TaskError, is_older};
use pipeline_widgets::{AnswerError, FeedPage, Next, Overview, WidgetKey};
use storefront::{Accept, FetchOutcome, Store, StoreError};

use super::{Failure, PARTIAL, Reader};
use crate::landing::AppQuestion;
use crate::state::{KnownCount, Walk};
use crate::walk::{ReadingFinds, StoreListing};

/// A page of an app's feed with its raw bytes.
struct ReadPage {
    page: FeedPage,
    bytes: Bytes,
}

#[derive(Debug, Clone, Copy)]
struct AppCounts {
    total: Option<u64>,
    /// Sum of the reviews' stars, if the app states it.
    stars: Option<f64>,
}

struct ListStart {
    /// First page of the list, if the app's first answer is one.
    first: Option<ReadPage>,
    counts: AppCounts,
    sweeps: bool,
}

/// A list that shows fewer reviews than its app counts.
#[derive(Debug, Clone, Copy)]
struct Shortfall {
    total: u64,
    seen: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HeldCounts {
    /// Reviews of the store's current app.
    pub(super) held: u64,
    /// Reviews of the current app, including those that are set aside.
    pub(super) counted: u64,
    /// Reviews of the app that the store used before.
    pub(super) others: u64,
}

#[derive(Debug)]
enum ListEnd {
    /// The next run continues the reading.
    Open,
    /// The number of known reviews equals the app's count.
    Agrees { total: Option<u64> },
    /// The end of the list was reached.
    Whole {
        walk: Walk,
        total: Option<u64>,
        /// True if the app stated the end of the list. False if a further page could not be read.
        is_told: bool,
    },
}

impl Reader<'_> {
    /// Returns true if the whole list is known now.
    pub(super) async fn walk(
        &mut self,
        app: &Store,
        key: &WidgetKey,
        found: &mut ReadingFinds,
    ) -> Result<bool, TaskError> {
        let sweep_after_s = self.context.widgets.config.sweep_after_s;
        let state = &self.read.state;
        let sweeps = self.context.options.sweep || is_older(state.swept_at, self.started_at, sweep_after_s);
        let kept = found.held.len() as u64;
        let known = state.known.filter(|known| known.kept == kept && state.walk.is_none());
        let known = known.filter(|_| !sweeps);
        let etag = state.etag.clone().filter(|_| known.is_some());
        self.read.requests += 1;
        let (overview, etag, bytes) = match overview(app, key, etag.as_deref()).await {
            Ok(Some(told)) => told,
            Ok(None) => {
                self.read.outcome = "unchanged";
                return Ok(true);
            }
            Err(failure) => {
                self.fail(&failure);
                return Ok(false);
            }
        };
        let listed = StoreListing::new(self.context.snapshot.handles(&self.brand.store).await?);
        let counts = match &overview {
            Overview::Page(page) => AppCounts {
                total: page.total,
                stars: None,
            },
            Overview::Totals { count, stars } => AppCounts {
                total: Some(*count),
                stars: Some(*stars),
            },
        };
        let AppCounts { total, stars } = counts;
        let is_same = known.is_some_and(|known| known.total == total && known.stars == stars);
        let shows_news = match &overview {
            Overview::Page(page) => !found.has_all(key.widget, page, &listed, &self.read.state),
            Overview::Totals { .. } => false,
        };
        if is_same && !shows_news {
            self.read.outcome = "unchanged";
            self.read.state.etag = etag;
            return Ok(true);
        }
        let first = match overview {
            Overview::Page(page) => Some(ReadPage { page, bytes }),
            Overview::Totals { .. } => None,
        };
        let start = ListStart {
            first,
            counts,
            sweeps: sweeps || known.is_none(),
        };
        let ending = self.pages(app, key, found, &listed, start).await;
        let is_whole = self.conclude(found, key, &ending);
        if is_whole {
            let kept = found.held.len() as u64;
            self.read.state.known = Some(KnownCount { total, stars, kept });
            self.read.state.etag = etag;
        }
        Ok(is_whole)
    }

    async fn pages(
        &mut self,
        app: &Store,
        key: &WidgetKey,
        found: &mut ReadingFinds,
        listed: &StoreListing,
        start: ListStart,
    ) -> ListEnd {
        let ListStart {
            mut first,
            counts: AppCounts { total, stars },
            sweeps,
        } = start;
        let mut walk = match self.read.state.walk.take() {
            Some(walk) => walk,
            None => self.begin(sweeps),
        };
        if walk.has_begun()
            && let Some(read) = first.take()
        {
            self.land(&walk, &read, listed);
            // Reviews were written since the reading began.
            found.take(key.widget, read.page, listed, &mut walk, &mut self.read.state.aside);
        }
        (self.read.outcome, self.read.state.known, self.read.state.etag) = ("read", None, None);
        for _ in 0..self.context.widgets.config.pages_max {
            if self.is_over() {
                break;
            }
            let read = match first.take() {
                Some(read) => read,
                None => match self.page(app, key, &walk.next).await {
                    Ok(read) => read,
                    // All reviews that the app counts were seen, and the next page is not a valid page.
                    Err(failure) if walk.is_all() && is_answer(&failure) => {
                        let (total, is_told) = (walk.counted, false);
                        return ListEnd::Whole { walk, total, is_told };
                    }
                    Err(failure) => {
                        self.fail(&failure);
                        self.read.state.walk = Some(walk).filter(Walk::has_begun);
                        return ListEnd::Open;
                    }
                },
            };
            self.land(&walk, &read, listed);
            let page = read.page;
            let (next, total) = (page.next.clone(), page.total.or(total));
            walk.has_shrunk |= walk.counted.zip(total).is_some_and(|(before, now)| now < before);
            walk.counted = total;
            let is_fresh = found.take(key.widget, page, listed, &mut walk, &mut self.read.state.aside);
            if !walk.sweeps && self.agrees(found, total, stars) {
                return ListEnd::Agrees { total };
            }
            // The count may be too low, so that only the list itself determines its end.
            match next.filter(|_| is_fresh) {
                Some(next) => walk.next = next,
                None => {
                    let is_told = true;
                    return ListEnd::Whole { walk, total, is_told };
                }
            }
        }
        self.read.outcome = PARTIAL;
        self.read.state.walk = Some(walk).filter(Walk::has_begun);
        ListEnd::Open
    }

    fn begin(&mut self, sweeps: bool) -> Walk {
        self.landing.head.begins = true;
        Walk {
            began_at: Some(self.started_at),
            ..Walk::new(sweeps)
        }
    }

    fn land(&mut self, walk: &Walk, read: &ReadPage, listed: &StoreListing) {
        let named = listed.named_by(&read.page);
        self.landing
            .add(AppQuestion::Page(walk.next.clone()), named, &read.bytes);
    }

    fn agrees(&self, found: &ReadingFinds, total: Option<u64>, stars: Option<f64>) -> bool {
        let aside = &self.read.state.aside;
        let counted = (found.held.len() + aside.len()) as u64;
        // The stars of reviews that are set aside are unknown.
        let same_stars = |stars: f64| aside.is_empty() && (found.stars() - stars).abs() < 0.5;
        total == Some(counted) && stars.is_none_or(same_stars)
    }

    async fn page(&mut self, app: &Store, key: &WidgetKey, at: &Next) -> Result<ReadPage, Failure> {
        self.read.requests += 1;
        match app.get(&key.feed(at), Accept::Json).await? {
            FetchOutcome::Body(answer) => Ok(ReadPage {
                page: key.read_feed(&answer.bytes, at)?,
                bytes: answer.bytes,
            }),
            // The request had no validator, so 304 is not a valid answer.
            FetchOutcome::NotModified => Err(AnswerError::NotJson.into()),
        }
    }

    /// Decides if a reading of the list is trusted. Returns true if the whole list is known now. A reading that removes
    /// most stored reviews, or ends before the app's own count, is trusted only if it happens twice.
    fn conclude(&mut self, found: &mut ReadingFinds, key: &WidgetKey, ending: &ListEnd) -> bool {
        match ending {
            ListEnd::Whole { walk, total, is_told } if !walk.has_shrunk => {
                let (seen, unseen) = (walk.seen.len() as u64, found.unseen(walk).len() as u64);
                let short = total
                    .filter(|total| seen < *total)
                    .map(|total| Shortfall { total, seen });
                let steep = self.steep(found, unseen, *total, *is_told);
                if self.is_doubted(short, steep) {
                    self.keep(found);
                    return false;
                }
                self.end(found, key, walk);
                return true;
            }
            ListEnd::Agrees { total } => {
                let steep = self.steep(found, 0, *total, true);
                if self.is_doubted(None, steep) {
                    self.keep(found);
                    return false;
                }
                return true;
            }
            ListEnd::Whole { .. } => {
                self.read.outcome = PARTIAL;
                self.read.error = Some("reviews were deleted while the list was read, so it is read again".to_owned());
            }
            ListEnd::Open => {}
        }
        if self.steep(found, 0, None, true).is_some() {
            self.keep(found);
        }
        false
    }

    fn keep(&mut self, found: &mut ReadingFinds) {
        found.restore();
        self.landing.end.is_doubted = true;
    }

    /// Returns the number of reviews that a reading would remove, if that is too many to trust after one reading.
    /// `unseen` is the number of stored reviews that the reading did not show.
    fn steep(&self, found: &ReadingFinds, unseen: u64, total: Option<u64>, is_told: bool) -> Option<u64> {
        let HeldCounts { held, counted, others } = self.before;
        let lost = (found.gone.len() as u64 + unseen).min(held);
        let has_fallen = total.is_some_and(|total| total.saturating_mul(2) < counted);
        let is_steep = lost * 2 > held || has_fallen || !is_told;
        // Reviews of the store's previous app are removed too.
        let left = (found.held.len() as u64).saturating_sub(unseen);
        let others = if left * 2 < others { others } else { 0 };
        let lost = others + if is_steep { lost } else { 0 };
        (lost > 0).then_some(lost)
    }

    /// Records anomalies at the end of a reading. Returns true if the previous reading did not end with the same
    /// anomaly.
    fn is_doubted(&mut self, short: Option<Shortfall>, steep: Option<u64>) -> bool {
        let short = short.map(|short| (short.total, short.seen));
        let read = &mut self.read;
        let before = (read.state.short, read.state.steep);
        (read.state.short, read.state.steep) = (short, steep);
        let what = match (short, steep) {
            (Some((total, seen)), _) if short != before.0 => format!("the app states {total} reviews but shows {seen}"),
            (_, Some(lost)) if steep != before.1 => {
                format!("the app no longer shows {lost} of the stored reviews")
            }
            _ => return false,
        };
        read.outcome = PARTIAL;
        read.error = Some(format!(
            "{what}: the reviews are removed only if the next crawl finds the same"
        ));
        true
    }

    /// Removes unseen reviews, because the list was read to its end.
    fn end(&mut self, found: &mut ReadingFinds, key: &WidgetKey, walk: &Walk) {
        found.drop_unseen(key.widget, walk);
        (self.landing.end.is_whole, self.landing.end.sweeps) = (true, walk.sweeps);
        let state = &mut self.read.state;
        state.aside.retain(|id| walk.seen.contains(id));
        state.swept_at = Some(self.started_at);
        if walk.sweeps {
            state.whole_since = walk.began_at.filter(|_| !self.landing.end.is_cut);
            state.pending.extend(found.reviewed());
        }
    }
}

/// Requests the app's first answer, with its validator. Returns `None` if the answer is unchanged.
async fn overview(
    app: &Store,
    key: &WidgetKey,
    etag: Option<&str>,
) -> Result<Option<(Overview, Option<String>, Bytes)>, Failure> {
    match app.get_unless(&key.overview(), Accept::Json, etag).await? {
        FetchOutcome::Body(page) => Ok(Some((key.read_overview(&page.bytes)?, page.etag, page.bytes))),
        FetchOutcome::NotModified if etag.is_some() => Ok(None),
        FetchOutcome::NotModified => Err(AnswerError::NotJson.into()),
    }
}

/// Returns true if the app responded, but not with a page of its list.
fn is_answer(failure: &Failure) -> bool {
    let of_store = |error: &StoreError| matches!(error, StoreError::Status { .. } | StoreError::NotJson { .. });
    match failure {
        Failure::Answer(_) => true,
        Failure::Store(error) => of_store(error),
        Failure::NotAsked(_) => false,
    }
}
