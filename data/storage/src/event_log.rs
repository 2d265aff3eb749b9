mod checksum;
mod copies;

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use async_recursion::async_recursion as boxed;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Storage, StorageError, delete, get_bytes, keep_aside, list_after, list_all, put_new};

pub use copies::{EventFault, FaultyObject};

/// An append-only log of JSON events, numbered from 1 and stored as `{prefix}/{seq:020}.json`.
///
/// Concurrent writers need no lock: exactly one of them gets each number. Events never change. Only
/// [`EventLog::forget_below`] and [`EventLog::remove_damaged`] delete events. An event whose bytes were altered is
/// damaged, even if it is still valid JSON.
///
/// A log created [`EventLog::with_copies`] also stores each event as `{seq:020}.copy`. If one of the two objects is
/// lost or damaged, readers still get the event. [`EventLog::faults`] lists such objects and [`EventLog::mend`]
/// restores them.
#[derive(Debug)]
pub struct EventLog<T> {
    storage: Storage,
    prefix: String,
    // Lower bound of the highest number. The listing of a long log starts there.
    seen: AtomicU64,
    keeps_copies: bool,
    event: PhantomData<fn(T) -> T>,
}

#[derive(Debug)]
struct LogObject {
    seq: u64,
    path: Path,
}

/// Maximum number of consecutive numbers that [`EventLog::append`] tries while other writers take them.
const ATTEMPTS_MAX: u32 = 4096;
/// Maximum number of puts of an event under one number if responses are lost and the object is absent.
const PUTS_MAX: u32 = 3;
const EVENT_BYTES_MAX: u64 = 16 << 20;
const READS_AT_ONCE: usize = 16;

#[derive(Serialize)]
struct NewEvent<'a, T> {
    /// Unique id that distinguishes this writer's event from an equal event of another writer.
    entry: String,
    event: &'a T,
}

#[derive(Deserialize)]
struct StoredEvent<T> {
    event: T,
}

impl<T: Serialize + DeserializeOwned + Send + Sync> EventLog<T> {
    /// Creates the log under `prefix` of `storage` without writing. An empty prefix means the root of the storage.
    #[must_use]
    pub fn new(storage: &Storage, prefix: &str) -> Self {
        let storage = storage.child(prefix);
        Self {
            storage,
            prefix: prefix.to_owned(),
            seen: AtomicU64::new(0),
            keeps_copies: false,
            event: PhantomData,
        }
    }

    /// Enables copies. Each event appended from now on is stored twice.
    #[must_use]
    pub fn with_copies(mut self) -> Self {
        self.keeps_copies = true;
        self
    }

    /// Appends an event under the lowest free number and returns the number.
    ///
    /// # Errors
    /// The store failed (see [`EventLog::append_at`]), or other writers took too many consecutive numbers.
    #[boxed]
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

    /// Appends an event under exactly this number. Returns `false` if another event has the number.
    ///
    /// Each event has a unique id. If the response to the put is lost, the stored event is read back. If it is absent,
    /// the same bytes are put again. The event is therefore appended once or not at all.
    ///
    /// # Errors
    /// After [`StorageError::AppendUnknown`], the event may have been appended, because the stored object cannot be
    /// read either. After any other error, the event was not appended.
    #[boxed]
    pub async fn append_at(&self, seq: u64, event: &T) -> Result<bool, StorageError> {
        let (path, bytes) = (path(seq), self.encoded(seq, event)?);
        let won = self.put_and_read_back(&path, bytes.clone()).await?;
        if won {
            self.keep_copy(seq, bytes).await;
        }
        self.seen.fetch_max(seq, Ordering::Relaxed);
        Ok(won)
    }

    fn encoded(&self, seq: u64, event: &T) -> Result<bytes::Bytes, StorageError> {
        let name = || format!("{}/{}", self.prefix, path(seq));
        let entry = NewEvent {
            entry: Uuid::new_v4().to_string(),
            event,
        };
        let bytes = serde_json::to_vec(&entry).map_err(|source| StorageError::EncodeEvent { path: name(), source })?;
        let bytes = checksum::added(bytes);
        if bytes.len() as u64 > EVENT_BYTES_MAX {
            let (bytes, bytes_max) = (bytes.len() as u64, EVENT_BYTES_MAX);
            return Err(StorageError::EventTooLarge {
                path: name(),
                bytes,
                bytes_max,
            });
        }
        Ok(bytes::Bytes::from(bytes))
    }

    /// Puts `bytes` at `path` unless another object exists there. Returns `true` if the object at `path` is `bytes`.
    async fn put_and_read_back(&self, path: &Path, bytes: bytes::Bytes) -> Result<bool, StorageError> {
        let unknown = |source: StorageError| StorageError::AppendUnknown {
            path: format!("{}/{path}", self.prefix),
            source: Box::new(source),
        };
        let mut failure = None;
        for _ in 0..PUTS_MAX {
            let failed = match put_new(&self.storage, path, bytes.clone()).await {
                Ok(true) => return Ok(true),
                // The response to our own put may have been lost and its retry refused, so that the existing object may
                // be ours.
                Ok(false) => None,
                Err(error) if has_no_effect(&error) => return Err(error),
                Err(error) => Some(error),
            };
            match (get_bytes(&self.storage, path).await, failed) {
                (Ok(Some(stored)), _) => return Ok(stored == bytes),
                (Ok(None), failed) => failure = failed,
                (Err(_), Some(error)) | (Err(error), None) => return Err(unknown(error)),
            }
        }
        match failure {
            None => Ok(false),
            // An object that is absent on a local disk now will not appear later.
            Some(error) if self.storage.local_dir().is_some() => Err(error),
            Some(error) => Err(unknown(error)),
        }
    }

    /// Returns the events with number `seq` and above, in order.
    ///
    /// # Errors
    /// The store failed, or an object is not a valid event.
    #[boxed]
    pub async fn read_from(&self, seq: u64) -> Result<Vec<(u64, T)>, StorageError> {
        let entries = self.read_each_from(seq).await?;
        entries.into_iter().map(|(seq, event)| Ok((seq, event?))).collect()
    }

    /// Returns the entries with number `seq` and above, in order. An entry is an event, or an error for an invalid
    /// event.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn read_each_from(&self, seq: u64) -> Result<Vec<(u64, Result<T, StorageError>)>, StorageError> {
        let numbers = self.numbers_from(seq).await?;
        let read = |seq| async move {
            match self.read(seq).await {
                Ok(event) => Ok(event.map(|event| (seq, Ok(event)))),
                Err(error) if error.is_damage() => Ok(Some((seq, Err(error)))),
                Err(error) => Err(error),
            }
        };
        futures::stream::iter(numbers.into_iter().map(read))
            .buffered(READS_AT_ONCE)
            .try_filter_map(|entry| std::future::ready(Ok(entry)))
            .try_collect()
            .await
    }

    /// Returns the event with this number, or its copy, if one exists.
    ///
    /// # Errors
    /// The store failed, or the object is not a valid event.
    #[boxed]
    pub async fn read(&self, seq: u64) -> Result<Option<T>, StorageError> {
        let read = self.read_at(&path(seq)).await;
        if !self.keeps_copies || !is_lost(&read) {
            return read;
        }
        match (self.read_at(&copy_path(seq)).await, read) {
            // A damaged copy shows that an event existed and is lost.
            (copy, Err(error)) if is_lost(&copy) => Err(error),
            (copy, _) => copy,
        }
    }

    async fn read_at(&self, path: &Path) -> Result<Option<T>, StorageError> {
        let name = format!("{}/{path}", self.prefix);
        let answer = match self.storage.store().get(path).await {
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
        let read = checksum::checked(&bytes).and_then(serde_json::from_slice::<StoredEvent<T>>);
        let read = read.map_err(|source| StorageError::DecodeEvent { path: name, source })?;
        Ok(Some(read.event))
    }

    /// Returns the event with the highest number, if the log has any.
    ///
    /// # Errors
    /// The store failed, or the object is not a valid event.
    #[boxed]
    pub async fn latest(&self) -> Result<Option<(u64, T)>, StorageError> {
        let Some(seq) = self.latest_seq().await? else {
            return Ok(None);
        };
        Ok(self.read(seq).await?.map(|event| (seq, event)))
    }

    /// Returns the highest number in use, if any. This is cheaper than [`EventLog::latest`].
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn latest_seq(&self) -> Result<Option<u64>, StorageError> {
        Ok(self
            .numbers_from(self.seen.load(Ordering::Relaxed))
            .await?
            .last()
            .copied())
    }

    /// Deletes the events with numbers below `seq`. Every event of the log must contain the complete state. The newest
    /// event always stays.
    ///
    /// # Errors
    /// The store failed. Some events may have been deleted.
    #[boxed]
    pub async fn forget_below(&self, seq: u64) -> Result<(), StorageError> {
        let objects = self.objects_from(0).await?;
        let newest = objects.last().map_or(0, |last| last.seq);
        let old = objects.into_iter().filter(move |object| object.seq < seq.min(newest));
        let paths = futures::stream::iter(old.map(|object| Ok(object.path))).boxed();
        let deleted = self.storage.store().delete_stream(paths);
        deleted
            .try_for_each(|_| async { Ok(()) })
            .await
            .map_err(|source| StorageError::Write {
                path: self.prefix.clone(),
                source,
            })
    }

    /// Moves the entry with this number to `damaged/` of the log if it is not a valid event and not the newest entry.
    /// Returns `false` if nothing was moved.
    ///
    /// # Errors
    /// The store failed.
    #[boxed]
    pub async fn remove_damaged(&self, seq: u64) -> Result<bool, StorageError> {
        let is_damaged = match self.read(seq).await {
            Ok(_) => false,
            Err(error) if error.is_damage() => true,
            Err(error) => return Err(error),
        };
        if !is_damaged || self.latest_seq().await?.is_none_or(|latest| seq >= latest) {
            return Ok(false);
        }
        for path in [path(seq), copy_path(seq)] {
            keep_aside(&self.storage, &path).await?;
            delete(&self.storage, &path).await?;
        }
        Ok(true)
    }

    async fn numbers_from(&self, seq: u64) -> Result<Vec<u64>, StorageError> {
        let objects = self.objects_from(seq).await?;
        let mut numbers: Vec<u64> = objects.into_iter().map(|object| object.seq).collect();
        numbers.dedup();
        Ok(numbers)
    }

    /// Returns the events with number `seq` and above and their copies, in order.
    async fn objects_from(&self, seq: u64) -> Result<Vec<LogObject>, StorageError> {
        let listed = match seq.checked_sub(1) {
            Some(before) => list_after(&self.storage, None, &path(before)).await?,
            None => list_all(&self.storage, None).await?,
        };
        let listed = listed.into_iter().map(|meta| meta.location);
        let mut objects: Vec<LogObject> = listed.filter_map(|path| self.listed(path)).collect();
        objects.retain(|object| object.seq >= seq);
        objects.sort_unstable_by_key(|object| object.seq);
        if let Some(last) = objects.last() {
            self.seen.fetch_max(last.seq, Ordering::Relaxed);
        }
        Ok(objects)
    }

    fn listed(&self, path: Path) -> Option<LogObject> {
        let (digits, kind) = path.as_ref().split_once('.')?;
        let is_number = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let seq = digits.parse().ok().filter(|_| is_number)?;
        (kind == "json" || (kind == COPY && self.keeps_copies)).then_some(LogObject { seq, path })
    }
}

/// Returns `true` if no readable event exists, so that a retry would not help.
fn is_lost<T>(read: &Result<Option<T>, StorageError>) -> bool {
    match read {
        Ok(event) => event.is_none(),
        Err(error) => error.is_damage(),
    }
}

/// Returns `true` if the store permanently refused a put. The put then had no effect.
fn has_no_effect(error: &StorageError) -> bool {
    use object_store::Error;
    matches!(
        error,
        StorageError::Write {
            source: Error::PermissionDenied { .. }
                | Error::Unauthenticated { .. }
                | Error::NotFound { .. }
                | Error::InvalidPath { .. }
                | Error::NotImplemented { .. }
                | Error::NotSupported { .. },
            ..
        }
    )
}

fn path(seq: u64) -> Path {
    Path::from(format!("{seq:020}.json"))
}

const COPY: &str = "copy";

fn copy_path(seq: u64) -> Path {
    Path::from(format!("{seq:020}.{COPY}"))
}
