use std::collections::BTreeMap;

use pipeline_crawl::StatedFacts;

use super::Collector;
use crate::error::with_causes;
use crate::store::Ready;

impl Collector {
    /// Returns the brands of the batch without those whose store turned out to belong to another brand.
    pub(super) async fn own_stores(&mut self, batch: Vec<Ready>) -> Vec<Ready> {
        let stated = batch.iter().map(|ready| StatedFacts {
            store: ready.rest.brand.store.clone(),
            facts: ready.rest.crawl.facts.clone(),
        });
        let (stated, now) = (stated.collect::<Vec<_>>(), self.shared.clock.now());
        let others = match self.registry.identify(&self.shared.storage, &stated, now).await {
            Ok(others) => others,
            Err(error) => {
                tracing::warn!(
                    error = with_causes(&error),
                    "the stores' identities could not be registered"
                );
                BTreeMap::new()
            }
        };
        let mut own = Vec::with_capacity(batch.len());
        for ready in batch {
            match others.get(&ready.rest.brand.store) {
                None => own.push(ready),
                Some(slug) => {
                    let reason = format!("the brand has the same store as {slug}: remove one of the two brands");
                    self.refuse(ready.rest, "another_store", reason).await;
                }
            }
        }
        own
    }
}
