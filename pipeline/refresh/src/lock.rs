//! Makes crawls into one storage known to each other.

use std::fs::{File, TryLockError};

use async_recursion::async_recursion as boxed;
use data_storage::Storage;

use crate::run::{OtherCrawls, RefreshDeps, RunOptions, refresh};
use crate::summary::RunReport;
use crate::{RefreshConfig, RefreshError};

/// [`refresh`] beside other processes: others on this machine see this crawl as long as it is at work, and it of
/// theirs, whatever [`RefreshDeps::others`] says. Refused while the lake cannot finish a tick: nothing could be
/// committed, and no store need be asked for that.
///
/// # Errors
/// See [`RefreshError`].
#[boxed]
pub async fn crawl(
    options: &RunOptions,
    config: &RefreshConfig,
    deps: &RefreshDeps,
) -> Result<RunReport, RefreshError> {
    if let Some(tick) = deps.stores.lake.unfinished_tick().await {
        return Err(RefreshError::UnfinishedTick(tick));
    }
    // A dry run goes on with nothing and writes nothing, so that nobody needs to know of it.
    if options.dry_run {
        return Box::pin(refresh(options, config, deps)).await;
    }
    // Held until the run is over.
    let (others, _lock) = lock(&deps.stores.storage);
    let deps = RefreshDeps { others, ..deps.clone() };
    // Boxed: a run is a large future.
    Box::pin(refresh(options, config, &deps)).await
}

/// The mark that somebody is at work on the lake, seen by crawls on this machine for as long as it is held.
#[derive(Debug)]
pub struct CrawlLock {
    _file: Option<File>,
}

/// The lock of crawls, for what is not to be done beside one; `None` while a crawl is at work. A home that is no folder
/// of this machine has no such lock, and is given as if it had.
#[must_use]
pub fn lock_crawls(storage: &Storage) -> Option<CrawlLock> {
    let file = opened(storage);
    match file.as_ref().map(File::try_lock) {
        Some(Err(TryLockError::WouldBlock)) => None,
        _ => Some(CrawlLock { _file: file }),
    }
}

/// The file of the lock; `None` where there is no place for one.
fn opened(storage: &Storage) -> Option<File> {
    let folder = storage.local_dir()?.join("runs");
    std::fs::create_dir_all(&folder).ok()?;
    File::create(folder.join("lock")).ok()
}

/// The mark of a crawl for other processes on this machine, until it is dropped.
#[derive(Debug)]
pub struct CrawlMark {
    _lock: Option<File>,
}

/// Says that this process crawls into a local storage, as [`crawl`] does for as long as it is at work: for workers, whose
/// stores come from a queue. Crawls beside them begin runs of their own.
#[must_use]
pub fn mark_crawl(storage: &Storage) -> CrawlMark {
    CrawlMark { _lock: lock(storage).1 }
}

/// The presence of others that crawl into a local storage; and the lock that shows others this crawl as long as it is
/// held. The system gives it back however the process ends.
fn lock(storage: &Storage) -> (OtherCrawls, Option<File>) {
    let Some(lock) = opened(storage) else {
        return (OtherCrawls::Unknown, None);
    };
    match lock.try_lock() {
        Ok(()) => (OtherCrawls::Absent, Some(lock)),
        Err(TryLockError::WouldBlock) => {
            // Shared with whoever waits too, once the one that was first is through: the next crawl is to know of these.
            if let Ok(waiting) = lock.try_clone() {
                std::thread::spawn(move || waiting.lock_shared());
            }
            (OtherCrawls::AtWork, Some(lock))
        }
        Err(TryLockError::Error(_)) => (OtherCrawls::Unknown, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawl_on_a_local_home_knows_of_one_that_is_at_work_also_of_one_that_came_second() {
        assert_eq!(lock(&Storage::memory()).0, OtherCrawls::Unknown);
        let home = tempfile::tempdir().unwrap();
        let storage = Storage::from_path(home.path()).unwrap();
        let (first, held) = lock(&storage);
        let (second, waiting) = lock(&storage);
        assert_eq!((first, second), (OtherCrawls::Absent, OtherCrawls::AtWork));
        drop(held);
        // The second has the lock as soon as its thread was given it.
        let until = |wanted| {
            (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                lock(&storage).0 == wanted
            })
        };
        assert!(until(OtherCrawls::AtWork));
        drop(waiting);
        assert!(until(OtherCrawls::Absent));
    }
}
