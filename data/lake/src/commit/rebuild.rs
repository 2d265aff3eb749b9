//! Rebuilds brands from their landed pages. Their current rows are replaced, but the histories get no rows, because
//! rereading the same pages observes nothing new.

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

/// A brand that was read again from its landed pages, and the content that it replaces.
#[derive(Debug)]
pub struct RebuiltCatalogue {
    /// Catalogue read from the landed pages.
    pub refresh: HashedRefresh,
    /// Expected [`crate::BrandRow::catalogue_hash`] of the brand in the lake. `None` if the lake did not have the
    /// brand.
    pub instead_of: Option<String>,
}

/// Result of [`Lake::rebuild`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RebuildReport {
    /// Numbers of the commit batches, empty if nothing changed.
    pub ticks: Vec<u64>,
    /// Stores whose current rows were replaced.
    pub changed: Vec<StoreHost>,
    /// Stores whose content was already stored.
    pub unchanged: Vec<StoreHost>,
    /// Stores that were skipped, because their content in the lake no longer matches `instead_of`.
    pub overtaken: Vec<StoreHost>,
}

const HISTORIES: [TableName; 2] = [TableName::PriceHistory, TableName::ProductHistory];

impl Lake {
    /// Replaces the current rows of brands by the content of their landed pages, however old these pages are.
    /// `price_history` and `product_history` stay as they are. A brand that the lake does not have is committed like
    /// the result of a first crawl. A brand that another process changed meanwhile is skipped.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
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

    /// The commit batch has no history rows. Returns `None` if its number was taken.
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

    /// Returns the number of buckets into which the tables are partitioned by store.
    #[must_use]
    pub fn buckets(&self) -> u32 {
        self.inner.config.buckets
    }
}
