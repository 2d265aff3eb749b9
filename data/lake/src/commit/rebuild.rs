//! Brands that were read again from what was landed: their present rows are replaced, and no history gets a row. A history
//! says what was observed when; whoever reads the same pages again observes nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_recursion::async_recursion as boxed;
use data_model::StoreHost;

use super::hash::HashedRefresh;
use super::parts::{cut, sorted};
use super::plan::{self, Plan};
use crate::files::compute;
use crate::lake::State;
use crate::rows::brands::BrandState;
use crate::rows::runs::RunSummaryRow;
use crate::ticks::TickKind;
use crate::{Lake, LakeError, TableName};

/// A brand that was read again, and what it is to take the place of.
#[derive(Debug)]
pub struct RebuiltCatalogue {
    /// The catalogue of the landed pages.
    pub refresh: HashedRefresh,
    /// [`crate::BrandRow::catalogue_hash`] of what the lake had when that was decided; `None` of a brand that it had not.
    pub instead_of: Option<String>,
}

/// The result of [`Lake::rebuild`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RebuildReport {
    /// The ticks that were committed; empty when nothing changed.
    pub ticks: Vec<u64>,
    /// The stores whose present rows were replaced.
    pub changed: Vec<StoreHost>,
    /// The stores whose content was already there.
    pub unchanged: Vec<StoreHost>,
    /// The stores of which the lake has something else than `instead_of` by now: they stay as they are.
    pub overtaken: Vec<StoreHost>,
}

const HISTORIES: [TableName; 2] = [TableName::PriceHistory, TableName::ProductHistory];

impl Lake {
    /// Replaces the present rows of brands that the lake has by what their landed pages say, whatever the time of these
    /// pages; `price_history` and `product_history` stay as they are. Of a brand that the lake does not have this is the
    /// first word: it is committed as that of a crawl is.
    ///
    /// A brand that somebody else changed meanwhile is left as it is.
    ///
    /// # Errors
    /// As [`Lake::commit`].
    #[boxed]
    pub async fn rebuild(
        &self,
        rebuilt: Vec<RebuiltCatalogue>,
        run: &RunSummaryRow,
    ) -> Result<RebuildReport, LakeError> {
        let store = |one: &RebuiltCatalogue| one.refresh.refresh.brand.store.clone();
        let instead_of = rebuilt.iter().map(|one| (store(one), one.instead_of.clone()));
        let instead_of: BTreeMap<StoreHost, Option<String>> = instead_of.collect();
        let (known, new): (Vec<_>, Vec<_>) = rebuilt.into_iter().partition(|one| one.instead_of.is_some());
        let mut report = RebuildReport::default();
        let mut state = self.state().await;
        for refreshes in [known, new] {
            let refreshes = refreshes.into_iter().map(|one| one.refresh).collect();
            for part in cut(sorted(refreshes, self.inner.config.buckets)?) {
                self.rebuild_part(&mut state, part, &instead_of, run, &mut report)
                    .await?;
            }
        }
        Ok(report)
    }

    async fn rebuild_part(
        &self,
        state: &mut State,
        mut part: Vec<HashedRefresh>,
        instead_of: &BTreeMap<StoreHost, Option<String>>,
        run: &RunSummaryRow,
        report: &mut RebuildReport,
    ) -> Result<(), LakeError> {
        for _ in 0..self.inner.config.attempts_max.max(1) {
            self.recover(state).await?;
            let stores = part.iter().map(|hashed| hashed.refresh.brand.store.clone());
            let stored = self.stored(state, &stores.collect()).await?;
            part.retain(|hashed| {
                let store = &hashed.refresh.brand.store;
                let has = stored.get(store).map(|stored| stored.hash.as_str());
                let is_as_it_was = has == instead_of.get(store).and_then(Option::as_deref);
                if has == Some(hashed.hash.as_str()) {
                    report.unchanged.push(store.clone());
                } else if !is_as_it_was {
                    report.overtaken.push(store.clone());
                }
                is_as_it_was && has != Some(hashed.hash.as_str())
            });
            if part.is_empty() {
                return Ok(());
            }
            let is_known = part
                .iter()
                .all(|hashed| stored.contains_key(&hashed.refresh.brand.store));
            let committed = if is_known {
                self.rebuild_known(state, &mut part, &stored, run).await?
            } else {
                self.commit_changed(state, &mut part, 0, &stored, run).await?
            };
            if let Some((tick, plan)) = committed {
                report.ticks.push(tick);
                report.changed.extend(plan.stores);
                return Ok(());
            }
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    /// One tick without histories; `None` when its number was taken.
    async fn rebuild_known(
        &self,
        state: &mut State,
        part: &mut Vec<HashedRefresh>,
        stored: &HashMap<StoreHost, BrandState>,
        run: &RunSummaryRow,
    ) -> Result<Option<(u64, Plan)>, LakeError> {
        let stores: BTreeSet<_> = part.iter().map(|hashed| hashed.refresh.brand.store.clone()).collect();
        let before = self.before(state, &stores, stored).await?;
        let (tick, buckets) = (state.ended + 1, self.inner.config.buckets);
        let refreshes = std::mem::take(part);
        let (mut plan, refreshes) = compute(move || {
            let plan = plan::refresh(&refreshes, 0, &before, tick, buckets)?;
            Ok((plan, refreshes))
        })
        .await?;
        *part = refreshes;
        plan.rows.retain(|(table, _)| !HISTORIES.contains(table));
        plan.counts.price_changes = 0;
        self.run_tick(state, tick, TickKind::Backfill, Some(run.clone()), plan)
            .await
    }

    /// The number of parts into which the tables are divided by store.
    #[must_use]
    pub fn buckets(&self) -> u32 {
        self.inner.config.buckets
    }
}
