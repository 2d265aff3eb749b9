//! Commits shipping terms, which are read from stores' texts separately from crawls.

use std::collections::BTreeSet;

use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::{ShippingPolicy, StoreHost};

use super::attempts::Attempts;
use super::plan;
use super::store_update::{StoreUpdate, sorted};
use crate::rows::columns::{Columns, store_runs};
use crate::ticks::TickKind;
use crate::{CommitReport, Lake, LakeError, TableName};

impl Lake {
    /// Replaces the stored shipping terms of each store. `None` deletes them. Stores that are not in the lake or whose
    /// terms differ only in the time of reading are skipped. If all are skipped, nothing is written. Crawls keep these
    /// terms.
    ///
    /// # Errors
    /// The errors of [`Lake::commit`].
    #[boxed]
    pub async fn commit_shipping(
        &self,
        told: Vec<StoreUpdate<Option<ShippingPolicy>>>,
    ) -> Result<CommitReport, LakeError> {
        let buckets = self.inner.config.buckets;
        let told = sorted(told, buckets)?;
        let stores: BTreeSet<StoreHost> = told.iter().map(|update| update.store.clone()).collect();
        let mut state = self.state().await;
        let mut attempts = Attempts::default();
        loop {
            attempts.next(self, &mut state).await?;
            let known = self.stored(&mut state, &stores).await?;
            let held = self.snapshot().await?.shipping(&stores).await?;
            let is_changed = |update: &&StoreUpdate<Option<ShippingPolicy>>| {
                known.contains_key(&update.store) && !says_the_same(held.get(&update.store), update.known.as_ref())
            };
            let plan = plan::shipping(told.iter().filter(is_changed), buckets)?;
            if let Some(report) = self.commit_some(&mut state, TickKind::Shipping, &stores, plan).await? {
                return Ok(report);
            }
        }
    }
}

/// The time of reading is ignored.
fn says_the_same(held: Option<&ShippingPolicy>, told: Option<&ShippingPolicy>) -> bool {
    let (Some(held), Some(told)) = (held, told) else {
        return held.is_none() && told.is_none();
    };
    let mut told = told.clone();
    if let (Some(told), Some(held)) = (&mut told.terms, &held.terms) {
        told.observed_at = held.observed_at;
    }
    *held == told
}

/// Returns the stores whose rows are removed, or `None` for all stores of the commit batch. A crawl that found no
/// shipping terms keeps the stored ones, because they were read separately from a text.
pub(crate) fn replaced_stores<'a>(
    table: TableName,
    kind: TickKind,
    rows: impl IntoIterator<Item = &'a RecordBatch>,
) -> Result<Option<BTreeSet<StoreHost>>, LakeError> {
    let crawled = matches!(kind, TickKind::Refresh | TickKind::Backfill);
    if table != TableName::ShippingPolicies || !crawled {
        return Ok(None);
    }
    let mut found = BTreeSet::new();
    for batch in rows {
        let columns = Columns::new(table, batch);
        let store = columns.text("store")?;
        for run in store_runs(store) {
            found.insert(columns.parse("store", store.value(run.start))?);
        }
    }
    Ok(Some(found))
}
