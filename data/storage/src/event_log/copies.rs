//! Copies of events, and the repair of a damaged event or copy from the intact one.

use std::collections::BTreeSet;
use std::ops::Range;

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{EventLog, READS_AT_ONCE, copy_path, is_lost, path};
use crate::{ObjectPath, StorageError, get_bytes, keep_aside, put_over};

/// Objects of an event that are missing or damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultyObject {
    /// The event is faulty, and its copy is intact.
    Event,
    /// The copy is faulty, and the event is intact.
    Copy,
    /// The event and its copy, if any, are faulty. The event is lost.
    Both,
}

/// A missing or damaged event of a log, or its copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFault {
    /// Number of the event.
    pub seq: u64,
    /// Path of the event's object, or of the copy if only the copy is faulty.
    pub path: String,
    /// Objects that are faulty.
    pub object: FaultyObject,
    /// `true` if the object does not exist.
    pub is_missing: bool,
}

/// Maximum number of consecutive numbers that may be lost. An object after a larger gap does not belong to the log.
const GAP_MAX: u64 = 10_000;

fn gap(next: u64, number: u64) -> Range<u64> {
    if number.saturating_sub(next) > GAP_MAX {
        number..number
    } else {
        next..number
    }
}

impl<T: Serialize + DeserializeOwned + Send + Sync> EventLog<T> {
    /// The append succeeds even if the copy fails.
    pub(super) async fn keep_copy(&self, seq: u64, bytes: Bytes) {
        if self.keeps_copies
            && let Err(error) = put_over(&self.storage, &copy_path(seq), bytes).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                prefix = self.prefix,
                seq,
                error,
                "the copy of an event could not be written"
            );
        }
    }

    /// Returns each number from `seq` to the highest with its event, in order. The event is `None` if it is lost.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn read_all_from(&self, seq: u64) -> Result<Vec<(u64, Option<T>)>, StorageError> {
        let mut all = Vec::new();
        for (number, event) in self.read_each_from(seq).await? {
            for gap in gap(all.last().map_or(seq, |(last, _)| last + 1), number) {
                // A listing that ran during concurrent appends may lack the object.
                let read = self.read(gap).await;
                all.push((gap, if is_lost(&read) { None } else { read? }));
            }
            all.push((number, event.ok()));
        }
        for (lost, _) in all.iter().filter(|(_, event)| event.is_none()) {
            let path = format!("{}/{}", self.prefix, path(*lost));
            tracing::warn!(
                path,
                "an event and its copy are lost; `haat lake repair` explains the consequences"
            );
        }
        Ok(all)
    }

    /// Returns the faults of the log, from its first object to its last. A missing copy is not a fault.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn faults(&self) -> Result<Vec<EventFault>, StorageError> {
        let objects = self.objects_from(0).await?;
        let there: BTreeSet<&str> = objects.iter().map(|object| object.path.as_ref()).collect();
        let mut numbers: Vec<u64> = Vec::new();
        for object in &objects {
            let gap = numbers
                .last()
                .map_or(object.seq..object.seq, |last| gap(last + 1, object.seq));
            numbers.extend(gap);
            numbers.push(object.seq);
        }
        numbers.dedup();
        let there = &there;
        let faults = futures::stream::iter(numbers).map(|seq| async move { self.fault_of(seq, there).await });
        let faults: Vec<_> = faults.buffered(READS_AT_ONCE).try_collect().await?;
        Ok(faults.into_iter().flatten().collect())
    }

    async fn fault_of(&self, seq: u64, there: &BTreeSet<&str>) -> Result<Option<EventFault>, StorageError> {
        let is_copy_there = there.contains(copy_path(seq).as_ref());
        let is_event_whole = self.is_whole(&path(seq)).await?;
        let is_copy_whole = is_copy_there && self.is_whole(&copy_path(seq)).await?;
        let (object, at) = match (is_event_whole, is_copy_whole) {
            (false, false) => (FaultyObject::Both, path(seq)),
            (false, true) => (FaultyObject::Event, path(seq)),
            (true, false) if is_copy_there => (FaultyObject::Copy, copy_path(seq)),
            (true, _) => return Ok(None),
        };
        Ok(Some(EventFault {
            seq,
            path: format!("{}/{at}", self.prefix),
            object,
            is_missing: !there.contains(at.as_ref()),
        }))
    }

    async fn is_whole(&self, path: &ObjectPath) -> Result<bool, StorageError> {
        let read = self.read_at(path).await;
        let is_lost = is_lost(&read);
        if !is_lost {
            read?;
        }
        Ok(!is_lost)
    }

    /// Restores the event from its copy, or the copy from the event, byte for byte. The damaged object moves to
    /// `damaged/` of the log. An event whose copy is also lost stays unchanged.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn mend(&self, fault: &EventFault) -> Result<(), StorageError> {
        let (from, to) = match fault.object {
            FaultyObject::Event => (copy_path(fault.seq), path(fault.seq)),
            FaultyObject::Copy => (path(fault.seq), copy_path(fault.seq)),
            FaultyObject::Both => return Ok(()),
        };
        keep_aside(&self.storage, &to).await?;
        match get_bytes(&self.storage, &from).await? {
            Some(bytes) => put_over(&self.storage, &to, bytes).await,
            None => Ok(()),
        }
    }

    /// Replaces a lost event by another one and moves the remains to `damaged/` of the log. Returns `false` and changes
    /// nothing if the event can be read.
    ///
    /// # Errors
    /// The store failed, or the event is too large.
    #[boxed]
    pub async fn replace_lost(&self, seq: u64, event: &T) -> Result<bool, StorageError> {
        let read = self.read(seq).await;
        if !is_lost(&read) {
            return read.map(|_| false);
        }
        for path in [path(seq), copy_path(seq)] {
            keep_aside(&self.storage, &path).await?;
        }
        let bytes = self.encoded(seq, event)?;
        put_over(&self.storage, &path(seq), bytes.clone()).await?;
        self.keep_copy(seq, bytes).await;
        Ok(true)
    }
}
