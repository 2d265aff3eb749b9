//! Merges live observations of stores into the history of prices, beside the findings of crawls.
//!
//! A variant has one newest word: that of `variants`, the last crawl's that brought anything, or a row of `live_prices`,
//! if it was observed after that crawl had begun: a page of the crawl may be older than it. The next observation, of a
//! crawl or of a store that is asked live, is compared with that word, and only a difference becomes a row of
//! `price_history`. An observation that is not newer than the word is dropped: so the same file of observations may be
//! merged any number of times, and adds its rows once.
//!
//! The rows of `variants`, `products` and the brand itself stay as the crawl saw them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_model::{CurrencyCode, Observation, PriceSource, RunId, StoreHost, Timestamp};

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

/// The result of [`Lake::commit_observations`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservationReport {
    /// The tick that carries it; `None` when nothing was new.
    pub tick: Option<u64>,
    /// The stores on which something newer is known now, whether or not it is different.
    pub stores: Vec<StoreHost>,
    /// Rows added to `price_history`.
    pub rows: u64,
    /// Observations that were compared with what was known.
    pub taken: u64,
    /// Observations of brands or products that the lake does not have.
    pub unknown: u64,
    /// Observations no newer than what is known of each of their variants.
    pub outdated: u64,
    /// Observations in another currency than the product's: they say nothing of its price.
    pub other_currency: u64,
    /// Observations from more than five minutes ahead of this machine's clock.
    pub ahead: u64,
}

/// When a crawl read a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrawlSpan {
    /// When it began: a live answer of the store since then may be newer than its finding.
    pub began_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
}

/// The observations to be merged.
#[derive(Debug)]
pub(crate) struct NewObservations {
    pub(crate) observations: Vec<Observation>,
    /// When crawls found stores as `variants` has them.
    pub(crate) seen: BTreeMap<StoreHost, CrawlSpan>,
    pub(crate) run: RunSummaryRow,
}

impl Lake {
    /// Merges live observations of stores, and crawls that found stores as the lake has them: `seen`, each with the time
    /// of its crawl. A variant with another word than the newest known gets a row of `price_history`; where nothing is
    /// newer than the known words, nothing is written. Observations may come in any order and more than once.
    ///
    /// # Errors
    /// As [`Lake::commit`].
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
        for _ in 0..self.inner.config.attempts_max.max(1) {
            self.recover(state).await?;
            let stores: BTreeSet<StoreHost> = asked.iter().chain(all_seen.keys()).cloned().collect();
            let live = self.live(state, &stores).await?;
            // A variant that a crawl finds unchanged is news only where it was observed live.
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
            if let Some((tick, _)) = self.run_tick(state, tick, TickKind::Live, run, plan).await? {
                return Ok(ObservationReport {
                    tick: Some(tick),
                    ..report
                });
            }
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    /// Compares brands that a crawl found unchanged with the live observations of them. A failure here is left to the next
    /// crawl; the commit that this is part of has landed.
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
                "what was seen live of unchanged brands is left to the next crawl"
            ),
        }
    }

    /// `true` where anything was observed live since the crawls that `variants` is of.
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

/// The context of a merge.
#[derive(Debug, Clone, Copy)]
struct MergeContext<'a> {
    seen: &'a BTreeMap<StoreHost, CrawlSpan>,
    tick: u64,
    now: Timestamp,
    buckets: u32,
}

/// The plan of the changes that the news make; `None` where there are none.
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

/// The currency of each known product's amounts.
fn currencies(offered: &StoreOffers) -> HashMap<u64, CurrencyCode> {
    let offers = offered.offers.iter().chain(&offered.crawled);
    let offers = offers.map(|((product, _), offer)| (*product, offer.currency));
    let live = offered
        .live
        .iter()
        .map(|((product, _), live)| (*product, live.currency));
    live.chain(offers).collect()
}

/// The merge of one store's news, one after the other.
#[derive(Debug)]
struct ObservationMerge<'a> {
    offered: &'a mut StoreOffers,
    currencies: HashMap<u64, CurrencyCode>,
    /// End of the crawl that `variants` is of, where it is known.
    crawled_at: Option<Timestamp>,
    /// `true` where anything newer is known now.
    is_changed: bool,
    /// Rows of the history, in the order of time.
    changes: Vec<(Timestamp, Change)>,
}

impl ObservationMerge<'_> {
    /// Takes the observations of a store, in the order of time, and between them the crawl that found it unchanged.
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

    /// Takes in one variant's offer; `false` where what is known is as new.
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

    /// Takes in that a crawl found everything as `variants` has it. It says nothing of what was seen live after it had
    /// begun. A variant of which it changes the word was observed when it ended; of every other one nothing is new.
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
