//! Merges live observations of stores into the price history, next to the results of crawls.
//!
//! Each variant has a latest known offer. The offer comes from `variants`, the last crawl that brought a change, or
//! from a row of `live_prices` observed after that crawl began, because pages of the crawl may be older. The next
//! observation, from a crawl or a live query, is compared with the latest known offer. Only a difference becomes a row
//! of `price_history`. Observations that are not newer are dropped, so that merging the same file of observations again
//! adds no rows.
//!
//! Merging does not change the rows of `variants`, `products` and the brand, which contain the state of the crawl.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_model::{CurrencyCode, Observation, PriceSource, RunId, StoreHost, Timestamp};

use super::attempts::Attempts;
use super::plan::Plan;
use crate::delta::data_files;
use crate::files::{bucket, compute};
use crate::lake::State;
use crate::rows::brands::BrandState;
use crate::rows::build::TableRows;
use crate::rows::history::{Change, HistoryRows, ObservationContext};
use crate::rows::live::LiveRows;
use crate::rows::offers::{LiveOffer, Offer, StoreOffers, VariantKey};
use crate::rows::runs::{RunSummaryRow, TickCounts};
use crate::ticks::TickKind;
use crate::{CommitReport, Lake, LakeError, TableName};

/// Result of [`Lake::commit_observations`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservationReport {
    /// Number of the commit batch with the observations. `None` if nothing was new.
    pub tick: Option<u64>,
    /// Stores with newer observations, whether or not prices or availability differ.
    pub stores: Vec<StoreHost>,
    /// Number of rows added to `price_history`.
    pub rows: u64,
    /// Number of observations that were newer than a stored offer and were compared with it.
    pub taken: u64,
    /// Number of observations of brands or products that the lake does not have.
    pub unknown: u64,
    /// Number of observations that are no newer than the stored offer of any of their variants.
    pub outdated: u64,
    /// Number of observations in a currency other than the product's. Their prices cannot be compared with the
    /// product's price.
    pub other_currency: u64,
    /// Number of observations dated more than five minutes ahead of this machine's clock.
    pub ahead: u64,
}

/// Time span in which a crawl read a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrawlSpan {
    /// Start of the crawl. Live responses of the store after this time may be newer than the crawl's findings.
    pub began_at: Timestamp,
    /// Time at which the crawl ended.
    pub ended_at: Timestamp,
}

#[derive(Debug)]
pub(crate) struct NewObservations {
    pub(crate) observations: Vec<Observation>,
    /// Time spans of crawls that found a store unchanged from `variants`.
    pub(crate) seen: BTreeMap<StoreHost, CrawlSpan>,
    pub(crate) run: RunSummaryRow,
}

impl Lake {
    /// Merges live observations and crawls that found stores unchanged. `seen` has the time span of each such crawl. A
    /// variant that differs from its latest known offer gets a row of `price_history`. If nothing is newer than the
    /// known offers, nothing is written. Observations may come in any order and more than once.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
    #[boxed]
    pub async fn commit_observations(
        &self,
        observations: Vec<Observation>,
        seen: BTreeMap<StoreHost, CrawlSpan>,
        run: RunSummaryRow,
    ) -> Result<ObservationReport, LakeError> {
        let news = NewObservations {
            observations,
            seen,
            run,
        };
        let mut state = self.state().await;
        Box::pin(self.merge_observations(&mut state, news)).await
    }

    pub(crate) async fn merge_observations(
        &self,
        state: &mut State,
        mut news: NewObservations,
    ) -> Result<ObservationReport, LakeError> {
        if news.observations.is_empty() && !self.knows_live(state, &news).await? {
            return Ok(ObservationReport::default());
        }
        let asked: BTreeSet<StoreHost> = news.observations.iter().map(|one| one.store.clone()).collect();
        let all_seen = std::mem::take(&mut news.seen);
        let news = Arc::new(news);
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, state).await?;
            let stores: BTreeSet<StoreHost> = asked.iter().chain(all_seen.keys()).cloned().collect();
            let live = self.live(state, &stores).await?;
            // An unchanged variant in a crawl is new information only if the variant was observed live.
            let is_live = |store: &StoreHost| live.get(store.as_str()).is_some_and(|live| !live.offers.is_empty());
            let seen: BTreeMap<_, _> = all_seen
                .iter()
                .filter(|(store, _)| is_live(store))
                .map(|(store, at)| (store.clone(), *at))
                .collect();
            let mut wanted: BTreeMap<StoreHost, HashSet<u64>> = BTreeMap::new();
            for one in &news.observations {
                wanted.entry(one.store.clone()).or_default().insert(one.product);
            }
            for (store, live) in seen.keys().filter_map(|store| Some((store, live.get(store.as_str())?))) {
                let products = live.offers.keys().map(|(product, _)| *product);
                wanted.entry(store.clone()).or_default().extend(products);
            }
            let stored = self.stored(state, &wanted.keys().cloned().collect()).await?;
            wanted.retain(|store, _| stored.contains_key(store));
            let offered = self.newest_offers(state, wanted, live).await?;
            let (tick, now, buckets) = (state.ended + 1, self.inner.clock.now(), self.inner.config.buckets);
            let planned = Arc::clone(&news);
            let merged = compute(move || {
                let terms = MergeContext {
                    seen: &seen,
                    tick,
                    now,
                    buckets,
                };
                plan(&planned, offered, &stored, &terms)
            });
            let (report, plan) = merged.await?;
            let Some(plan) = plan else { return Ok(report) };
            let run = Some(news.run.clone());
            if let Some(landed) = self.run_tick(state, TickKind::Live, run, plan).await? {
                let tick = Some(landed.tick);
                return Ok(ObservationReport { tick, ..report });
            }
        }
    }

    /// Compares brands that a crawl found unchanged with their live observations. A failure is only logged, because the
    /// surrounding commit has landed, and the next crawl compares again.
    pub(crate) async fn see_unchanged(
        &self,
        state: &mut State,
        mut seen: BTreeMap<StoreHost, CrawlSpan>,
        run: &RunSummaryRow,
        report: &mut CommitReport,
    ) {
        let unchanged: HashSet<&StoreHost> = report.unchanged.iter().collect();
        seen.retain(|store, _| unchanged.contains(store));
        let news = NewObservations {
            observations: Vec::new(),
            seen,
            run: run.clone(),
        };
        match self.merge_observations(state, news).await {
            Ok(merged) => {
                report.ticks.extend(merged.tick);
                report.counts.price_changes += merged.rows;
            }
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "live observations of unchanged brands could not be merged; the next crawl merges them"
            ),
        }
    }

    /// Returns `true` if anything was observed live since the crawls that filled `variants`.
    async fn knows_live(&self, state: &State, news: &NewObservations) -> Result<bool, LakeError> {
        if news.seen.is_empty() {
            return Ok(false);
        }
        if let Some(tables) = &state.tables {
            let table = tables.get(&TableName::LivePrices);
            return Ok(table.is_some_and(|table| !table.files().is_empty()));
        }
        let snapshot = self.snapshot_of(state.ended).await?;
        let table = snapshot.table(TableName::LivePrices).await?;
        Ok(!data_files(TableName::LivePrices, table).is_empty())
    }
}

#[derive(Debug, Clone, Copy)]
struct MergeContext<'a> {
    seen: &'a BTreeMap<StoreHost, CrawlSpan>,
    tick: u64,
    now: Timestamp,
    buckets: u32,
}

/// Returns no plan if the new observations change nothing.
fn plan(
    news: &NewObservations,
    mut offered: HashMap<String, StoreOffers>,
    stored: &HashMap<StoreHost, BrandState>,
    terms: &MergeContext<'_>,
) -> Result<(ObservationReport, Option<Plan>), LakeError> {
    let mut by_store: BTreeMap<(i32, &StoreHost), Vec<&Observation>> = BTreeMap::new();
    let key = |store| (bucket(store, terms.buckets), store);
    for store in terms.seen.keys() {
        by_store.entry(key(store)).or_default();
    }
    for one in &news.observations {
        by_store.entry(key(&one.store)).or_default().push(one);
    }
    let (mut report, mut history, mut live) = (
        ObservationReport::default(),
        HistoryRows::default(),
        LiveRows::default(),
    );
    for ((bucket, store), mut observations) in by_store {
        let stored = stored.get(store).filter(|stored| stored.refreshed_at.is_some());
        let (Some(stored), Some(offered)) = (stored, offered.get_mut(store.as_str())) else {
            report.unknown += observations.len() as u64;
            continue;
        };
        observations.sort_by_key(|one| one.observed_at);
        let brand_slug = offered.brand_slug.clone();
        let mut merge = ObservationMerge {
            currencies: currencies(offered),
            offered,
            crawled_at: stored.read_at(terms.now),
            is_changed: false,
            changes: Vec::new(),
        };
        merge.all(&observations, terms.seen.get(store).copied(), terms.now, &mut report);
        for (at, change) in &merge.changes {
            let run: Option<&RunId> = (change.source == PriceSource::Crawl).then_some(&news.run.run);
            let observed = ObservationContext {
                since: *at,
                at: *at,
                run,
                tick: terms.tick,
            };
            history.change(store, &brand_slug, *change, observed);
        }
        report.rows += merge.changes.len() as u64;
        if merge.is_changed {
            live.push(bucket, store, &brand_slug, &offered.live_after(None));
            report.stores.push(store.clone());
        }
    }
    if report.stores.is_empty() {
        return Ok((report, None));
    }
    let plan = Plan {
        stores: report.stores.clone(),
        counts: TickCounts {
            price_changes: report.rows,
            ..TickCounts::default()
        },
        rows: vec![
            (TableName::PriceHistory, vec![history.finish()?]),
            (TableName::LivePrices, vec![live.finish()?]),
        ],
        ..Plan::default()
    };
    Ok((report, Some(plan)))
}

fn currencies(offered: &StoreOffers) -> HashMap<u64, CurrencyCode> {
    let offers = offered.offers.iter().chain(&offered.crawled);
    let offers = offers.map(|((product, _), offer)| (*product, offer.currency));
    let live = offered
        .live
        .iter()
        .map(|((product, _), live)| (*product, live.currency));
    live.chain(offers).collect()
}

#[derive(Debug)]
struct ObservationMerge<'a> {
    offered: &'a mut StoreOffers,
    currencies: HashMap<u64, CurrencyCode>,
    /// End of the crawl that filled `variants`, if known.
    crawled_at: Option<Timestamp>,
    /// `true` if any variant has a newer observation.
    is_changed: bool,
    /// Rows of the price history, in chronological order.
    changes: Vec<(Timestamp, Change)>,
}

impl ObservationMerge<'_> {
    /// Merges a store's observations in chronological order, with the crawl that found the store unchanged at its place
    /// between them.
    fn all(
        &mut self,
        observations: &[&Observation],
        seen: Option<CrawlSpan>,
        now: Timestamp,
        report: &mut ObservationReport,
    ) {
        let until = now.latest_believed(0);
        let earlier = seen.map_or(observations.len(), |seen| {
            observations.partition_point(|one| one.observed_at <= seen.ended_at)
        });
        let (before, after) = observations.split_at(earlier);
        before.iter().for_each(|one| self.observe(one, until, report));
        if let Some(seen) = seen {
            self.see(seen);
        }
        after.iter().for_each(|one| self.observe(one, until, report));
    }

    fn observe(&mut self, one: &Observation, until: Timestamp, report: &mut ObservationReport) {
        let Some(currency) = self.currencies.get(&one.product) else {
            report.unknown += 1;
            return;
        };
        let refused = if *currency != one.currency {
            Some(&mut report.other_currency)
        } else if one.observed_at > until {
            Some(&mut report.ahead)
        } else {
            None
        };
        if let Some(refused) = refused {
            *refused += 1;
            return;
        }
        let mut is_news = false;
        for variant in &one.variants {
            let offer = Offer {
                currency: one.currency,
                price_minor: variant.price_minor,
                compare_at_minor: variant.compare_at_minor,
                available: variant.available,
            };
            is_news |= self.learn((one.product, variant.id.0), Some(offer), one);
        }
        for variant in &one.gone {
            is_news |= self.learn((one.product, variant.0), None, one);
        }
        *(if is_news {
            &mut report.taken
        } else {
            &mut report.outdated
        }) += 1;
        self.is_changed |= is_news;
    }

    /// Records the observed offer of a variant. Returns `false` if the known offer is at least as new.
    fn learn(&mut self, key: VariantKey, offer: Option<Offer>, one: &Observation) -> bool {
        let (at, before) = (one.observed_at, self.offered.offers.get(&key).copied());
        let live = self.offered.live.get(&key);
        let is_same = live.is_some_and(|live| live.at == at);
        if is_same || self.offered.is_newer(key, at) || self.crawled_at.is_some_and(|crawled_at| at <= crawled_at) {
            return false;
        }
        let changed_at = if before == offer {
            live.and_then(|live| live.changed_at)
        } else {
            Some(at)
        };
        self.change(key, before, offer, at, PriceSource::Live);
        let known = LiveOffer {
            at,
            offer,
            currency: one.currency,
            changed_at,
        };
        self.offered.note(key, known);
        true
    }

    /// Merges a crawl that found the store equal to `variants`. It has no information about variants observed live
    /// after it began. Variants whose latest known offer it changes are observed at the crawl's end.
    fn see(&mut self, seen: CrawlSpan) {
        let at = seen.ended_at;
        let crawled = |key: &VariantKey| self.offered.crawled.get(key).copied();
        let live = self.offered.live.iter();
        let is_newer = |key: &VariantKey| self.offered.is_newer(*key, seen.began_at);
        let older = live.filter(|(key, live)| !is_newer(key) && crawled(key) != live.offer);
        let mut older: Vec<(VariantKey, LiveOffer)> = older.map(|(key, live)| (*key, *live)).collect();
        older.sort_unstable_by_key(|(key, _)| *key);
        self.is_changed |= !older.is_empty();
        for (key, live) in older {
            let offer = self.offered.crawled.get(&key).copied();
            self.change(key, live.offer, offer, at, PriceSource::Crawl);
            let known = LiveOffer {
                at,
                offer,
                changed_at: Some(at),
                ..live
            };
            self.offered.note(key, known);
        }
    }

    fn change(
        &mut self,
        key: VariantKey,
        before: Option<Offer>,
        now: Option<Offer>,
        at: Timestamp,
        source: PriceSource,
    ) {
        if before != now {
            let change = Change {
                key,
                before,
                now,
                source,
            };
            self.changes.push((at, change));
        }
    }
}
