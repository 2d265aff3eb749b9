//! Answers of review apps that are no review: rows of `quarantine` beside those of crawls, which crawls keep.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::BooleanArray;
use arrow::compute::filter_record_batch;
use arrow::record_batch::RecordBatch;
use async_recursion::async_recursion as boxed;
use data_model::{Quarantined, StoreHost};

use crate::replace::sort;
use crate::rows::columns::Columns;
use crate::rows::quarantine::{REFUSED_FROM, refused};
use crate::tick::TickKind;
use crate::widgets::ReviewChanges;
use crate::{LakeError, LakeSnapshot, TableName};

/// Most refused records of review apps that are held of one store; what comes beyond them is left out.
pub const REFUSED_REVIEWS_MAX: usize = 1_000;

/// A row of a refused record, and its place in the table.
pub(crate) type PlacedRecord = (i64, Quarantined);

impl ReviewChanges {
    /// Leaves of the refused records what is not stored just so, and gives each its place: its own, or the next.
    pub(crate) fn refused_beside(&mut self, stored: &[PlacedRecord]) -> Vec<PlacedRecord> {
        let held: BTreeMap<&str, &PlacedRecord> = stored.iter().map(|one| (one.1.subject.as_str(), one)).collect();
        let told = std::mem::take(&mut self.refused).into_iter();
        let told: BTreeMap<String, Quarantined> = told.map(|one| (one.subject.clone(), one)).collect();
        let gone: BTreeSet<String> = std::mem::take(&mut self.refused_gone).into_iter().collect();
        let leaves = |subject: &String| held.contains_key(subject.as_str()) && !told.contains_key(subject);
        self.refused_gone = gone.into_iter().filter(leaves).collect();
        let mut next = stored.iter().map(|(place, _)| place + 1).max().unwrap_or(REFUSED_FROM);
        let mut room = (REFUSED_REVIEWS_MAX + self.refused_gone.len()).saturating_sub(stored.len());
        let mut placed = Vec::new();
        for (subject, record) in told {
            match held.get(subject.as_str()) {
                Some((_, stored)) if *stored == record => {}
                Some((place, _)) => placed.push((*place, record)),
                None if room > 0 => {
                    placed.push((next, record));
                    (next, room) = (next + 1, room - 1);
                }
                None => {}
            }
        }
        self.refused = placed.iter().map(|(_, record)| record.clone()).collect();
        placed
    }
}

impl LakeSnapshot {
    /// The answers of these stores' review apps that are no review or rating, by store, then subject.
    ///
    /// # Errors
    /// The storage fails or a file is not readable.
    #[boxed]
    pub async fn refused_reviews(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, Vec<Quarantined>>, LakeError> {
        let placed = self.placed_refused(stores).await?.into_iter();
        let records = placed.map(|(store, placed)| {
            let mut records: Vec<_> = placed.into_iter().map(|(_, record)| record).collect();
            records.sort_by(|one, other| one.subject.cmp(&other.subject));
            (store, records)
        });
        Ok(records.collect())
    }

    pub(crate) async fn placed_refused(
        &self,
        stores: &BTreeSet<StoreHost>,
    ) -> Result<BTreeMap<StoreHost, Vec<PlacedRecord>>, LakeError> {
        let mut known: BTreeMap<StoreHost, Vec<PlacedRecord>> = BTreeMap::new();
        for placed in self.rows(TableName::Quarantine, Some(stores), refused).await? {
            known.entry(placed.1.store.clone()).or_default().push(placed);
        }
        Ok(known)
    }
}

/// `true` where such a tick leaves the rows of refused reviews.
pub(crate) fn keeps_refused(table: TableName, kind: TickKind) -> bool {
    table == TableName::Quarantine && matches!(kind, TickKind::Refresh | TickKind::Backfill)
}

/// The new rows of some stores with those of refused reviews among their old ones.
pub(crate) fn with_refused(
    old: &[RecordBatch],
    stores: &BTreeSet<StoreHost>,
    mut new: Vec<RecordBatch>,
) -> Result<Vec<RecordBatch>, LakeError> {
    const TABLE: TableName = TableName::Quarantine;
    let stores: BTreeSet<&str> = stores.iter().map(StoreHost::as_str).collect();
    let before = new.len();
    for batch in old {
        let columns = Columns::new(TABLE, batch);
        let (store, position) = (columns.text("store")?, columns.int("position")?);
        let stays = |row| position.value(row) >= REFUSED_FROM && stores.contains(store.value(row));
        let mask: BooleanArray = (0..batch.num_rows()).map(|row| Some(stays(row))).collect();
        if mask.true_count() > 0 {
            let kept = filter_record_batch(batch, &mask).map_err(|source| LakeError::Columns {
                table: TABLE.as_str(),
                source,
            })?;
            new.push(kept);
        }
    }
    if new.len() == before {
        Ok(new)
    } else {
        sort(TABLE, &new)
    }
}
