//! Reads the price history: rows of `price_history` by store and product.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_recursion::async_recursion as boxed;
use data_model::{PriceEvent, PricePoint, StoreHost, VariantId};
use futures::StreamExt;

use crate::delta::{data_files, read};
use crate::error::lost_file;
use crate::files::{Decoder, FileBytes, Scan, compute};
use crate::rows::history::points;
use crate::rows::offers::Offer;
use crate::{LakeError, LakeSnapshot, StoreHistory, TableName};

const READS_AT_ONCE: usize = 8;

impl LakeSnapshot {
    /// Returns all recorded price observations of these stores. Of the whole table, only the column `store` is read,
    /// and of the other columns only the requested rows.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn price_history(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, StoreHistory>, LakeError> {
        match self.readable_price_history(stores).await? {
            (history, None) => Ok(history),
            (_, Some(error)) => Err(error),
        }
    }

    /// Returns the price history as [`LakeSnapshot::price_history`] does, without missing or damaged files. Also
    /// returns the error of the first such file.
    ///
    /// # Errors
    /// The storage fails.
    #[boxed]
    pub async fn readable_price_history(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<(BTreeMap<StoreHost, StoreHistory>, Option<LakeError>), LakeError> {
        const TABLE: TableName = TableName::PriceHistory;
        let storage = self.lake.inner.storage.child(TABLE.as_str());
        let files = data_files(TABLE, self.table(TABLE).await?);
        let decoded = futures::stream::iter(files.into_iter().map(|file| {
            let (storage, stores) = (storage.clone(), stores.clone());
            async move {
                let bytes = read(&storage, TABLE, std::slice::from_ref(&file)).await?;
                let decode = move || {
                    let wanted = Scan {
                        stores: Some(&stores),
                        columns: None,
                    };
                    let mut runs = Vec::new();
                    for FileBytes { path, bytes } in bytes {
                        for batch in Decoder::new(TABLE, &path, bytes, wanted)? {
                            runs.extend(points(&batch?)?);
                        }
                    }
                    Ok(runs)
                };
                compute(decode).await
            }
        }));
        let mut decoded = decoded.buffered(READS_AT_ONCE);
        let (mut runs, mut lost) = (Vec::new(), None);
        while let Some(read) = decoded.next().await {
            match read {
                Ok(more) => runs.push(more),
                Err(error) if lost_file(&error).is_some() => lost = lost.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        let mut histories: BTreeMap<StoreHost, HashMap<u64, Vec<TickPoint>>> = BTreeMap::new();
        for (store, observed) in runs.into_iter().flatten() {
            let history = histories.entry(store).or_default();
            for (product, tick, point) in observed {
                history.entry(product).or_default().push(TickPoint { tick, point });
            }
        }
        let histories = histories.into_iter();
        Ok((
            histories.map(|(store, history)| (store, ordered(history))).collect(),
            lost,
        ))
    }
}

struct TickPoint {
    tick: u64,
    point: PricePoint,
}

/// Returns the history of each product of a store, newest first.
fn ordered(history: HashMap<u64, Vec<TickPoint>>) -> StoreHistory {
    let newest_first = |(product, mut points): (u64, Vec<TickPoint>)| {
        // Clocks may have been wrong, so that the commit batch number is compared first.
        points.sort_by_key(|TickPoint { tick, point }| {
            let at = std::cmp::Reverse((*tick, point.observed_at));
            (at, point.variant)
        });
        let (mut last, mut told) = (HashMap::<VariantId, PricePoint>::new(), HashSet::new());
        let oldest_first = points.into_iter().rev().map(|one| one.point);
        let oldest_first =
            oldest_first.filter(|point| told.insert((point.variant, point.observed_at, Offer::of(point))));
        let mut changes: Vec<_> = oldest_first
            .filter_map(|mut point| {
                let now = Offer::of(&point);
                // A crawl that finds a variant again does not know its state before the last crawl, so that the event
                // is derived here.
                if let Some(before) = last.get(&point.variant).map(Offer::of) {
                    point.event = match (before, now) {
                        (before, now) if before == now => return None,
                        (_, None) => PriceEvent::Gone,
                        (None, Some(_)) => PriceEvent::Returned,
                        (Some(_), Some(_)) => PriceEvent::Changed,
                    };
                }
                last.insert(point.variant, point);
                Some(point)
            })
            .collect();
        changes.reverse();
        (product, changes)
    };
    history.into_iter().map(newest_first).collect()
}
