use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Storage, StorageError, get_bytes, put_new};

/// An append-only log of JSON events, `{prefix}/{seq:020}.json`, numbered from 1.
///
/// Each number has exactly one winner, whoever writes from wherever; there is no lock. Events are never
/// changed, and deleted only by [`EventLog::forget_below`].
#[derive(Debug)]
pub struct EventLog<T> {
    storage: Storage,
    prefix: String,
    // A lower bound of the highest number, so that a long log is listed from there.
    seen: AtomicU64,
    event: PhantomData<fn(T) -> T>,
}

/// How many numbers in a row [`EventLog::append`] tries while others win them.
const ATTEMPTS_MAX: u32 = 4096;
/// How large one event may be.
const EVENT_BYTES_MAX: u64 = 16 << 20;
/// How many events are read at the same time.
const READS_AT_ONCE: usize = 16;

#[derive(Serialize)]
struct Written<'a, T> {
    /// Tells this writer's event from another's that says the same.
    entry: String,
    event: &'a T,
}

#[derive(Deserialize)]
struct Read<T> {
    event: T,
}

impl<T: Serialize + DeserializeOwned> EventLog<T> {
    /// The log under `prefix` of `storage`; an empty prefix is the storage's root. Nothing is written yet.
    #[must_use]
    pub fn new(storage: &Storage, prefix: &str) -> Self {
        let storage = storage.child(prefix);
        Self {
            storage,
            prefix: prefix.to_owned(),
            seen: AtomicU64::new(0),
            event: PhantomData,
        }
    }

    /// Appends an event under the lowest free number and returns the number.
    ///
    /// # Errors
    /// The store failed (whether the event was appended is unknown), or others won too many numbers in a row.
    pub async fn append(&self, event: &T) -> Result<u64, StorageError> {
        let mut seq = self.latest_seq().await?.unwrap_or(0) + 1;
        for _ in 0..ATTEMPTS_MAX {
            if self.append_at(seq, event).await? {
                return Ok(seq);
            }
            seq += 1;
        }
        Err(StorageError::LogContended {
            prefix: self.prefix.clone(),
            attempts: ATTEMPTS_MAX,
        })
    }

    /// Appends an event under this very number; `false` when another event has it.
    ///
    /// # Errors
    /// The store failed; whether the event was appended is unknown.
    pub async fn append_at(&self, seq: u64, event: &T) -> Result<bool, StorageError> {
        let path = path(seq);
        let name = || format!("{}/{path}", self.prefix);
        let entry = Written {
            entry: Uuid::new_v4().to_string(),
            event,
        };
        let bytes = serde_json::to_vec(&entry).map_err(|source| StorageError::EncodeEvent { path: name(), source })?;
        if bytes.len() as u64 > EVENT_BYTES_MAX {
            let (bytes, bytes_max) = (bytes.len() as u64, EVENT_BYTES_MAX);
            return Err(StorageError::EventTooLarge {
                path: name(),
                bytes,
                bytes_max,
            });
        }
        let bytes = bytes::Bytes::from(bytes);
        let first = put_new(&self.storage, &path, bytes.clone()).await?
            // The answer to our own put may have been lost and its retry refused: what stands there may be ours.
            || get_bytes(&self.storage, &path).await?.is_some_and(|stored| stored == bytes);
        self.seen.fetch_max(seq, Ordering::Relaxed);
        Ok(first)
    }

    /// The events numbered `seq` and above, in order.
    ///
    /// # Errors
    /// The store failed, or an object is no such event.
    pub async fn read_from(&self, seq: u64) -> Result<Vec<(u64, T)>, StorageError> {
        let numbers = self.numbers_from(seq).await?;
        futures::stream::iter(
            numbers
                .into_iter()
                .map(|seq| async move { Ok((seq, self.read(seq).await?)) }),
        )
        .buffered(READS_AT_ONCE)
        .try_filter_map(|(seq, event)| async move { Ok(event.map(|event| (seq, event))) })
        .try_collect()
        .await
    }

    /// The event with this number, where there is one.
    ///
    /// # Errors
    /// The store failed, or the object is no such event.
    pub async fn read(&self, seq: u64) -> Result<Option<T>, StorageError> {
        let path = path(seq);
        let name = format!("{}/{path}", self.prefix);
        let answer = match self.storage.store().get(&path).await {
            Ok(answer) => answer,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(source) => return Err(StorageError::Read { path: name, source }),
        };
        let (bytes, bytes_max) = (answer.meta.size, EVENT_BYTES_MAX);
        if bytes > bytes_max {
            return Err(StorageError::EventTooLarge {
                path: name,
                bytes,
                bytes_max,
            });
        }
        let bytes = answer.bytes().await.map_err(|source| StorageError::Read {
            path: name.clone(),
            source,
        })?;
        let read: Read<T> =
            serde_json::from_slice(&bytes).map_err(|source| StorageError::DecodeEvent { path: name, source })?;
        Ok(Some(read.event))
    }

    /// The event with the highest number, where there is any.
    ///
    /// # Errors
    /// The store failed, or the object is no such event.
    pub async fn latest(&self) -> Result<Option<(u64, T)>, StorageError> {
        let Some(seq) = self.latest_seq().await? else {
            return Ok(None);
        };
        Ok(self.read(seq).await?.map(|event| (seq, event)))
    }

    /// The highest number taken, where there is any; cheaper than [`EventLog::latest`].
    ///
    /// # Errors
    /// The store failed.
    pub async fn latest_seq(&self) -> Result<Option<u64>, StorageError> {
        Ok(self
            .numbers_from(self.seen.load(Ordering::Relaxed))
            .await?
            .last()
            .copied())
    }

    /// Deletes the events numbered below `seq`: for a log whose every event says all that is known. The newest event
    /// always stays.
    ///
    /// # Errors
    /// The store failed; some may be gone.
    pub async fn forget_below(&self, seq: u64) -> Result<(), StorageError> {
        let numbers = self.numbers_from(0).await?;
        let newest = numbers.last().copied().unwrap_or(0);
        let old = numbers.into_iter().filter(move |number| *number < seq.min(newest));
        let paths = futures::stream::iter(old.map(|number| Ok(path(number)))).boxed();
        let deleted = self.storage.store().delete_stream(paths);
        deleted
            .try_for_each(|_| async { Ok(()) })
            .await
            .map_err(|source| StorageError::Write {
                path: self.prefix.clone(),
                source,
            })
    }

    async fn numbers_from(&self, seq: u64) -> Result<Vec<u64>, StorageError> {
        let listed = match seq.checked_sub(1) {
            Some(before) => self.storage.store().list_with_offset(None, &path(before)),
            None => self.storage.store().list(None),
        };
        let list = |source| StorageError::List {
            prefix: self.prefix.clone(),
            source,
        };
        let mut numbers: Vec<u64> = listed
            .try_filter_map(|meta| async move { Ok(number(&meta.location)) })
            .try_collect()
            .await
            .map_err(list)?;
        numbers.retain(|number| *number >= seq);
        numbers.sort_unstable();
        if let Some(last) = numbers.last() {
            self.seen.fetch_max(*last, Ordering::Relaxed);
        }
        Ok(numbers)
    }
}

fn path(seq: u64) -> Path {
    Path::from(format!("{seq:020}.json"))
}

fn number(path: &Path) -> Option<u64> {
    let digits = path.as_ref().strip_suffix(".json")?;
    (digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}
