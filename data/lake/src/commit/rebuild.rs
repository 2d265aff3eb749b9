//! Rebuilds brands from their landed pages. Their current rows are replaced, but the histories get no rows, because
//! rereading the same pages observes nothing new.

use std::collections::{BTreeMap, HashMap};

use async_recursion::async_recursion as boxed;
use data_model::StoreHost;

use super::attempts::Attempts;
use super::hash::HashedRefresh;
use super::parts::{cut, sorted};
use super::plan::CommitReport;
use crate::rows::brands::BrandState;
use crate::rows::runs::RunSummaryRow;
use crate::ticks::TickKind;
use crate::{Lake, LakeError};

/// A brand that was read again from its landed pages, and the content that it replaces.
#[derive(Debug)]
pub struct RebuiltCatalogue {
    /// Catalogue read from the landed pages.
    pub refresh: HashedRefresh,
    /// Expected [`crate::BrandRow::catalogue_hash`] of the brand in the lake. `None` if the lake did not have the
    /// brand.
    pub instead_of: Option<String>,
}

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
    ) -> Result<CommitReport, LakeError> {
        let store = |one: &RebuiltCatalogue| one.refresh.refresh.brand.store.clone();
        let instead_of = rebuilt.iter().map(|one| (store(one), one.instead_of.clone()));
        let instead_of: BTreeMap<StoreHost, Option<String>> = instead_of.collect();
        let (known, new): (Vec<_>, Vec<_>) = rebuilt.into_iter().partition(|one| one.instead_of.is_some());
        let mut report = CommitReport::default();
        let mut state = self.state().await;
        for (kind, refreshes) in [(TickKind::Backfill, known), (TickKind::Refresh, new)] {
            let refreshes = refreshes.into_iter().map(|one| one.refresh).collect();
            for mut part in cut(sorted(refreshes, self.inner.config.buckets)?) {
                let mut attempts = Attempts::default();
                loop {
                    attempts.next(self, &mut state).await?;
                    let stores = part.iter().map(|hashed| hashed.refresh.brand.store.clone());
                    let stored = self.stored(&mut state, &stores.collect()).await?;
                    part.retain(|hashed| is_to_rebuild(hashed, &stored, &instead_of, &mut report));
                    if part.is_empty() {
                        break;
                    }
                    let plan = self.plan_changed(&mut state, kind, &mut part, 0, &stored).await?;
                    if let Some(landed) = self.run_tick(&mut state, kind, Some(run.clone()), plan).await? {
                        report.add(landed);
                        break;
                    }
                }
            }
        }
        Ok(report)
    }

    /// Returns the number of buckets into which the tables are partitioned by store.
    #[must_use]
    pub fn buckets(&self) -> u32 {
        self.inner.config.buckets
    }
}

/// Returns `false` and reports the store if the lake has the catalogue already, or content that it does not replace.
fn is_to_rebuild(
    hashed: &HashedRefresh,
    stored: &HashMap<StoreHost, BrandState>,
    instead_of: &BTreeMap<StoreHost, Option<String>>,
    report: &mut CommitReport,
) -> bool {
    let store = &hashed.refresh.brand.store;
    let has = stored.get(store).map(|stored| stored.hash.as_str());
    if has == Some(hashed.hash.as_str()) {
        report.unchanged.push(store.clone());
        return false;
    }
    let is_as_it_was = has == instead_of.get(store).and_then(Option::as_deref);
    if !is_as_it_was {
        report.overtaken.push(store.clone());
    }
    is_as_it_was
}
