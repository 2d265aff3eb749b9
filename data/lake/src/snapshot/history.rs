//! Reads the price history: rows of `price_history` by store and product.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_recursion::async_recursion as boxed;
use data_model::{PriceEvent, PricePoint, StoreHost, VariantId};

use super::ReadableRows;
use crate::files::Scan;
use crate::rows::history::points;
use crate::rows::offers::Offer;
use crate::{LakeError, LakeSnapshot, StoreHistory, TableName};

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
        let read = self.readable_rows(TableName::PriceHistory, None, Scan::of(stores), points);
        let ReadableRows { rows, lost } = read.await?;
        let mut histories: BTreeMap<StoreHost, HashMap<u64, Vec<TickPoint>>> = BTreeMap::new();
        for (store, observed) in rows {
            let history = histories.entry(store).or_default();
            for (product, tick, point) in observed {
                history.entry(product).or_default().push(TickPoint { tick, point });
            }
        }
        let histories = histories.into_iter();
        Ok((
            histories.map(|(store, history)| (store, ordered(history))).collect(),
            lost.into_iter().next(),
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
