//! A lake of an earlier version gets the tables that it lacks.

use std::collections::BTreeMap;

use crate::apply::{compute, read};
use crate::files::Wanted;
use crate::lake::State;
use crate::layout::complete;
use crate::lost::lost_file;
use crate::plan::Plan;
use crate::replace::load;
use crate::rows::history::Observed;
use crate::rows::product_history::{READ, first_seen};
use crate::rows::runs::TickCounts;
use crate::tick::TickKind;
use crate::{Lake, LakeError, TableName};

impl Lake {
    /// Gives `product_history`, which was created just now, a row of every product that is there: all that is known of
    /// them is that they are there by now. One tick does so, at once for all brands.
    pub(crate) async fn adopt(&self, state: &mut State) -> Result<(), LakeError> {
        for _ in 0..self.inner.config.attempts_max.max(1) {
            // With the records of earlier ticks lost, its number follows the tables.
            self.tables(state).await?;
            self.settle(state).await?;
            let tables = self.tables(state).await?;
            let is_adopted = tables
                .get(&TableName::ProductHistory)
                .is_none_or(|table| table.tick() > 0);
            let Some(products) = tables.get(&TableName::Products).filter(|_| !is_adopted) else {
                return complete(&self.inner.storage, &self.inner.config).await;
            };
            let (files, storage) = (products.files(), products.storage.clone());
            let (tick, at, mut rows) = (state.ended + 1, self.inner.clock.now(), Vec::new());
            for file in files {
                let bytes = match read(&storage, TableName::Products, &[file]).await {
                    Err(error) if lost_file(&error).is_some() => {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(error, "products of which nothing can be read are left out");
                        continue;
                    }
                    bytes => bytes?,
                };
                let first = compute(move || {
                    let wanted = Wanted {
                        stores: None,
                        columns: Some(READ),
                    };
                    let observed = Observed {
                        since: at,
                        at,
                        run: None,
                        tick,
                    };
                    let batches = load(TableName::Products, bytes, wanted)?;
                    batches
                        .iter()
                        .map(|batch| first_seen(batch, observed))
                        .collect::<Result<Vec<_>, _>>()
                });
                rows.extend(first.await?);
            }
            if rows.is_empty() {
                return complete(&self.inner.storage, &self.inner.config).await;
            }
            tracing::info!(tick, "product_history is made of the products that are there");
            let plan = Plan {
                stores: Vec::new(),
                counts: TickCounts::default(),
                rows: vec![(TableName::ProductHistory, rows)],
                gone: BTreeMap::new(),
            };
            // Another process may take the number; the next round then finds its work.
            self.run_tick(state, tick, TickKind::Adopt, None, plan).await?;
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }
}
