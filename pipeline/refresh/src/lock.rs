//! Lets crawls into the same storage detect each other.

use std::fs::{File, TryLockError};

use async_recursion::async_recursion as boxed;
use data_storage::Storage;

use crate::run::{OtherCrawls, RefreshDeps, RunOptions, refresh};
use crate::summary::RunReport;
use crate::{RefreshConfig, RefreshError};

/// Runs [`refresh`] next to other processes on this machine. The crawls detect each other, and [`RefreshDeps::others`]
/// is ignored. Fails before any request if the lake has a commit that cannot be finished, because nothing could be
/// committed.
#[boxed]
pub async fn crawl(
    options: &RunOptions,
    config: &RefreshConfig,
    deps: &RefreshDeps,
) -> Result<RunReport, RefreshError> {
    if let Some(tick) = deps.stores.lake.unfinished_tick().await {
        return Err(RefreshError::UnfinishedTick(tick));
    }
    // A dry run resumes nothing and writes nothing, so that other processes need not detect it.
    if options.dry_run {
        return Box::pin(refresh(options, config, deps)).await;
    }
    // The lock is held until the end of the run.
    let (others, _lock) = lock(&deps.stores.storage);
    let deps = RefreshDeps { others, ..deps.clone() };
    // The future of a run is large, so that it is boxed.
    Box::pin(refresh(options, config, &deps)).await
}

/// Lock of a process that works on the lake. Other crawls on this machine see it.
#[derive(Debug)]
pub struct CrawlLock {
    _file: Option<File>,
}

/// Acquires the crawl lock, for work that must not run next to a crawl. `None` while a crawl is running. A home that is
/// not a local folder has no lock file, so that this always succeeds.
#[must_use]
pub fn lock_crawls(storage: &Storage) -> Option<CrawlLock> {
    let file = opened(storage);
    match file.as_ref().map(File::try_lock) {
        Some(Err(TryLockError::WouldBlock)) => None,
        _ => Some(CrawlLock { _file: file }),
    }
}

/// Returns `None` if there is no local folder for the lock file.
fn opened(storage: &Storage) -> Option<File> {
    let folder = storage.local_dir()?.join("runs");
    std::fs::create_dir_all(&folder).ok()?;
    File::create(folder.join("lock")).ok()
}

/// Shows a crawl to other processes on this machine, until it is dropped.
#[derive(Debug)]
pub struct CrawlMark {
    _lock: Option<File>,
}

/// Shows this process as crawling into a local storage, as [`crawl`] does while it runs. Workers use it, because their
/// stores come from a queue. Other crawls on this machine then start their own runs.
#[must_use]
pub fn mark_crawl(storage: &Storage) -> CrawlMark {
    CrawlMark { _lock: lock(storage).1 }
}

/// Acquires the lock file and reports if another process has it. Other crawls see this crawl until the lock is
/// released. The operating system releases it even if the process is killed.
fn lock(storage: &Storage) -> (OtherCrawls, Option<File>) {
    let Some(lock) = opened(storage) else {
        return (OtherCrawls::Unknown, None);
    };
    match lock.try_lock() {
        Ok(()) => (OtherCrawls::Absent, Some(lock)),
        Err(TryLockError::WouldBlock) => {
            // After the first process releases the lock, the waiting ones share it, so that the next crawl detects
            // them.
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
        // The second process gets the lock as soon as its thread acquires it.
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
