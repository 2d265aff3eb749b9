//! Commits and removes catalogues of brands.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_recursion::async_recursion as boxed;
use data_model::{BrandRefresh, StoreHost, Timestamp};

use super::attempts::Attempts;
use super::hash::HashedRefresh;
use super::observations::CrawlSpan;
use super::parts::{cut, sorted};
use super::plan::{self, CommitReport, Plan};
use crate::files::compute;
use crate::lake::State;
use crate::rows::brands::BrandState;
use crate::rows::offers::StoreOffers;
use crate::rows::runs::RunSummaryRow;
use crate::ticks::TickKind;
use crate::{Lake, LakeError, TableName};

const HISTORIES: [TableName; 2] = [TableName::PriceHistory, TableName::ProductHistory];

impl Lake {
    /// Commits the changes of these brands as one commit batch, with one commit per changed table. Brands whose content
    /// is already stored are skipped. If all are skipped, nothing is written.
    ///
    /// If this fails after the batch was recorded, the next call or the next open finishes the batch.
    ///
    /// If a data file to be rewritten is missing or damaged and contains rows of brands outside this call, nothing is
    /// recorded. Brands of other files can still be committed. A call with all brands of the lost file rewrites it.
    ///
    /// A changed brand is skipped if the lake's content was read after this crawl of the brand began. Some of the
    /// crawled pages may be older and would undo newer content. A read time in the future of the clock is ignored.
    ///
    /// # Errors
    /// The storage fails, a table is not readable, a store occurs twice, or other processes keep committing first.
    #[tracing::instrument(target = "trace::lake", name = "lake commit", level = "info", skip_all, fields(brands = refreshes.len()))]
    #[boxed]
    pub async fn commit(&self, refreshes: Vec<BrandRefresh>, run: RunSummaryRow) -> Result<CommitReport, LakeError> {
        let hashed = compute(move || refreshes.into_iter().map(HashedRefresh::new).collect()).await?;
        self.commit_hashed(hashed, run).await
    }

    /// Commits brands as [`Lake::commit`] does, with content that is already hashed.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
    #[boxed]
    pub async fn commit_hashed(
        &self,
        refreshes: Vec<HashedRefresh>,
        run: RunSummaryRow,
    ) -> Result<CommitReport, LakeError> {
        let found = refreshes.iter().map(|HashedRefresh { refresh, .. }| {
            let store = refresh.brand.store.clone();
            let span = CrawlSpan {
                began_at: refresh.read_since.min(refresh.observed_at),
                ended_at: refresh.observed_at,
            };
            (store, span)
        });
        let found: BTreeMap<StoreHost, CrawlSpan> = found.collect();
        let parts = cut(sorted(refreshes, self.inner.config.buckets)?);
        let mut report = CommitReport::default();
        let mut state = self.inner.state.lock().await;
        for part in parts {
            self.commit_part(&mut state, part, &run, &mut report).await?;
        }
        Box::pin(self.see_unchanged(&mut state, found, &run, &mut report)).await;
        Ok(report)
    }

    async fn commit_part(
        &self,
        state: &mut State,
        part: Vec<HashedRefresh>,
        run: &RunSummaryRow,
        report: &mut CommitReport,
    ) -> Result<(), LakeError> {
        let (mut part, store_of) = (part, |hashed: &HashedRefresh| hashed.refresh.brand.store.clone());
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, state).await?;
            let stores: BTreeSet<StoreHost> = part.iter().map(store_of).collect();
            let stored = self.stored(state, &stores).await?;
            let is_changed = |hashed: &HashedRefresh| {
                let store = &hashed.refresh.brand.store;
                let is_same = stored.get(store).is_some_and(|stored| stored.hash == hashed.hash);
                !is_same || state.damaged.contains(store)
            };
            let (mut changed, same): (Vec<HashedRefresh>, Vec<HashedRefresh>) = part.into_iter().partition(is_changed);
            let now = self.inner.clock.now();
            let is_overtaken = |hashed: &mut HashedRefresh| {
                let began_at = hashed.refresh.read_since.min(hashed.refresh.observed_at);
                let store = &hashed.refresh.brand.store;
                // A run that resumes after a kill must not count its own earlier commit as a newer one.
                let others = stored
                    .get(store)
                    .filter(|stored| stored.run.as_ref() != Some(&hashed.refresh.run));
                let read_at = others.and_then(|stored| stored.read_at(now));
                // An older catalogue is better than a damaged one.
                read_at.is_some_and(|read_at| began_at < read_at) && !state.damaged.contains(store)
            };
            report
                .overtaken
                .extend(changed.extract_if(.., is_overtaken).map(|hashed| store_of(&hashed)));
            if changed.is_empty() {
                report.unchanged.extend(same.iter().map(store_of));
                return Ok(());
            }
            let (kind, unchanged) = (TickKind::Refresh, same.len());
            let committed = async {
                let planned = self.plan_changed(state, kind, &mut changed, unchanged, &stored);
                let plan = planned.await?;
                self.run_tick(state, kind, Some(run.clone()), plan).await
            };
            match committed.await {
                Ok(None) => {}
                Ok(Some(landed)) => {
                    report.unchanged.extend(same.iter().map(store_of));
                    report.add(landed);
                    return Ok(());
                }
                // All brands of the lost file are in this batch, so that the file is rewritten, including unchanged
                // brands.
                Err(LakeError::Lost { brands, .. })
                    if brands.iter().all(|(store, _)| stores.contains(store))
                        && brands
                            .iter()
                            .any(|(store, _)| same.iter().any(|hashed| store_of(hashed) == *store)) =>
                {
                    state.damaged.extend(brands.into_iter().map(|(store, _)| store));
                }
                Err(error) => return Err(error),
            }
            part = sorted(changed.into_iter().chain(same).collect(), self.inner.config.buckets)?;
        }
    }

    /// Plans to replace the rows of these stores. A backfill plans no history rows.
    pub(crate) async fn plan_changed(
        &self,
        state: &mut State,
        kind: TickKind,
        changed: &mut Vec<HashedRefresh>,
        unchanged: usize,
        stored: &HashMap<StoreHost, BrandState>,
    ) -> Result<Plan, LakeError> {
        let stores = changed.iter().map(|hashed| hashed.refresh.brand.store.clone());
        let mut before = self.before(state, &stores.collect(), stored).await?;
        let mut new = BTreeSet::new();
        for hashed in changed.iter().filter(|_| kind != TickKind::Backfill) {
            let store = &hashed.refresh.brand.store;
            let listed = before.listed.get(store.as_str());
            if !listed.map_or(Ok(false), |listed| listed.has_all(&hashed.refresh.products.ids))? {
                new.insert(store.clone());
            }
        }
        self.note_gone(state, &new, &mut before.listed).await?;
        let (tick, buckets) = (state.ended + 1, self.inner.config.buckets);
        let refreshes = std::mem::take(changed);
        let (mut plan, refreshes) = compute(move || {
            let plan = plan::refresh(&refreshes, unchanged, &before, tick, buckets)?;
            Ok((plan, refreshes))
        })
        .await?;
        *changed = refreshes;
        if kind == TickKind::Backfill {
            plan.rows.retain(|(table, _)| !HISTORIES.contains(table));
            plan.counts.price_changes = 0;
        }
        Ok(plan)
    }

    /// Removes brands and all their rows except their history. Each variant of the brands gets a last row in the
    /// history. Stores that are not in the lake are skipped.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
    #[boxed]
    pub async fn remove_brands(&self, stores: &[StoreHost]) -> Result<CommitReport, LakeError> {
        let mut state = self.inner.state.lock().await;
        let asked: BTreeSet<StoreHost> = stores.iter().cloned().collect();
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            let mut present = asked.clone();
            let stored = self.stored(&mut state, &asked).await?;
            present.retain(|store| stored.contains_key(store));
            let before = self.before(&mut state, &present, &stored).await?;
            let now = self.inner.clock.now();
            let went = present.into_iter().map(|store| {
                let read_at = stored.get(&store).and_then(|stored| stored.read_at(now));
                let live_at = before.offered.get(store.as_str()).and_then(StoreOffers::newest_live);
                let at = read_at.into_iter().chain(live_at).fold(now, Timestamp::max);
                (store, at)
            });
            let plan = plan::removal(&went.collect(), &before, state.ended + 1)?;
            if let Some(report) = self.commit_some(&mut state, TickKind::Remove, &asked, plan).await? {
                return Ok(report);
            }
        }
    }
}
