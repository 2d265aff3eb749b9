//! Reads and writes the records of commit batches in storage.

use std::sync::Arc;

use bytes::Bytes;
use data_storage::{ObjectPath, Storage, StorageError, delete, get_bytes, list_after, list_all, put_new, put_over};
use futures::{StreamExt, TryStreamExt};
use uuid::Uuid;

use super::record::{PackedRows, StagedTable, TickEnd, TickRecord};
use crate::LakeError;

/// Numbers of the last commit batch that was recorded and of the last that ended, or 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) recorded: u64,
    pub(crate) ended: u64,
}

/// Records of a lake's commit batches, stored below `_ticks`.
#[derive(Debug)]
pub(crate) struct Ticks {
    storage: Storage,
}

enum Entry {
    Record(u64),
    End(u64),
}

impl Ticks {
    pub(crate) fn new(lake: &Storage) -> Self {
        Self {
            storage: lake.child("_ticks"),
        }
    }

    /// `from` is the number of a commit batch that is known to have ended.
    pub(crate) async fn head(&self, from: u64) -> Result<Head, LakeError> {
        let mut head = Head {
            recorded: from,
            ended: from,
        };
        for entry in self.entries(from).await? {
            match entry {
                Entry::Record(tick) => head.recorded = head.recorded.max(tick),
                Entry::End(tick) => head.ended = head.ended.max(tick),
            }
        }
        Ok(head)
    }

    /// Returns the numbers of the commit batches that have an end record, in ascending order.
    pub(crate) async fn ended(&self) -> Result<Vec<u64>, LakeError> {
        let entries = self.entries(0).await?;
        let mut ended: Vec<u64> = entries
            .into_iter()
            .filter_map(|entry| if let Entry::End(tick) = entry { Some(tick) } else { None })
            .collect();
        ended.sort_unstable();
        Ok(ended)
    }

    /// Returns `true` if neither this commit batch nor a later one has a record.
    pub(crate) async fn is_ahead(&self, tick: u64) -> Result<bool, LakeError> {
        Ok(tick > 0 && self.entries(tick).await?.is_empty())
    }

    async fn entries(&self, from: u64) -> Result<Vec<Entry>, LakeError> {
        let offset = ObjectPath::from(format!("{from:020}"));
        let listed = list_after(&self.storage, None, &offset).await?;
        Ok(listed.iter().filter_map(|meta| entry(&meta.location)).collect())
    }

    pub(crate) async fn record(&self, tick: u64) -> Result<Option<TickRecord>, LakeError> {
        self.read(record_path(tick)).await
    }

    pub(crate) async fn end(&self, tick: u64) -> Result<Option<TickEnd>, LakeError> {
        self.read(end_path(tick)).await
    }

    async fn read<T: serde::de::DeserializeOwned>(&self, path: ObjectPath) -> Result<Option<T>, LakeError> {
        let Some(bytes) = get_bytes(&self.storage, &path).await? else {
            return Ok(None);
        };
        let record = |source| LakeError::TickRecord {
            path: format!("_ticks/{path}"),
            source,
        };
        serde_json::from_slice(&bytes).map(Some).map_err(record)
    }

    /// Stages a commit batch's rows under a name that only the batch's record will contain.
    pub(crate) async fn stage(&self, tick: u64, packed: PackedRows) -> Result<(String, Vec<StagedTable>), LakeError> {
        let token = Uuid::new_v4().to_string();
        let PackedRows { bytes, staged } = packed;
        if !bytes.is_empty() {
            put_over(&self.storage, &staged_path(tick, &token), bytes).await?;
        }
        Ok((token, staged))
    }

    /// Claims the commit batch's number by writing its record. Returns `false` if another process has the number.
    pub(crate) async fn begin(&self, record: &TickRecord) -> Result<bool, LakeError> {
        let path = record_path(record.tick);
        let encode = |source| LakeError::TickRecord {
            path: format!("_ticks/{path}"),
            source,
        };
        let bytes = Bytes::from(serde_json::to_vec(record).map_err(encode)?);
        // The response to this process's own put may have been lost and its retry refused. The token in the stored
        // record shows which process won.
        Ok(put_new(&self.storage, &path, bytes.clone()).await?
            || get_bytes(&self.storage, &path)
                .await?
                .is_some_and(|stored| stored == bytes))
    }

    /// If another process ended the commit batch first, returns its end record.
    pub(crate) async fn finish(&self, end: TickEnd) -> Result<TickEnd, LakeError> {
        let path = end_path(end.tick);
        let encode = |source| LakeError::TickRecord {
            path: format!("_ticks/{path}"),
            source,
        };
        let bytes = serde_json::to_vec(&end).map_err(encode)?;
        if put_new(&self.storage, &path, bytes).await? {
            return Ok(end);
        }
        let ended = self.end(end.tick).await?;
        ended.ok_or(LakeError::EndMissing { tick: end.tick })
    }

    /// Removes a staged object whose commit batch number went to another process.
    pub(crate) async fn unstage(&self, tick: u64, token: &str) -> Result<(), LakeError> {
        // A commit batch whose rows are all in data files has no staged object.
        Ok(delete(&self.storage, &staged_path(tick, token)).await?)
    }

    /// Removes everything that any process staged for the ended commit batch.
    pub(crate) async fn clear(&self, tick: u64) -> Result<(), LakeError> {
        let prefix = format!("{tick:020}-");
        let offset = ObjectPath::from(format!("{tick:020}"));
        let store = Arc::clone(self.storage.store());
        let listed = store.list_with_offset(None, &offset).map_ok(|meta| meta.location);
        let staged = listed.try_filter(move |path| futures::future::ready(path.as_ref().starts_with(&prefix)));
        let deleted = store
            .delete_stream(staged.boxed())
            .try_for_each(|_| async { Ok(()) })
            .await;
        Ok(deleted.map_err(|source| StorageError::Write {
            path: format!("_ticks/{offset}"),
            source,
        })?)
    }

    /// Returns the objects of commit batches below `tick` that can be removed: records, ends, and leftover staged
    /// objects.
    pub(crate) async fn below(&self, tick: u64) -> Result<Vec<object_store::ObjectMeta>, LakeError> {
        let mut listed = list_all(&self.storage, None).await?;
        listed.retain(|meta| {
            let digits = meta.location.as_ref().get(..20);
            let number = digits.and_then(|digits| digits.parse::<u64>().ok());
            number.is_some_and(|number| number < tick)
        });
        Ok(listed)
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }
}

fn record_path(tick: u64) -> ObjectPath {
    ObjectPath::from(format!("{tick:020}.json"))
}

fn end_path(tick: u64) -> ObjectPath {
    ObjectPath::from(format!("{tick:020}.done.json"))
}

pub(crate) fn staged_path(tick: u64, token: &str) -> ObjectPath {
    ObjectPath::from(format!("{tick:020}-{token}.arrow"))
}

fn entry(path: &ObjectPath) -> Option<Entry> {
    let (digits, rest) = path.as_ref().split_at_checked(20)?;
    let tick = digits.parse().ok()?;
    match rest {
        ".json" => Some(Entry::Record(tick)),
        ".done.json" => Some(Entry::End(tick)),
        _ => None,
    }
}
