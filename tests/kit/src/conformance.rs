//! A suite of checks for storages.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_storage::{EventLog, Storage, StorageError, get_bytes, put_new, put_over};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Serialize};

/// Error of a storage that does not behave as its callers require.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// The storage returned an unexpected result.
    #[error("the storage violates a requirement: {fact} ({found})")]
    Fact {
        /// Property that the storage should have.
        fact: &'static str,
        /// Actual result.
        found: String,
    },
    /// An operation of the storage failed.
    #[error("a call that must succeed failed")]
    Storage(#[from] StorageError),
    /// A call to the underlying object store failed.
    #[error("a call that must succeed failed")]
    Store(#[from] object_store::Error),
    /// A task of the suite did not finish normally.
    #[error("a writer task of the suite failed")]
    Writer(#[from] tokio::task::JoinError),
}

fn holds(fact: &'static str, holds: bool, found: impl std::fmt::Debug) -> Result<(), ConformanceError> {
    if holds {
        Ok(())
    } else {
        Err(ConformanceError::Fact {
            fact,
            found: format!("{found:?}"),
        })
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(fact: &'static str, found: &T, expected: &T) -> Result<(), ConformanceError> {
    holds(fact, found == expected, (found, expected))
}

/// Tests a storage for all guarantees that its callers rely on. Writes below `conformance/`. The same suite runs for
/// every kind of storage.
///
/// # Errors
/// The first check that fails.
#[boxed]
pub async fn conformance(storage: Storage) -> Result<(), ConformanceError> {
    let storage = storage.child("conformance");
    puts(&storage).await?;
    uploads(&storage).await?;
    lists(&storage.child("lists")).await?;
    copies(&storage.child("copies")).await?;
    numbers(&storage).await?;
    publish_race(&storage, 8, 4).await
}

async fn puts(storage: &Storage) -> Result<(), ConformanceError> {
    let path = Path::from("puts/deep/er/a b%.json");
    equal(
        "an object that was never written is absent",
        &get_bytes(storage, &path).await?,
        &None,
    )?;
    equal(
        "the first writer is told that it wrote the object",
        &put_new(storage, &path, "one").await?,
        &true,
    )?;
    equal(
        "the second writer is told that the object exists",
        &put_new(storage, &path, "two").await?,
        &false,
    )?;
    equal(
        "the first stands",
        &get_bytes(storage, &path).await?,
        &Some("one".into()),
    )?;
    put_over(storage, &path, "three").await?;
    equal(
        "a put replaces",
        &get_bytes(storage, &path).await?,
        &Some("three".into()),
    )?;
    equal(
        "a range is a range",
        &storage.store().get_range(&path, 1..3).await?,
        &"hr".into(),
    )?;
    equal(
        "the size of an object is known",
        &storage.store().head(&path).await?.size,
        &5,
    )?;
    put_over(storage, &path, "").await?;
    equal(
        "an empty object exists",
        &get_bytes(storage, &path).await?,
        &Some("".into()),
    )?;
    storage.store().delete(&path).await?;
    equal("a deleted object is absent", &get_bytes(storage, &path).await?, &None)?;
    storage.store().delete(&path).await?;
    equal(
        "a path can be written again after a delete",
        &put_new(storage, &path, "four").await?,
        &true,
    )
}

async fn uploads(storage: &Storage) -> Result<(), ConformanceError> {
    // Object stores require parts of at least 5 MiB, except for the last part.
    let (path, first, second) = (Path::from("uploads/big"), vec![1; 5 << 20], vec![2; 1000]);
    let mut upload = storage.store().put_multipart(&path).await?;
    upload.put_part(first.clone().into()).await?;
    equal(
        "an upload is invisible before it is complete",
        &get_bytes(storage, &path).await?,
        &None,
    )?;
    upload.put_part(second.clone().into()).await?;
    upload.complete().await?;
    let stored = get_bytes(storage, &path).await?.unwrap_or_default();
    holds(
        "an upload consists of its parts",
        stored[..] == [first, second].concat(),
        stored.len(),
    )?;
    let mut upload = storage.store().put_multipart(&Path::from("uploads/aborted")).await?;
    upload.put_part("x".into()).await?;
    upload.abort().await?;
    let aborted = get_bytes(storage, &Path::from("uploads/aborted")).await?;
    equal("an aborted upload leaves nothing", &aborted, &None)
}

async fn lists(storage: &Storage) -> Result<(), ConformanceError> {
    for name in ["a/1", "a/2", "a/b/3", "ab/4", "5"] {
        put_over(storage, &Path::from(name), name.to_owned()).await?;
    }
    let listed = |metas: Vec<object_store::ObjectMeta>| {
        let names: Vec<_> = metas.into_iter().map(|meta| meta.location.to_string()).collect();
        names
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let store = storage.store();
    let all = listed(store.list(None).try_collect().await?);
    equal(
        "a list contains exactly the objects that exist",
        &all,
        &names(&["5", "a/1", "a/2", "a/b/3", "ab/4"]),
    )?;
    let under = listed(store.list(Some(&Path::from("a"))).try_collect().await?);
    equal(
        "a prefix matches whole path segments",
        &under,
        &names(&["a/1", "a/2", "a/b/3"]),
    )?;
    let offset = store.list_with_offset(Some(&Path::from("a")), &Path::from("a/1"));
    equal(
        "a list excludes the offset itself",
        &listed(offset.try_collect().await?),
        &names(&["a/2", "a/b/3"]),
    )?;
    let level = store.list_with_delimiter(None).await?;
    equal(
        "a list of one level contains its objects",
        &listed(level.objects),
        &names(&["5"]),
    )?;
    let mut prefixes: Vec<_> = level.common_prefixes.iter().map(Path::to_string).collect();
    prefixes.sort();
    equal(
        "a list of one level contains its prefixes",
        &prefixes,
        &names(&["a", "ab"]),
    )?;
    equal(
        "a child is relative",
        &get_bytes(&storage.child("a/b"), &Path::from("3")).await?,
        &Some("a/b/3".into()),
    )?;
    let gone = futures::stream::iter(["a/1", "a/2"].map(|name| Ok(Path::from(name))));
    let _: Vec<Path> = store.delete_stream(Box::pin(gone)).try_collect().await?;
    let left = listed(store.list(Some(&Path::from("a"))).try_collect().await?);
    equal("a deleted object is not listed", &left, &names(&["a/b/3"]))
}

async fn copies(storage: &Storage) -> Result<(), ConformanceError> {
    let [from, to, moved] = ["from", "deep/to", "deeper/moved"].map(Path::from);
    put_over(storage, &from, "old").await?;
    storage.store().copy(&from, &to).await?;
    put_over(storage, &from, "new").await?;
    equal(
        "a copy is independent of its original",
        &get_bytes(storage, &to).await?,
        &Some("old".into()),
    )?;
    storage.store().copy(&from, &to).await?;
    equal("a copy replaces", &get_bytes(storage, &to).await?, &Some("new".into()))?;
    storage.store().copy(&from, &to).await?;
    storage.store().rename(&to, &moved).await?;
    equal(
        "a rename moves",
        &get_bytes(storage, &moved).await?,
        &Some("new".into()),
    )?;
    equal("a rename leaves nothing", &get_bytes(storage, &to).await?, &None)?;
    let missing = storage.store().copy(&Path::from("missing"), &to).await;
    holds("a missing object cannot be copied", missing.is_err(), missing)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Event {
    writer: usize,
    round: usize,
}

async fn numbers(storage: &Storage) -> Result<(), ConformanceError> {
    let log: EventLog<Event> = EventLog::new(storage, "log");
    equal("a new log is empty", &log.latest().await?, &None)?;
    let event = |round| Event { writer: 0, round };
    for round in 1..=3 {
        equal(
            "event numbers count from one",
            &log.append(&event(round as usize)).await?,
            &round,
        )?;
    }
    equal(
        "an append at a used number is refused",
        &log.append_at(2, &event(9)).await?,
        &false,
    )?;
    equal(
        "an append at a free number succeeds",
        &log.append_at(4, &event(4)).await?,
        &true,
    )?;
    equal(
        "the latest event is the one with the highest number",
        &log.latest().await?,
        &Some((4, event(4))),
    )?;
    equal(
        "a log is read in order",
        &log.read_from(3).await?,
        &vec![(3, event(3)), (4, event(4))],
    )?;
    let other: EventLog<Event> = EventLog::new(storage, "log");
    equal(
        "another reader sees the same events",
        &other.read_from(0).await?.len(),
        &4,
    )
}

/// Lets `writers` publish concurrently under the same number, for `rounds` rounds. In every round, exactly one writer
/// must win, and the stored event must be the winner's.
///
/// # Errors
/// The first check that fails.
#[boxed]
pub async fn publish_race(storage: &Storage, writers: usize, rounds: usize) -> Result<(), ConformanceError> {
    let log: Arc<EventLog<Event>> = Arc::new(EventLog::new(storage, "race"));
    for round in 1..=rounds {
        let start = Arc::new(tokio::sync::Barrier::new(writers));
        let mut tasks = tokio::task::JoinSet::new();
        for writer in 0..writers {
            let (log, start) = (Arc::clone(&log), Arc::clone(&start));
            tasks.spawn(async move {
                start.wait().await;
                Ok::<_, StorageError>((log.append_at(round as u64, &Event { writer, round }).await?, writer))
            });
        }
        let mut winners = Vec::new();
        while let Some(ended) = tasks.join_next().await {
            let (won, writer) = ended??;
            winners.extend(won.then_some(writer));
        }
        equal("only one writer wins a number", &winners.len(), &1)?;
        let stands = log.read(round as u64).await?.map(|event| event.writer);
        equal("the log has the winner's event", &stands, &winners.first().copied())?;
    }
    // Concurrent appends to the log must each get a different number.
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..writers {
        let log = Arc::clone(&log);
        tasks.spawn(async move { log.append(&Event { writer, round: 0 }).await });
    }
    let mut numbers = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        numbers.push(ended??);
    }
    numbers.sort_unstable();
    let expected: Vec<u64> = (1..=writers as u64).map(|writer| rounds as u64 + writer).collect();
    equal("appends leave no gaps and no duplicates", &numbers, &expected)
}
