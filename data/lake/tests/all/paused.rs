//! Pauses a committer in the middle of a commit and resumes it after another committer has taken over. The changes of
//! the other committer must be neither lost nor duplicated.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::*;
use async_trait::async_trait;
use data_lake::LakeError;
use data_model::BrandRefresh;
use data_storage::{ObjectPath, ObjectStore, Storage};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStoreExt, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};
use tokio::sync::Notify;

type Content = BTreeMap<String, Vec<String>>;

/// Position of the pause relative to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The pause is before the request is sent.
    Before,
    /// The pause is after the store has executed the write and before the response arrives.
    After,
}

/// Object store that forwards all calls, and delays one write until it is released.
#[derive(Debug, Clone)]
struct PausingStore {
    inner: Arc<dyn ObjectStore>,
    writes: Arc<AtomicU64>,
    at: (u64, Side),
    reached: Arc<Notify>,
    released: Arc<Notify>,
}

impl PausingStore {
    fn new(storage: &Storage, at: (u64, Side)) -> Self {
        Self {
            inner: Arc::clone(storage.store()),
            writes: Arc::default(),
            at,
            reached: Arc::default(),
            released: Arc::default(),
        }
    }

    fn storage(&self) -> Storage {
        Storage::with_store(Arc::new(self.clone()), "memory:///".parse().unwrap())
    }

    async fn write<T>(&self, effect: impl Future<Output = T>) -> T {
        let is_it = self.writes.fetch_add(1, Ordering::SeqCst) + 1 == self.at.0;
        let pause = async {
            self.reached.notify_one();
            self.released.notified().await;
        };
        if is_it && self.at.1 == Side::Before {
            pause.await;
            return effect.await;
        }
        let done = effect.await;
        if is_it {
            pause.await;
        }
        done
    }
}

impl fmt::Display for PausingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for PausingStore {
    async fn put_opts(&self, location: &ObjectPath, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.write(self.inner.put_opts(location, payload, opts)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<ObjectPath>>,
    ) -> BoxStream<'static, Result<ObjectPath>> {
        let store = self.clone();
        let delete = move |location: Result<ObjectPath>| {
            let store = store.clone();
            async move {
                let location = location?;
                store.write(store.inner.delete(&location)).await.map(|()| location)
            }
        };
        locations.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&ObjectPath>,
        offset: &ObjectPath,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &ObjectPath, to: &ObjectPath, options: CopyOptions) -> Result<()> {
        self.write(self.inner.copy_opts(from, to, options)).await
    }
}

/// The refreshes are of the paused committer. The other committer has newer content of the brand `alpha`.
fn older() -> Vec<BrandRefresh> {
    let alpha = (1..=7).map(|id| product("alpha", id, 9_900)).collect();
    vec![refresh("alpha", 2, alpha), second().remove(2)]
}

/// The refreshes are of the committer that takes over.
fn newer() -> Vec<BrandRefresh> {
    let alpha = (2..=6).map(|id| product("alpha", id, 3_300)).collect();
    let beta = (1..=4).map(|id| product("beta", id, 450)).collect();
    vec![refresh("alpha", 3, alpha), refresh("beta", 3, beta)]
}

async fn content_after(commits: Vec<(u64, Vec<BrandRefresh>)>) -> Content {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.commit(first(), run(1)).await.unwrap();
    for (fence, refreshes) in commits {
        let number = u32::try_from(fence).unwrap();
        lake.under(fence).commit(refreshes, run(number)).await.unwrap();
    }
    content(&lake).await
}

/// Pauses a commit at this write and resumes it after another committer. Returns `true` if both commits landed, `false`
/// if the paused one was refused, and `None` if the commit has fewer writes.
async fn paused_at(at: (u64, Side), both: &Content, alone: &Content) -> Option<bool> {
    let (storage, clock) = (Storage::memory(), midnight());
    open(&storage, &clock).await.commit(first(), run(1)).await.unwrap();
    let counted = PausingStore::new(&storage, (0, at.1));
    let opened = open(&counted.storage(), &clock).await;
    drop(opened);
    // The writes of opening the lake are skipped.
    let opening = counted.writes.load(Ordering::SeqCst);
    let pausing = PausingStore::new(&storage, (opening + at.0, at.1));
    let paused = open(&pausing.storage(), &clock).await.under(2);
    let mut committing = tokio::spawn(async move { paused.commit(older(), run(2)).await });
    tokio::select! {
        () = pausing.reached.notified() => {}
        ended = &mut committing => {
            ended.unwrap().unwrap();
            return None;
        }
    }
    let next = open(&storage, &clock).await.under(3);
    next.commit(newer(), run(3)).await.unwrap();
    let before = content(&next).await;
    pausing.released.notify_one();
    let woken = committing.await.unwrap();
    let after = content(&open(&storage, &clock).await).await;
    assert_eq!(after, before, "it changed something when it woke, {at:?}");
    match woken {
        Ok(_) => assert_eq!(after, *both, "{at:?}"),
        Err(LakeError::Fenced { fence: 2, newest: 3 }) => assert_eq!(after, *alone, "{at:?}"),
        Err(error) => panic!("{at:?}: {error:?}"),
    }
    Some(after == *both)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_committer_that_is_paused_at_any_write_and_wakes_after_another_took_over_undoes_and_doubles_nothing() {
    let both = content_after(vec![(2, older()), (3, newer())]).await;
    let alone = content_after(vec![(3, newer())]).await;
    assert_ne!(both, alone);
    let (mut finished, mut fenced) = (0, 0);
    // Between the end of a write and the next write there are only reads, so that this case is sampled less often.
    for (side, step) in [(Side::Before, 1), (Side::After, 4)] {
        for nth in (1..).step_by(step) {
            match paused_at((nth, side), &both, &alone).await {
                Some(true) => finished += 1,
                Some(false) => fenced += 1,
                None => break,
            }
        }
    }
    // Before the record is written, the commit is refused. After that, the other committer finishes it.
    assert!(fenced > 5 && finished > 10, "{fenced} fenced, {finished} finished");
}

#[tokio::test]
async fn a_right_that_is_older_than_one_that_the_lake_knows_is_refused_and_commits_without_a_right_go_on() {
    let (storage, clock) = (Storage::memory(), midnight());
    let lake = open(&storage, &clock).await;
    lake.under(7).commit(first(), run(1)).await.unwrap();
    lake.commit(second(), run(2)).await.unwrap();
    lake.compact(false).await.unwrap();
    // A second handle simulates another process.
    let next = open(&storage, &clock).await;
    let before = objects(&storage).await;
    let refused = next.under(6).commit(newer(), run(3)).await.unwrap_err();
    assert!(
        matches!(refused, LakeError::Fenced { fence: 6, newest: 7 }),
        "{refused:?}"
    );
    assert_eq!(objects(&storage).await, before);
    next.under(7).commit(newer(), run(3)).await.unwrap();
    next.under(8).commit(older(), run(4)).await.unwrap();
    assert!(next.under(7).commit(first(), run(5)).await.is_err());
}
